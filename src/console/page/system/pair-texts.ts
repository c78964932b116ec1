import { inLanguage } from '../i18n/language.ts'

const english = {
  title: 'Enrol a wall screen',
  forbidden: 'Wall screens are enrolled by supervisors and admins. Ask one of them to scan the code.',
  asking: 'Asking the gateway about the code …',
  gone: 'No screen shows this code any more. Codes end after ten minutes: scan the one that the screen shows now.',
  shows: (code: string) => `A screen shows the code ${code}.`,
  from: (address: string) => `It asked from ${address}.`,
  compare:
    'Stand before it and compare: confirm only a screen that shows this code. Everybody who walks by sees this hall on it. It can change nothing.',
  name: 'Name of the screen',
  nameHelp: 'Letters, digits, dot, underscore and hyphen. The list of devices and the audit trail show it.',
  warehouses: 'Warehouses to show',
  warehousesHelp: 'Without a choice: every warehouse that a viewer sees.',
  confirm: 'Enrol this screen',
  done: (name: string) => `${name} is enrolled. The screen goes on by itself.`,
  revoke: 'An admin can revoke it under Devices.',
  cameras: (name: string) => `It shows the pictures of the cameras that name it in the config: “viewers: [${name}]”.`,
  used: 'This code is used: the screen is enrolled.',
  failed: (why: string) => `Not done: ${why}`,
  home: 'To the floor',
}

const german: typeof english = {
  title: 'Wandbildschirm registrieren',
  forbidden: 'Wandbildschirme registrieren Schichtleitung und Admins. Bitten Sie jemanden davon, den Code zu scannen.',
  asking: 'Das Gateway wird nach dem Code gefragt …',
  gone: 'Kein Bildschirm zeigt diesen Code noch. Codes enden nach zehn Minuten: Scannen Sie den, den der Bildschirm jetzt zeigt.',
  shows: (code) => `Ein Bildschirm zeigt den Code ${code}.`,
  from: (address) => `Er hat von ${address} aus gefragt.`,
  compare:
    'Stellen Sie sich davor und vergleichen Sie: Bestätigen Sie nur einen Bildschirm, der diesen Code zeigt. Alle, die vorbeigehen, sehen darauf diese Halle. Ändern kann er nichts.',
  name: 'Name des Bildschirms',
  nameHelp: 'Buchstaben, Ziffern, Punkt, Unterstrich und Bindestrich. So heißt er in der Geräteliste und im Protokoll.',
  warehouses: 'Lager, die er zeigt',
  warehousesHelp: 'Ohne Auswahl: jedes Lager, das jemand mit der Rolle „viewer“ sieht.',
  confirm: 'Diesen Bildschirm registrieren',
  done: (name) => `${name} ist registriert. Der Bildschirm macht von selbst weiter.`,
  revoke: 'Ein Admin kann ihn unter „Geräte“ sperren.',
  cameras: (name) => `Er zeigt die Bilder der Kameras, die ihn in den Einstellungen nennen: „viewers: [${name}]“.`,
  used: 'Dieser Code ist verbraucht: Der Bildschirm ist registriert.',
  failed: (why) => `Nicht ausgeführt: ${why}`,
  home: 'Zur Halle',
}

/** The texts of the page that confirms a wall screen. */
export const pairTexts = inLanguage({ en: english, de: german })
