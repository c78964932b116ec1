import { inLanguage } from '../i18n/language.ts'

const english = {
  open: 'Register it',
  title: (code: string) => `Register ${code}`,
  unregistered: 'No one has registered it yet, so the gateway does not know its type.',
  type: 'Type',
  weight: 'Weight in kg',
  weighed: (kg: string) => `The scale said ${kg} when it was placed.`,
  gtin: 'GTIN',
  lot: 'Lot',
  bestBefore: 'Best before',
  fromLabel: (facts: string) => `Its label says: ${facts}.`,
  save: 'Register',
  cancel: 'Cancel',
  saved: (code: string) => `${code} is registered.`,
  already: 'Somebody registered it meanwhile; nothing was changed',
  lookAgain: 'Not registered: look at the fields that are marked',
  wrong: {
    type: 'Choose one of the types.',
    weight_kg: 'Write a number from 0 to 100000, with at most two places after the point and no other separator.',
    gtin: 'Write the 8, 12, 13 or 14 digits of the GTIN. The last one is a check digit; it has to fit.',
    lot: 'Write at most 90 characters.',
    bestBefore: 'Choose a day.',
  } as Readonly<Record<string, string>>,
}

const german: typeof english = {
  open: 'Erfassen',
  title: (code) => `${code} erfassen`,
  unregistered: 'Niemand hat sie bisher erfasst, darum kennt das Gateway ihre Art nicht.',
  type: 'Art',
  weight: 'Gewicht in kg',
  weighed: (kg) => `Bei ihrer Einlagerung zeigte die Waage ${kg}.`,
  gtin: 'GTIN',
  lot: 'Charge',
  bestBefore: 'Mindestens haltbar bis',
  fromLabel: (facts) => `Auf ihrem Etikett steht: ${facts}.`,
  save: 'Erfassen',
  cancel: 'Abbrechen',
  saved: (code) => `${code} ist erfasst.`,
  already: 'Jemand hat sie inzwischen erfasst; geändert wurde nichts',
  lookAgain: 'Nicht erfasst: Bitte die markierten Felder ansehen',
  wrong: {
    type: 'Bitte eine Art wählen.',
    weight_kg: 'Bitte eine Zahl von 0 bis 100000 mit höchstens zwei Nachkommastellen und ohne weitere Trennzeichen.',
    gtin: 'Bitte die 8, 12, 13 oder 14 Ziffern der GTIN. Die letzte ist eine Prüfziffer; sie muss passen.',
    lot: 'Bitte höchstens 90 Zeichen.',
    bestBefore: 'Bitte einen Tag wählen.',
  },
}

/** The texts of the form that registers a pallet. */
export const registerTexts = inLanguage({ en: english, de: german })
