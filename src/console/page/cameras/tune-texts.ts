import { inLanguage, locale } from '../i18n/language.ts'
import type { Verdict } from './tune-trial.ts'

const number = (n: number) => new Intl.NumberFormat(locale).format(n)
const events = (n: number) => (n === 1 ? '1 event' : `${number(n)} events`)
const ereignisse = (n: number) => (n === 1 ? '1 Ereignis' : `${number(n)} Ereignisse`)

const english = {
  title: 'Try other settings on this day',
  intro:
    'Move the sensitivity or draw a mask: the line above shows at once which events of this day would have stayed. Nothing is changed.',
  open: 'Try other settings',
  close: 'Close',
  leave: 'The masks and zones that you drew are not copied and would be lost. Go on?',
  yesterday: 'Show yesterday',
  sensitivity: 'Sensitivity',
  sensitivityNow: (now: number) => `Now ${now}. A lower value finds more motion.`,
  asking: 'Looking at this day again …',
  failed: (why: string) => `Not answered: ${why}. Your settings are still here.`,
  again: 'Ask again',
  reset: 'As it is now',
  result: (day: string, would: number, recorded: number) =>
    would === recorded
      ? `${day} it would have been ${events(would)}, as it was.`
      : `${day} it would have been ${events(would)} instead of ${number(recorded)}.`,
  gone: (n: number) => (n === 0 ? '' : n === 1 ? 'One is gone.' : `${number(n)} are gone.`),
  merged: (n: number) =>
    n === 0 ? '' : n === 1 ? 'One would be in the clip of another.' : `${number(n)} would be in the clip of another.`,
  added: (n: number) => (n === 0 ? '' : n === 1 ? 'One is added.' : `${number(n)} are added.`),
  undecided: (n: number) => (n === 0 ? '' : `Nothing is stored of ${events(n)}: they count as recorded.`),
  unknown: (span: string) => `For ${span} of this day there were no pictures, or nothing is stored of them.`,
  nothing: 'Nothing is stored of this day. Choose another day.',
  yesterdayIs: 'Yesterday',
  onDay: (date: string) => `On ${date}`,
  verdicts: {
    stays: 'would stay',
    gone: 'would be gone',
    merged: 'would be in the clip of another',
    undecided: 'nothing is stored of it',
  } satisfies Record<Verdict, string>,
  legend: 'Crossed out: events that would be gone. Hollow: events that would be added.',
  goneList: 'These would be gone',
  addedList: 'These would be added',
  more: (n: number) => `and ${number(n)} more`,
  toMoment: (when: string) => `Show ${when}`,
  editor: 'Masks and zones on the picture',
  editorHelp:
    'Draw on the picture to make a mask. Drag its corners, or move them with the arrow keys (Shift: larger steps; Delete removes a corner). The fields below do the same.',
  picture: (camera: string) => `Newest picture of ${camera}`,
  noPicture: 'No picture now. Masks can be drawn all the same.',
  newPicture: 'Take a new picture',
  newMask: 'New mask',
  newZone: 'New zone',
  kinds: { mask: 'Mask', zone: 'Zone' },
  kindHelp: 'Masks: motion inside does not count. Zones: only motion inside counts.',
  noAreas: 'No mask and no zone: motion counts in the whole picture.',
  chosen: 'Chosen',
  choose: (name: string) => `Edit ${name}`,
  remove: (name: string) => `Remove ${name}`,
  corner: (name: string, n: number) => `${name}, corner ${n}`,
  addCorner: (n: number) => `Add a corner after ${n}`,
  removeCorner: (n: number) => `Remove corner ${n}`,
  across: (n: number) => `Corner ${n}, % from the left`,
  down: (n: number) => `Corner ${n}, % from the top`,
  keepTitle: 'Keep these settings',
  keepNothing: 'These are the current settings.',
  config: (camera: string) =>
    `The admin writes this into the config, in the entry of ${camera} under “cameras”, in place of the same keys there. Then “gatehouse config check”; the gateway takes it over at a reload.`,
  copy: 'Copy',
  copied: 'Copied.',
  notCopied: 'Copying did not work: select the text.',
  useNow: (sensitivity: number) => `Use sensitivity ${sensitivity} from now on`,
  useHelp:
    'Only the sensitivity, at once, until the motion settings of the config change. Masks and zones need the config.',
  used: (sensitivity: number) => `Sensitivity ${sensitivity} is in use.`,
}

const german: typeof english = {
  title: 'Andere Einstellungen an diesem Tag probieren',
  intro:
    'Empfindlichkeit verschieben oder eine Maske zeichnen: Die Linie oben zeigt sofort, welche Ereignisse dieses Tages geblieben wären. Es wird nichts geändert.',
  open: 'Andere Einstellungen probieren',
  close: 'Schließen',
  leave: 'Die gezeichneten Masken und Zonen sind nicht kopiert und gehen verloren. Trotzdem weiter?',
  yesterday: 'Gestern zeigen',
  sensitivity: 'Empfindlichkeit',
  sensitivityNow: (now) => `Jetzt ${number(now)}. Ein kleinerer Wert findet mehr Bewegung.`,
  asking: 'Dieser Tag wird neu beurteilt …',
  failed: (why) => `Keine Antwort: ${why}. Die Eingaben sind noch da.`,
  again: 'Noch einmal fragen',
  reset: 'Wie es jetzt ist',
  result: (day, would, recorded) =>
    would === recorded
      ? `${day} wären es ${ereignisse(would)} gewesen, so viele wie es waren.`
      : `${day} wären es ${ereignisse(would)} statt ${number(recorded)} gewesen.`,
  gone: (n) => (n === 0 ? '' : n === 1 ? 'Eines fällt weg.' : `${number(n)} fallen weg.`),
  merged: (n) =>
    n === 0 ? '' : n === 1 ? 'Eines wäre im Film eines anderen.' : `${number(n)} wären im Film eines anderen.`,
  added: (n) => (n === 0 ? '' : n === 1 ? 'Eines kommt dazu.' : `${number(n)} kommen dazu.`),
  undecided: (n) => (n === 0 ? '' : `Über ${ereignisse(n)} ist nichts gespeichert: Sie zählen, wie sie waren.`),
  unknown: (span) => `Für ${span} dieses Tages gab es keine Bilder, oder es ist nichts davon gespeichert.`,
  nothing: 'Von diesem Tag ist nichts gespeichert. Bitte einen anderen Tag wählen.',
  yesterdayIs: 'Gestern',
  onDay: (date) => `Am ${date}`,
  verdicts: {
    stays: 'bliebe',
    gone: 'fiele weg',
    merged: 'wäre im Film eines anderen',
    undecided: 'davon ist nichts gespeichert',
  },
  legend: 'Durchgestrichen: Ereignisse, die wegfielen. Hohl: Ereignisse, die dazukämen.',
  goneList: 'Diese fielen weg',
  addedList: 'Diese kämen dazu',
  more: (n) => `und ${number(n)} weitere`,
  toMoment: (when) => `${when} zeigen`,
  editor: 'Masken und Zonen auf dem Bild',
  editorHelp:
    'Auf dem Bild ziehen, um eine Maske zu machen. Ecken ziehen oder mit den Pfeiltasten bewegen (Umschalt: größere Schritte; Entf nimmt eine Ecke weg). Die Felder darunter tun dasselbe.',
  picture: (camera) => `Neuestes Bild von ${camera}`,
  noPicture: 'Jetzt kein Bild. Masken lassen sich trotzdem zeichnen.',
  newPicture: 'Neues Bild aufnehmen',
  newMask: 'Neue Maske',
  newZone: 'Neue Zone',
  kinds: { mask: 'Maske', zone: 'Zone' },
  kindHelp: 'Masken: Bewegung darin zählt nicht. Zonen: Nur Bewegung darin zählt.',
  noAreas: 'Keine Maske und keine Zone: Bewegung zählt im ganzen Bild.',
  chosen: 'Gewählt',
  choose: (name) => `${name} bearbeiten`,
  remove: (name) => `${name} entfernen`,
  corner: (name, n) => `${name}, Ecke ${n}`,
  addCorner: (n) => `Ecke nach ${n} hinzufügen`,
  removeCorner: (n) => `Ecke ${n} entfernen`,
  across: (n) => `Ecke ${n}, % von links`,
  down: (n) => `Ecke ${n}, % von oben`,
  keepTitle: 'Diese Einstellungen behalten',
  keepNothing: 'Das sind die jetzigen Einstellungen.',
  config: (camera) =>
    `Der Admin schreibt das in die Konfiguration, in den Eintrag von ${camera} unter „cameras“, anstelle derselben Schlüssel dort. Danach „gatehouse config check“; das Gateway übernimmt es beim Neuladen.`,
  copy: 'Kopieren',
  copied: 'Kopiert.',
  notCopied: 'Kopieren ging nicht: bitte den Text markieren.',
  useNow: (sensitivity) => `Empfindlichkeit ${number(sensitivity)} ab jetzt verwenden`,
  useHelp:
    'Nur die Empfindlichkeit, sofort, bis sich die Bewegungseinstellungen der Konfiguration ändern. Masken und Zonen brauchen die Konfiguration.',
  used: (sensitivity) => `Empfindlichkeit ${number(sensitivity)} ist in Gebrauch.`,
}

/** The texts of trying other settings on a day. */
export const tuneTexts = inLanguage({ en: english, de: german })
