import { inLanguage } from '../i18n/language.ts'

const english = {
  steps: {
    leaf: 'The record',
    hash: 'Its SHA-256',
    path: 'The path in the log',
    root: 'The root of the log',
    signature: 'The signature of the log',
    cosignatures: 'Witnesses',
    anchors: 'Others who saw it',
    openings: 'Names and texts',
    media: 'Photos',
  },
  states: { holds: 'holds', fails: 'fails because', 'not claimed': 'not claimed', 'not checked': 'not checked' },
  fetching: 'Fetching the proof …',
  beingSigned: 'The log is being signed. One moment …',
  failed: (why: string) => `The proof cannot be shown: ${why}.`,
  prove: 'Prove it',
  proofOf: (id: number) => `Proof of event ${id}`,
  fails: 'This proof fails. Keep the file and tell your admin.',
  checkedWith: 'Checked in this browser with the log’s key',
  compare: 'The gateway sent this key: compare it with the one that you keep.',
  onlyHttps: 'This browser checks proofs only over HTTPS. Download the file and check it with',
  download: 'Download the proof',
  ofEvent: (id: number) => `of event ${id}`,
  proven: 'Proven: recorded like this, and unchanged since it was signed.',
  unsigned: 'No step fails, but the signature was not checked here.',
}

const german: typeof english = {
  steps: {
    leaf: 'Der Eintrag',
    hash: 'Sein SHA-256',
    path: 'Der Weg im Log',
    root: 'Die Wurzel des Logs',
    signature: 'Die Signatur des Logs',
    cosignatures: 'Zeugen',
    anchors: 'Andere, die es sahen',
    openings: 'Namen und Texte',
    media: 'Fotos',
  },
  states: {
    holds: 'stimmt',
    fails: 'stimmt nicht:',
    'not claimed': 'nicht behauptet',
    'not checked': 'nicht geprüft',
  },
  fetching: 'Der Beweis wird geholt …',
  beingSigned: 'Das Log wird signiert. Einen Augenblick …',
  failed: (why) => `Der Beweis kann nicht gezeigt werden: ${why}.`,
  prove: 'Beweisen',
  proofOf: (id) => `Beweis von Ereignis ${id}`,
  fails: 'Dieser Beweis stimmt nicht. Behalten Sie die Datei, und sagen Sie es Ihrem Admin.',
  checkedWith: 'In diesem Browser geprüft mit dem Schlüssel des Logs',
  compare: 'Diesen Schlüssel hat das Gateway gesandt: Vergleichen Sie ihn mit dem, den Sie aufbewahren.',
  onlyHttps: 'Dieser Browser prüft Beweise nur über HTTPS. Laden Sie die Datei herunter, und prüfen Sie sie mit',
  download: 'Beweis herunterladen',
  ofEvent: (id) => `von Ereignis ${id}`,
  proven: 'Bewiesen: so gebucht und seit der Signatur unverändert.',
  unsigned: 'Kein Schritt schlägt fehl, aber die Signatur wurde hier nicht geprüft.',
}

/** The texts of a proof that is checked in the browser. */
export const proveTexts = inLanguage({ en: english, de: german })
