import { inLanguage } from '../../i18n/language.ts'

const english = {
  mark: 'Mark objects in this picture',
  loading: 'Loading the model …',
  running: (fps: number) =>
    `This device looks at up to ${fps} pictures a second. It sends and stores none of them, and recording goes on.`,
  failed: (why: string) => `Objects cannot be marked on this device: ${why}`,
  noModel:
    'No objects are marked, because the box has no model. The admin puts an ONNX file on the box and names it in console.objectDetection.modelFile; “gatehouse config check” says whether it can be used.',
  badModel: (why: string) =>
    `No objects are marked, because the model of console.objectDetection.modelFile cannot be used: ${why} “gatehouse config check” says the same to the admin.`,
  found: (names: readonly string[]) => (names.length === 0 ? 'No object found' : `Found: ${names.join(', ')}`),
  named: (label: string, percent: number) => `${label} ${percent} %`,
}

const german: typeof english = {
  mark: 'Objekte in diesem Bild markieren',
  loading: 'Das Modell wird geladen …',
  running: (fps) =>
    `Dieses Gerät untersucht bis zu ${fps} Bilder pro Sekunde. Es sendet und speichert keines davon, und die Aufzeichnung läuft weiter.`,
  failed: (why) => `Auf diesem Gerät lassen sich keine Objekte markieren: ${why}`,
  noModel:
    'Es werden keine Objekte markiert, weil die Box kein Modell hat. Die Administration legt eine ONNX-Datei auf die Box und nennt sie in console.objectDetection.modelFile; „gatehouse config check“ sagt, ob sie brauchbar ist.',
  badModel: (why) =>
    `Es werden keine Objekte markiert, weil das Modell von console.objectDetection.modelFile nicht brauchbar ist: ${why} „gatehouse config check“ sagt der Administration dasselbe.`,
  found: (names) => (names.length === 0 ? 'Kein Objekt gefunden' : `Gefunden: ${names.join(', ')}`),
  named: (label, percent) => `${label} ${percent} %`,
}

/** Texts of the object detection. */
export const objectTexts = inLanguage({ en: english, de: german })
