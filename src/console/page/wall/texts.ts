import { inLanguage } from '../i18n/language.ts'

const english = {
  title: 'Wall screen',
  notEnrolled: 'This screen is not enrolled yet',
  pairing: 'Code to scan',
  qr: 'QR code that enrols this screen',
  pairSteps:
    'Scan this code with the phone of a supervisor or an admin, and confirm there. The phone shows the same letters:',
  steps:
    'Or the other way round: an admin opens Devices in the console, adds a wall screen and gets a code. Scan it here, or type it.',
  code: 'Enrolment code',
  enrol: 'Enrol this screen',
  wrong: 'The code is wrong, used or too old. Ask for a new one.',
  elsewhere: (url: string) => `This code is for another gateway: ${url}`,
  handheld: 'This code was for a handheld, and is used now. Ask for the code of a wall screen.',
  noStore:
    'This browser keeps nothing, so the screen would forget its enrolment. Allow it to store data for this site.',
  revoked: 'This screen was revoked, or another one was enrolled with its new code. Enrol it again.',
  unreachable: 'No connection to the gateway. Trying again …',
  occupied: 'Slots in use',
  of: (n: string, all: string) => `${n} of ${all}`,
  toVerify: 'To verify',
  contradictions: 'Contradictions',
  watching: 'Cameras with pictures',
  zones: 'Zones',
  cameras: 'Cameras',
  allWell: 'All is well',
  stale: (when: string) => `Not up to date since ${when}`,
  staleMeans: 'The gateway or the network does not answer. The screen goes on by itself.',
  away: (name: string) => `${name} does not watch`,
  awayMeans: 'There is no film until it watches again. Check its power and its cable.',
  scenes: {
    ...{ covered: 'covered or dark', turned: 'turned to another view', still: 'the same picture all the time' },
    ...{ few_pictures: 'too few pictures', too_busy: 'the gateway is too busy to look at it' },
  },
  sceneMeans: 'Its film may be incomplete. Check the camera.',
  health: {
    database: 'The ledger is in trouble',
    disk: 'The disk is in trouble',
    clock: 'The clock cannot be trusted',
    storage: 'The storage server is in trouble',
    webhooks: 'A receiver of notifications does not answer',
    cameras: 'A camera is in trouble',
    evidence: 'The witnesses of the log are in trouble',
    backup: 'The backup is in trouble',
    hub: 'The head office does not get the log',
    config: 'The new config was refused',
    box: 'The box is too hot or lacks power',
  },
  other: (part: string) => `A part of the gateway is in trouble: ${part}`,
  callAdmin: 'Tell the admin.',
  more: (n: string) => `and ${n} more`,
}

const german: typeof english = {
  title: 'Wandbildschirm',
  notEnrolled: 'Dieser Bildschirm ist noch nicht registriert',
  pairing: 'Code zum Scannen',
  qr: 'QR-Code, der diesen Bildschirm registriert',
  pairSteps:
    'Diesen Code mit dem Telefon einer Schichtleitung oder eines Admins scannen und dort bestätigen. Das Telefon zeigt dieselben Buchstaben:',
  steps:
    'Oder umgekehrt: Ein Admin öffnet in der Konsole „Geräte“, legt einen Wandbildschirm an und bekommt einen Code. Hier scannen oder eintippen.',
  code: 'Registrierungscode',
  enrol: 'Diesen Bildschirm registrieren',
  wrong: 'Der Code ist falsch, verbraucht oder zu alt. Lassen Sie sich einen neuen geben.',
  elsewhere: (url) => `Dieser Code gehört zu einem anderen Gateway: ${url}`,
  handheld:
    'Dieser Code war für ein Handgerät und ist jetzt verbraucht. Lassen Sie sich den Code eines Wandbildschirms geben.',
  noStore:
    'Dieser Browser merkt sich nichts; der Bildschirm würde seine Registrierung vergessen. Erlauben Sie ihm, für diese Seite Daten zu speichern.',
  revoked:
    'Dieser Bildschirm wurde gesperrt, oder mit seinem neuen Code wurde ein anderer registriert. Neu registrieren.',
  unreachable: 'Keine Verbindung zum Gateway. Neuer Versuch …',
  occupied: 'Belegte Stellplätze',
  of: (n, all) => `${n} von ${all}`,
  toVerify: 'Zu prüfen',
  contradictions: 'Widersprüche',
  watching: 'Kameras mit Bild',
  zones: 'Bereiche',
  cameras: 'Kameras',
  allWell: 'Alles in Ordnung',
  stale: (when) => `Nicht mehr aktuell seit ${when}`,
  staleMeans: 'Das Gateway oder das Netz antwortet nicht. Der Bildschirm macht von selbst weiter.',
  away: (name) => `${name} sieht nicht zu`,
  awayMeans: 'Bis sie wieder zusieht, gibt es keinen Film. Strom und Kabel prüfen.',
  scenes: {
    ...{ covered: 'verdeckt oder dunkel', turned: 'auf etwas anderes gedreht', still: 'immer dasselbe Bild' },
    ...{ few_pictures: 'zu wenige Bilder', too_busy: 'das Gateway ist zu beschäftigt, hinzusehen' },
  },
  sceneMeans: 'Ihr Film ist vielleicht unvollständig. Nach der Kamera sehen.',
  health: {
    database: 'Störung im Lagerbuch',
    disk: 'Störung der Platte',
    clock: 'Der Uhr ist nicht zu trauen',
    storage: 'Störung des Speicherservers',
    webhooks: 'Ein Empfänger von Benachrichtigungen antwortet nicht',
    cameras: 'Störung einer Kamera',
    evidence: 'Störung bei den Zeugen des Logs',
    backup: 'Störung der Sicherung',
    hub: 'Die Zentrale bekommt das Log nicht',
    config: 'Die neuen Einstellungen wurden abgewiesen',
    box: 'Die Box ist zu heiß oder hat zu wenig Strom',
  },
  other: (part) => `Störung in einem Teil des Gateways: ${part}`,
  callAdmin: 'Dem Admin Bescheid geben.',
  more: (n) => `und ${n} weitere`,
}

/** The texts of the wall screen. */
export const wallTexts = inLanguage({ en: english, de: german })
