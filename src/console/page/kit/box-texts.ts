import { inLanguage } from '../i18n/language.ts'

const english = {
  cancel: 'Cancel',
  older: 'Show older ones',
  failed: (why: string) => `Not done: ${why}. Your input is still here.`,
  gateway: 'the gateway itself',
}

const german: typeof english = {
  cancel: 'Abbrechen',
  older: 'Ältere zeigen',
  failed: (why) => `Nicht ausgeführt: ${why}. Ihre Eingaben sind noch da.`,
  gateway: 'das Gateway selbst',
}

/** Texts that several views about the box share. */
export const boxTexts = inLanguage({ en: english, de: german })
