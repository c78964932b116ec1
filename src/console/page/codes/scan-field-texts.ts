import { inLanguage } from '../i18n/language.ts'

const english = {
  label: 'Scan or type a pallet, slot or unit',
  hint: 'Scan or type a code',
  find: 'Find the code',
  open: (code: string) => `Open ${code}`,
  last: (n: number) => `Last ${n} scans`,
  view: 'A view of this console',
  notReached: 'the gateway cannot be reached',
  notLookedUp: (code: string, why: string) => `${code} was not looked up: ${why}`,
  slot: (label: string, pallet: string | null) => `Slot ${label}: ${pallet === null ? 'empty' : `pallet ${pallet}`}`,
  pallet: (code: string, place: string) => `Pallet ${code}: ${place}`,
  inSlot: (label: string) => `in ${label}`,
  notInSlot: 'not in a slot',
  noPlace: 'no known place',
  unit: (reference: string) => `Transport unit ${reference}`,
  unknown: (code: string) => `${code} is unknown here`,
  torn: (parts: string) => `The scan came in parts: ${parts}. It was not taken. Scan again.`,
  faulty: (code: string) =>
    `The check digit or the length of ${code} is wrong. It was not taken. Scan again: the same code again is taken as it is.`,
  unknownButRead: (code: string, read: string) => `${code} is unknown here, but it was read: ${read}`,
  identifiers: {
    '00': 'SSCC',
    '01': 'GTIN',
    '02': 'GTIN of the contents',
    '10': 'lot',
    '11': 'made',
    '15': 'best before',
    '17': 'expires',
    '21': 'serial',
    '37': 'pieces',
  } as Readonly<Record<string, string>>,
}

const german: typeof english = {
  label: 'Palette, Stellplatz oder Einheit scannen oder eintippen',
  hint: 'Scannen oder tippen',
  find: 'Code suchen',
  open: (code) => `${code} öffnen`,
  last: (n) => `Letzte ${n} Scans`,
  view: 'Eine Ansicht dieser Konsole',
  notReached: 'das Gateway ist nicht erreichbar',
  notLookedUp: (code, why) => `${code} wurde nicht nachgeschlagen: ${why}`,
  slot: (label, pallet) => `Stellplatz ${label}: ${pallet === null ? 'frei' : `Palette ${pallet}`}`,
  pallet: (code, place) => `Palette ${code}: ${place}`,
  inSlot: (label) => `auf ${label}`,
  notInSlot: 'auf keinem Stellplatz',
  noPlace: 'kein bekannter Ort',
  unit: (reference) => `Transporteinheit ${reference}`,
  unknown: (code) => `${code} ist hier unbekannt`,
  torn: (parts) => `Der Scan kam in Teilen: ${parts}. Er wurde nicht übernommen. Scannen Sie noch einmal.`,
  faulty: (code) =>
    `Prüfziffer oder Länge von ${code} ist falsch. Der Code wurde nicht übernommen. Scannen Sie noch einmal: Kommt er wieder, gilt er, wie er ist.`,
  unknownButRead: (code, read) => `${code} ist hier unbekannt, gelesen wurde: ${read}`,
  identifiers: {
    '00': 'SSCC',
    '01': 'GTIN',
    '02': 'GTIN des Inhalts',
    '10': 'Charge',
    '11': 'hergestellt',
    '15': 'mindestens haltbar bis',
    '17': 'verfällt',
    '21': 'Seriennummer',
    '37': 'Stück',
  },
}

/** The texts of the field for codes, and of what a code was found to be. */
export const scanFieldTexts = inLanguage({ en: english, de: german })
