import { inLanguage } from '../i18n/language.ts'

const english = {
  picture: 'Picture of this device’s camera',
  opening: 'The camera is being opened …',
  hold: 'Hold the code into the picture, all of it and not too close.',
  torch: 'Light',
  close: 'Close the camera',
  refused:
    'The camera was refused. Allow it for this page in the settings of the browser (the sign beside the address), then try again. A scanner and the keys work without it.',
  none: 'This device has no camera that the browser may use. A scanner and the keys work without it.',
  taken: 'Another program uses the camera, or it was unplugged. Close that program and try again.',
  failed: (why: string) => `The camera cannot be used: ${why}`,
}

const german: typeof english = {
  picture: 'Bild der Kamera dieses Geräts',
  opening: 'Die Kamera wird geöffnet …',
  hold: 'Den Code ganz und nicht zu nah ins Bild halten.',
  torch: 'Licht',
  close: 'Kamera schließen',
  refused:
    'Die Kamera wurde nicht erlaubt. Sie in den Einstellungen des Browsers für diese Seite erlauben (das Zeichen neben der Adresse) und es noch einmal versuchen. Scanner und Tasten gehen auch ohne sie.',
  none: 'Dieses Gerät hat keine Kamera, die der Browser nutzen darf. Scanner und Tasten gehen auch ohne sie.',
  taken:
    'Ein anderes Programm nutzt die Kamera, oder sie wurde abgezogen. Dieses Programm schließen und es noch einmal versuchen.',
  failed: (why) => `Die Kamera ist nicht nutzbar: ${why}`,
}

/** Texts of reading codes by the camera of the device. */
export const cameraScanTexts = inLanguage({ en: english, de: german })
