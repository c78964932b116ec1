import { inLanguage, locale } from '../i18n/language.ts'

const number = (n: number) => new Intl.NumberFormat(locale).format(n)

const english = {
  title: 'Plan editor',
  warehouse: 'Warehouse',
  zone: 'Zone',
  part: 'Slots to move',
  wholeZone: (slots: number) => `The whole zone, ${slots === 1 ? '1 slot' : `${number(slots)} slots`}`,
  empty: 'This warehouse has no slots yet.',
  emptyNext: 'Next: make them here in a grid, or read a list.',
  noWarehouse: 'There is no warehouse yet. Next: “gatehouse warehouse add --name NAME --timezone ZONE”.',
  help: 'Drag the frame to move it, its lower right corner to resize it. By keys: arrows, with Shift ten times as far. A tap on another slot chooses its zone. A change of the drawing is stored when you save.',
  plan: (name: string) => `Plan of ${name}`,
  frame: (name: string) => `Move ${name}`,
  corner: (name: string) => `Resize ${name}`,
  fields: 'Place and size in metres',
  x: 'From the left',
  y: 'From the top',
  width: 'Width',
  height: 'Depth',
  retire: 'Take out of use',
  restore: 'Use again',
  occupied: (pallet: string) =>
    `${pallet} is in it. A change of the plan moves no pallet. A retired slot stays under To do until its pallet is moved.`,
  retiredNow: 'Out of use.',
  undo: 'Undo',
  redo: 'Redo',
  discard: 'Discard all',
  saveMixed: (n: number) => (n === 1 ? 'Save 1 change' : `Save ${number(n)} changes`),
  pendingMixed: (n: number) => (n === 1 ? '1 change is not saved.' : `${number(n)} changes are not saved.`),
  savedMixed: (n: number) => (n === 1 ? '1 change is saved.' : `${number(n)} changes are saved.`),
  refusedMixed: (n: number) =>
    n === 1 ? '1 change was refused. It is still here:' : `${number(n)} changes were refused. They are still here:`,
  save: (n: number) => (n === 0 ? 'Save' : n === 1 ? 'Save 1 slot' : `Save ${number(n)} slots`),
  nothing: 'Nothing is changed.',
  pending: (n: number) =>
    n === 1 ? '1 slot is changed and not saved.' : `${number(n)} slots are changed and not saved.`,
  saving: (done: number, all: number) => `Saving: ${number(done)} of ${number(all)} …`,
  waiting: (seconds: number) => `The gateway takes no more requests this minute: going on in ${number(seconds)} s.`,
  saved: (n: number) => (n === 1 ? '1 slot is saved.' : `${number(n)} slots are saved.`),
  refused: (n: number) =>
    n === 1
      ? '1 slot was refused. Its change is still here:'
      : `${number(n)} slots were refused. Their changes are still here:`,
  changedElsewhere: 'somebody else changed it meanwhile; check the new state and save again',
  leave: 'Unsaved changes are lost. Go on?',
  leaveKept: 'Your changes are not saved. This browser keeps them until you come back. Go on?',
  back: (when: string) => `Your unsaved changes of ${when} are here again. “Discard all” drops them.`,
  leftOut: (what: string) => `Dropped, because somebody changed it since: ${what}.`,
  eachAlone: 'Each change is stored by itself, with an entry in the audit trail.',
  csv: 'Download as CSV',
  csvHelp: 'The list of this warehouse as it is stored, for “gatehouse import slots”.',
}

const german: typeof english = {
  title: 'Plan bearbeiten',
  warehouse: 'Lager',
  zone: 'Bereich',
  part: 'Zu bewegende Stellplätze',
  wholeZone: (slots) => `Der ganze Bereich, ${slots === 1 ? '1 Stellplatz' : `${number(slots)} Stellplätze`}`,
  empty: 'Dieses Lager hat noch keine Stellplätze.',
  emptyNext: 'Als Nächstes: hier im Raster anlegen oder eine Liste lesen.',
  noWarehouse: 'Es gibt noch kein Lager. Als Nächstes: „gatehouse warehouse add --name NAME --timezone ZONE“.',
  help: 'Den Rahmen ziehen, um ihn zu verschieben, seine Ecke unten rechts, um die Größe zu ändern. Mit Tasten: Pfeile, mit Umschalt zehnmal so weit. Ein Tippen auf einen anderen Stellplatz wählt dessen Bereich. Eine Änderung der Zeichnung gilt, sobald sie gespeichert ist.',
  plan: (name) => `Plan von ${name}`,
  frame: (name) => `${name} verschieben`,
  corner: (name) => `Größe von ${name} ändern`,
  fields: 'Ort und Größe in Metern',
  x: 'Von links',
  y: 'Von oben',
  width: 'Breite',
  height: 'Tiefe',
  retire: 'Außer Betrieb nehmen',
  restore: 'Wieder benutzen',
  occupied: (pallet) =>
    `${pallet} steht darin. Eine Änderung am Plan bewegt keine Palette. Ein Stellplatz außer Betrieb bleibt auf der Aufgabenliste, bis seine Palette umgelagert ist.`,
  retiredNow: 'Außer Betrieb.',
  undo: 'Rückgängig',
  redo: 'Wiederholen',
  discard: 'Alles verwerfen',
  saveMixed: (n) => (n === 1 ? '1 Änderung speichern' : `${number(n)} Änderungen speichern`),
  pendingMixed: (n) =>
    n === 1 ? '1 Änderung ist nicht gespeichert.' : `${number(n)} Änderungen sind nicht gespeichert.`,
  savedMixed: (n) => (n === 1 ? '1 Änderung ist gespeichert.' : `${number(n)} Änderungen sind gespeichert.`),
  refusedMixed: (n) =>
    n === 1
      ? '1 Änderung wurde abgelehnt. Sie ist noch da:'
      : `${number(n)} Änderungen wurden abgelehnt. Sie sind noch da:`,
  save: (n) => (n === 0 ? 'Speichern' : n === 1 ? '1 Stellplatz speichern' : `${number(n)} Stellplätze speichern`),
  nothing: 'Es ist nichts geändert.',
  pending: (n) =>
    n === 1
      ? '1 Stellplatz ist geändert und nicht gespeichert.'
      : `${number(n)} Stellplätze sind geändert und nicht gespeichert.`,
  saving: (done, all) => `Speichern: ${number(done)} von ${number(all)} …`,
  waiting: (seconds) => `Das Gateway nimmt in dieser Minute nichts mehr an: weiter in ${number(seconds)} s.`,
  saved: (n) => (n === 1 ? '1 Stellplatz ist gespeichert.' : `${number(n)} Stellplätze sind gespeichert.`),
  refused: (n) =>
    n === 1
      ? '1 Stellplatz wurde abgelehnt. Seine Änderung ist noch da:'
      : `${number(n)} Stellplätze wurden abgelehnt. Ihre Änderungen sind noch da:`,
  changedElsewhere:
    'jemand anderes hat ihn inzwischen geändert; er wird neu gezeigt, bitte ansehen und noch einmal speichern',
  leave: 'Nicht gespeicherte Änderungen gehen verloren. Trotzdem weiter?',
  leaveKept: 'Ihre Änderungen sind nicht gespeichert. Dieser Browser behält sie, bis Sie wiederkommen. Weiter?',
  back: (when) => `Ihre nicht gespeicherten Änderungen vom ${when} sind wieder da. „Alles verwerfen“ nimmt sie weg.`,
  leftOut: (what) => `Weggefallen, weil jemand es seither geändert hat: ${what}.`,
  eachAlone: 'Jede Änderung wird für sich gespeichert, mit einem Eintrag im Protokoll.',
  csv: 'Als CSV herunterladen',
  csvHelp: 'Die Liste dieses Lagers, wie sie gespeichert ist, für „gatehouse import slots“.',
}

/** The texts of the plan editor. */
export const planTexts = inLanguage({ en: english, de: german })
