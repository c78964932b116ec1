import { inLanguage, locale } from '../i18n/language.ts'

const number = (n: number) => new Intl.NumberFormat(locale).format(n)

const english = {
  mode: 'Edit',
  modes: { slots: 'Slots', outlines: 'Outlines of zones', image: 'Picture of the hall' },
  zone: 'Zone to outline',
  outlineHelp:
    'An outline shows where a zone is, also where it has no slots. It moves no slot. Drag its frame to move it, and the lower right corner of the frame to resize it. Drag its round corners for another shape. By keys: arrows move a corner, plus adds one behind it, Delete removes it.',
  noZones: 'This warehouse has no zone yet. Next: make one below, under “Zones”.',
  outline: (zone: string) => `Outline of ${zone}`,
  noOutline: 'This zone has no outline: the plan shows it around its slots.',
  draw: 'Draw an outline',
  drawHelp: 'Tap the corners on the plan, one after the other; the first one again ends it. Slots attract the corners.',
  corners: (n: number) => (n === 1 ? '1 corner' : `${number(n)} corners`),
  finish: 'Finish outline',
  back: 'Take back the last corner',
  cancel: 'Cancel',
  around: 'Outline around its slots',
  rectangle: 'Rectangle in the middle',
  remove: 'Remove outline',
  copy: 'Copy outline',
  copied: (zone: string) => `The outline of ${zone} is copied. Choose the zone that gets one like it.`,
  putCopy: (zone: string) => `Same outline as ${zone}, beside it`,
  putInside: (n: number, zone: string) =>
    n === 1 ? `Put the 1 slot inside into ${zone}` : `Put the ${number(n)} slots inside into ${zone}`,
  cornerX: (n: number) => `Corner ${n}, from the left`,
  cornerY: (n: number) => `Corner ${n}, from the top`,
  cornerFields: 'Corners in metres',
  picture: 'Picture file: PNG, JPEG or SVG, at most 8 MiB',
  pictureHelp:
    'A drawing or photo of the hall below the plan, also on the floor page. Drag it to move it, its lower right corner for its size, the round handle at its upper edge to turn it. By keys: arrows, with Shift ten times as far.',
  noPicture: 'This plan has no picture yet.',
  uploading: 'The picture is being stored …',
  stored: 'The picture is stored.',
  removed: 'The picture is removed.',
  failed: (why: string) => `Not done: ${why}`,
  removePicture: 'Remove picture',
  removeSure: 'Remove the picture of this hall?',
  tooLarge: 'The file is larger than 8 MiB. Store it smaller.',
  movePicture: 'Move the picture',
  sizePicture: 'Resize the picture',
  turnPicture: 'Turn the picture',
  fields: 'Place of the picture',
  x: 'Picture from the left, in metres',
  y: 'Picture from the top, in metres',
  width: 'Width of the picture in metres',
  rotation: 'Turned by degrees',
  opacity: 'Opacity in percent',
  measure: 'Set the size by two points',
  measureHelp: (n: number): string =>
    n === 0
      ? 'Tap two points of the picture whose distance you know, such as two columns. With keys: put two points into the picture, and move them with the arrows.'
      : n === 1
        ? '1 point. Tap the second one.'
        : '2 points. Drag them or move them with the arrow keys; type their distance.',
  measurePoint: (n: number) => `Point ${n}`,
  measurePut: 'Put two points into the picture',
  measureBack: 'Take back the last point',
  measureApply: 'Size the picture',
  measured: (width: number) => `The picture is ${number(width)} m wide now.`,
  distance: 'Distance of the two points, in metres',
  distanceNeeded: 'Type the distance in metres: more than 0.',
  twoPoints: 'First tap two points of the picture that are apart.',
}

const german: typeof english = {
  mode: 'Bearbeiten',
  modes: { slots: 'Stellplätze', outlines: 'Umrisse von Bereichen', image: 'Bild der Halle' },
  zone: 'Bereich, der umrissen wird',
  outlineHelp:
    'Ein Umriss zeigt, wo ein Bereich ist, auch wo er keine Stellplätze hat. Er bewegt keinen Stellplatz. Den Rahmen ziehen verschiebt ihn, die Ecke des Rahmens unten rechts ändert die Größe. Die runden Ecken ändern die Form. Mit Tasten: Pfeile verschieben eine Ecke, Plus fügt dahinter eine an, Entf entfernt sie.',
  noZones: 'Dieses Lager hat noch keinen Bereich. Als Nächstes: unten unter „Bereiche“ einen anlegen.',
  outline: (zone) => `Umriss von ${zone}`,
  noOutline: 'Dieser Bereich hat keinen Umriss: Der Plan zeigt ihn um seine Stellplätze.',
  draw: 'Umriss zeichnen',
  drawHelp:
    'Die Ecken auf dem Plan antippen, eine nach der anderen; noch einmal die erste beendet den Umriss. Stellplätze ziehen die Ecken an.',
  corners: (n) => (n === 1 ? '1 Ecke' : `${number(n)} Ecken`),
  finish: 'Umriss beenden',
  back: 'Letzte Ecke zurücknehmen',
  cancel: 'Abbrechen',
  around: 'Umriss um seine Stellplätze',
  rectangle: 'Rechteck in der Mitte',
  remove: 'Umriss entfernen',
  copy: 'Umriss kopieren',
  copied: (zone) => `Der Umriss von ${zone} ist kopiert. Jetzt den Bereich wählen, der einen gleichen bekommt.`,
  putCopy: (zone) => `Gleicher Umriss wie ${zone}, daneben`,
  putInside: (n, zone) =>
    n === 1 ? `Den 1 Stellplatz darin zu ${zone} nehmen` : `Die ${number(n)} Stellplätze darin zu ${zone} nehmen`,
  cornerX: (n) => `Ecke ${n}, von links`,
  cornerY: (n) => `Ecke ${n}, von oben`,
  cornerFields: 'Ecken in Metern',
  picture: 'Bilddatei: PNG, JPEG oder SVG, höchstens 8 MiB',
  pictureHelp:
    'Eine Zeichnung oder ein Foto der Halle unter dem Plan, auch auf der Seite „Halle“. Ziehen verschiebt es, die Ecke unten rechts ändert die Größe, der runde Griff an seiner oberen Kante dreht es. Mit Tasten: Pfeile, mit Umschalt zehnmal so weit.',
  noPicture: 'Dieser Plan hat noch kein Bild.',
  uploading: 'Das Bild wird gespeichert …',
  stored: 'Das Bild ist gespeichert.',
  removed: 'Das Bild ist entfernt.',
  failed: (why) => `Nicht ausgeführt: ${why}`,
  removePicture: 'Bild entfernen',
  removeSure: 'Das Bild dieser Halle entfernen?',
  tooLarge: 'Die Datei ist größer als 8 MiB. Bitte kleiner speichern.',
  movePicture: 'Das Bild verschieben',
  sizePicture: 'Die Größe des Bildes ändern',
  turnPicture: 'Das Bild drehen',
  fields: 'Ort des Bildes',
  x: 'Bild von links, in Metern',
  y: 'Bild von oben, in Metern',
  width: 'Breite des Bildes in Metern',
  rotation: 'Gedreht um Grad',
  opacity: 'Deckkraft in Prozent',
  measure: 'Größe durch zwei Punkte festlegen',
  measureHelp: (n) =>
    n === 0
      ? 'Zwei Punkte des Bildes antippen, deren Abstand bekannt ist, etwa zwei Säulen. Mit Tasten: zwei Punkte in das Bild legen und mit den Pfeilen verschieben.'
      : n === 1
        ? '1 Punkt. Jetzt den zweiten antippen.'
        : '2 Punkte. Sie lassen sich ziehen oder mit den Pfeiltasten verschieben; dann den Abstand eingeben.',
  measurePoint: (n) => `Punkt ${n}`,
  measurePut: 'Zwei Punkte in das Bild legen',
  measureBack: 'Letzten Punkt zurücknehmen',
  measureApply: 'Größe des Bildes anpassen',
  measured: (width) => `Das Bild ist jetzt ${number(width)} m breit.`,
  distance: 'Abstand der beiden Punkte, in Metern',
  distanceNeeded: 'Den Abstand in Metern eingeben: mehr als 0.',
  twoPoints: 'Zuerst zwei Punkte des Bildes antippen, die auseinanderliegen.',
}

/** The texts of the plan editor about outlines of zones and the picture of the hall. */
export const planShapeTexts = inLanguage({ en: english, de: german })
