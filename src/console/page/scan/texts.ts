import { countOf } from '../i18n/counting.ts'
import { inLanguage } from '../i18n/language.ts'

const english = {
  title: 'Scan',
  loading: 'Opening the store of this device …',
  noStore: (why: string) =>
    `This browser keeps nothing on this device (${why}). Without that a scan could be lost, so none is taken here. Open the page in a normal window, not a private one, and allow it to store data.`,
  needsTls: 'This page needs HTTPS that this device trusts, to work without a network. See /trust.',
  refusedNow: 'The gateway refused a scan. Press “refused” above: it says why, and what to do.',
  waiting: (n: number) => `${n} waiting`,
  refused: (n: number) => `${n} refused`,
  acknowledged: (n: number) => `${n} received by the gateway`,
  aside: (n: number) =>
    n === 1 ? 'One scan is set aside: open the list.' : `${n} scans are set aside: open the list.`,
  rests: (why: string) => `Nothing is sent now: ${why}. Your scans stay on this device and are sent by themselves.`,
  signInNeeded: (who: string, n: number) =>
    `${countOf(n, 'scan', 'scans')} of ${who} cannot be sent: ${who} has to sign in here again.`,
  enrol: {
    title: 'Enrol this device',
    help: 'Ask an admin for an enrolment code. Scan it, or type it.',
    label: 'Enrolment code',
    go: 'Enrol',
    wrong: 'The code is wrong, used or too old. Ask for a new one.',
    done: 'This device is enrolled. Now sign in.',
    again: 'Enrol this device again',
    elsewhere: (url: string) => `This code is for another gateway: ${url}`,
  },
  signIn: {
    title: 'Who scans?',
    badge: 'Badge',
    pin: 'PIN',
    go: 'Sign in',
    wrong: 'Badge or PIN is wrong, or this device was revoked. A revoked device is enrolled again below.',
    needsNetwork: 'Signing in needs the network. Scans on this device stay safe.',
    training: 'Practice without recording',
  },
  signOut: 'Sign out',
  signInEnded: 'Your sign-in has ended. Sign in again: your work is still here.',
  acts: { PLACED: 'Place', REMOVED: 'Remove', move: 'Move', count: 'Count', VERIFIED: 'Verify', DISPUTED: 'Dispute' },
  pallet: 'Pallet',
  slot: 'Slot',
  toSlot: 'New slot',
  countId: 'Count',
  noCount: 'No count is open. Ask your supervisor to open one.',
  scanNow: (what: string) => `Scan the ${what.toLowerCase()}`,
  found: 'Found in the slot',
  emptySlot: 'The slot is empty',
  nothingYet: 'Nothing scanned yet',
  takePhoto: 'Take a photo',
  mayTakePhoto: 'Take a photo (may be left out)',
  photoTaken: 'Photo taken',
  photoNeeded: 'Take a photo first.',
  note: 'What is wrong?',
  noteNeeded: 'Say what is wrong first.',
  missing: (what: string) => `Scan the ${what.toLowerCase()} first.`,
  clear: 'Clear',
  clearOf: (code: string) => `Clear ${code}`,
  full: (code: string) =>
    `${code} was NOT taken: pallet and slot are there already. Press Save first, or clear what is wrong.`,
  otherSlot: (code: string, slot: string) =>
    `${code} was NOT taken: it is another slot. Save what you counted in ${slot} first, or clear it.`,
  notSavedBefore: (codes: string) =>
    `${codes} was NOT taken: what was scanned before it is NOT SAVED. Press Save again, then scan ${codes} again.`,
  chooseFirst: (code: string) => `${code} was NOT taken: choose first what to do with the code below, or clear it.`,
  chooseAct: 'What do you want to do with it?',
  unknownSlot: (code: string) =>
    `This device does not know a slot ${code}. Read the label again. If it is wrong, clear it and scan the right one.`,
  unknownHere: 'Unknown on this device',
  mayOnlyLook: 'You may not record anything on this device. Ask a supervisor.',
  save: 'Save',
  back: 'Back',
  type: 'Scan or type a code',
  code: 'Code',
  use: 'Use the code',
  notStored: (why: string) =>
    `NOT SAVED. This device could not store the scan (${why}). It is still on the screen: make room on the device or let waiting scans be sent, then press Save again.`,
  taken: (title: string) => `Kept on this device: ${title}`,
  queue: {
    aside: (why: string) =>
      `Set aside, because the gateway fails at it: ${why}. This device tries it again every five minutes. Scans of the same pallet or slot wait behind it; all others are sent. Tell your supervisor.`,
    title: 'Scans on this device',
    none: 'No scan waits. The gateway has them all.',
    again: 'Send again',
    remove: 'Remove',
    sure: 'Really remove? Press again',
  },
  alarm: 'Something is wrong with the log of this gateway. Tell your supervisor, and do not clear this device.',
  witness: (size: number) =>
    `This device remembers ${countOf(size, 'entry', 'entries')} of the log and checks that none of them changes.`,
  training: {
    banner: 'TRAINING: nothing is recorded',
    hint: 'Practice codes: pallets P-1, P-2 and slots T-01, T-02. Slot T-99 does not exist.',
    count: 'Practice',
    end: 'End the training',
    unknownSlot: (slot: string) =>
      `Slot ${slot} does not exist. Read the label again, do it with the right slot, then remove this one.`,
    occupied: (slot: string, pallet: string) => `${slot} already holds ${pallet}.`,
  },
  noNetwork: 'No network',
  silent: (status: number) => `The gateway did not answer (status ${status})`,
  unclearAnswer: 'The answer of the gateway is not complete',
  tooSlow: 'The network is too slow here',
  unreadable: 'the picture cannot be read',
  refusals: {
    PERMISSION_DENIED: 'You may not do this. Ask a supervisor to do it, then remove it here.',
    REFERENCE_NOT_FOUND:
      'Read the slot label again. Is it really this one? Do it again with the right slot, then remove this one.',
    EVIDENCE_REQUIRED: 'Do it again with a photo, then remove this one.',
    TIMESTAMP_IN_FUTURE: 'The clock of this device was changed after the scan. Do it again, then remove this one.',
    CONSTRAINT_VIOLATED: 'The pallet must not be there. Put it elsewhere and scan that, then remove this one.',
    INVALID_TRANSITION: 'The count is closed. Tell your supervisor, then remove this one.',
    NOT_FOUND: 'The gateway does not have it. Tell your supervisor, then remove this one.',
  } as Readonly<Record<string, string>>,
  refusedOtherwise: 'Tell your supervisor. Do it again if it was wrong, then remove this one.',
}

const german: typeof english = {
  title: 'Scannen',
  loading: 'Der Speicher dieses Geräts wird geöffnet …',
  noStore: (why) =>
    `Dieser Browser bewahrt auf diesem Gerät nichts auf (${why}). So könnte ein Scan verloren gehen, darum wird hier keiner angenommen. Öffnen Sie die Seite in einem normalen Fenster, nicht in einem privaten, und erlauben Sie das Speichern.`,
  needsTls: 'Diese Seite braucht HTTPS, dem dieses Gerät vertraut, um ohne Netz zu arbeiten. Siehe /trust.',
  refusedNow:
    'Das Gateway hat einen Scan abgelehnt. Tippen Sie oben auf „abgelehnt“: Dort steht, warum und was zu tun ist.',
  waiting: (n) => (n === 1 ? '1 wartet' : `${n} warten`),
  refused: (n) => `${n} abgelehnt`,
  acknowledged: (n) => `${n} beim Gateway angekommen`,
  aside: (n) =>
    n === 1 ? 'Ein Scan ist zurückgestellt: die Liste öffnen.' : `${n} Scans sind zurückgestellt: die Liste öffnen.`,
  rests: (why) =>
    `Gerade wird nichts gesendet: ${why}. Ihre Scans bleiben auf diesem Gerät und werden von selbst gesendet.`,
  signInNeeded: (who, n) =>
    `${countOf(n, 'Scan', 'Scans')} von ${who} ${n === 1 ? 'kann' : 'können'} nicht gesendet werden: ${who} muss sich hier wieder anmelden.`,
  enrol: {
    title: 'Dieses Gerät registrieren',
    help: 'Lassen Sie sich vom Admin einen Registrierungscode geben. Scannen oder eintippen.',
    label: 'Registrierungscode',
    go: 'Registrieren',
    wrong: 'Der Code ist falsch, verbraucht oder zu alt. Lassen Sie sich einen neuen geben.',
    done: 'Dieses Gerät ist registriert. Jetzt anmelden.',
    again: 'Dieses Gerät neu registrieren',
    elsewhere: (url) => `Dieser Code gehört zu einem anderen Gateway: ${url}`,
  },
  signIn: {
    title: 'Wer scannt?',
    badge: 'Ausweis',
    pin: 'PIN',
    go: 'Anmelden',
    wrong:
      'Ausweis oder PIN ist falsch, oder dieses Gerät wurde gesperrt. Ein gesperrtes Gerät unten neu registrieren.',
    needsNetwork: 'Zum Anmelden braucht es das Netz. Scans auf diesem Gerät bleiben sicher.',
    training: 'Üben, ohne zu buchen',
  },
  signOut: 'Abmelden',
  signInEnded: 'Ihre Anmeldung ist abgelaufen. Melden Sie sich wieder an: Ihre Arbeit ist noch da.',
  acts: {
    PLACED: 'Einlagern',
    REMOVED: 'Auslagern',
    move: 'Umlagern',
    count: 'Zählen',
    VERIFIED: 'Prüfen',
    DISPUTED: 'Beanstanden',
  },
  pallet: 'Palette',
  slot: 'Stellplatz',
  toSlot: 'Neuer Stellplatz',
  countId: 'Zählung',
  noCount: 'Keine Zählung ist offen. Bitten Sie die Schichtleitung, eine zu öffnen.',
  scanNow: (what) => `${what} scannen`,
  found: 'Auf dem Stellplatz gefunden',
  emptySlot: 'Der Stellplatz ist leer',
  nothingYet: 'Noch nichts gescannt',
  takePhoto: 'Foto machen',
  mayTakePhoto: 'Foto machen (kann entfallen)',
  photoTaken: 'Foto gemacht',
  photoNeeded: 'Machen Sie zuerst ein Foto.',
  note: 'Was stimmt nicht?',
  noteNeeded: 'Schreiben Sie zuerst, was nicht stimmt.',
  missing: (what) => `Zuerst scannen: ${what}.`,
  clear: 'Löschen',
  clearOf: (code) => `${code} löschen`,
  full: (code) =>
    `${code} wurde NICHT übernommen: Palette und Stellplatz sind schon da. Erst speichern, oder löschen, was falsch ist.`,
  otherSlot: (code, slot) =>
    `${code} wurde NICHT übernommen: Das ist ein anderer Stellplatz. Erst speichern, was auf ${slot} gezählt ist, oder es löschen.`,
  notSavedBefore: (codes) =>
    `${codes} wurde NICHT übernommen: Was davor gescannt ist, ist NICHT GESPEICHERT. Noch einmal speichern, dann ${codes} noch einmal scannen.`,
  chooseFirst: (code) =>
    `${code} wurde NICHT übernommen: Wählen Sie erst, was mit dem Code unten geschieht, oder löschen Sie ihn.`,
  chooseAct: 'Was möchten Sie damit tun?',
  unknownSlot: (code) =>
    `Dieses Gerät kennt keinen Stellplatz ${code}. Lesen Sie das Etikett noch einmal. Ist er falsch, löschen und den richtigen scannen.`,
  unknownHere: 'Auf diesem Gerät unbekannt',
  mayOnlyLook: 'Sie dürfen auf diesem Gerät nichts buchen. Fragen Sie die Schichtleitung.',
  save: 'Speichern',
  back: 'Zurück',
  type: 'Code scannen oder tippen',
  code: 'Code',
  use: 'Code übernehmen',
  notStored: (why) =>
    `NICHT GESPEICHERT. Dieses Gerät konnte den Scan nicht ablegen (${why}). Er steht noch auf dem Bildschirm: Schaffen Sie Platz auf dem Gerät oder lassen Sie wartende Scans senden, dann noch einmal speichern.`,
  taken: (title) => `Auf diesem Gerät abgelegt: ${title}`,
  queue: {
    aside: (why) =>
      `Zurückgestellt, weil das Gateway daran scheitert: ${why}. Dieses Gerät versucht es alle fünf Minuten noch einmal. Scans derselben Palette oder desselben Stellplatzes warten dahinter; alle anderen werden gesendet. Bitte der Schichtleitung sagen.`,
    title: 'Scans auf diesem Gerät',
    none: 'Kein Scan wartet. Das Gateway hat alle.',
    again: 'Noch einmal senden',
    remove: 'Löschen',
    sure: 'Wirklich löschen? Noch einmal tippen',
  },
  alarm:
    'Mit dem Log dieses Gateways stimmt etwas nicht. Sagen Sie es der Schichtleitung, und löschen Sie auf diesem Gerät nichts.',
  witness: (size) =>
    `Dieses Gerät merkt sich ${countOf(size, 'Eintrag', 'Einträge')} des Logs und prüft, dass sich keiner ändert.`,
  training: {
    banner: 'ÜBUNG: Nichts wird gebucht',
    hint: 'Codes zum Üben: Paletten P-1, P-2 und Stellplätze T-01, T-02. Stellplatz T-99 gibt es nicht.',
    count: 'Übung',
    end: 'Übung beenden',
    unknownSlot: (slot) =>
      `Stellplatz ${slot} gibt es nicht. Lesen Sie das Etikett noch einmal, buchen Sie mit dem richtigen, dann diesen Scan löschen.`,
    occupied: (slot, pallet) => `Auf ${slot} steht schon ${pallet}.`,
  },
  noNetwork: 'Kein Netz',
  silent: (status) => `Das Gateway hat nicht geantwortet (Status ${status})`,
  unclearAnswer: 'Die Antwort des Gateways ist nicht vollständig',
  tooSlow: 'Das Netz ist hier zu langsam',
  unreadable: 'das Bild ist nicht lesbar',
  refusals: {
    PERMISSION_DENIED: 'Das dürfen Sie nicht. Bitten Sie die Schichtleitung, es zu tun, dann hier löschen.',
    REFERENCE_NOT_FOUND:
      'Lesen Sie das Etikett des Stellplatzes noch einmal. Ist es wirklich dieser? Mit dem richtigen neu buchen, dann diesen Scan löschen.',
    EVIDENCE_REQUIRED: 'Noch einmal mit Foto buchen, dann diesen Scan löschen.',
    TIMESTAMP_IN_FUTURE:
      'Die Uhr dieses Geräts wurde nach dem Scan verstellt. Noch einmal buchen, dann diesen Scan löschen.',
    CONSTRAINT_VIOLATED:
      'Die Palette darf dort nicht stehen. Woanders einlagern und das scannen, dann diesen Scan löschen.',
    INVALID_TRANSITION: 'Die Zählung ist geschlossen. Sagen Sie es der Schichtleitung, dann diesen Scan löschen.',
    NOT_FOUND: 'Das Gateway hat das nicht. Sagen Sie es der Schichtleitung, dann diesen Scan löschen.',
  },
  refusedOtherwise: 'Sagen Sie es der Schichtleitung. War der Scan falsch, noch einmal buchen; dann diesen löschen.',
}

/** The texts of the scan page and of its training. */
export const scanTexts = inLanguage({ en: english, de: german })
