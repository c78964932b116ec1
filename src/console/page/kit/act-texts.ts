import { inLanguage } from '../i18n/language.ts'

const english = {
  cancel: 'Cancel',
  failed: (why: string) => `Not done: ${why.replace(/\.$/, '')}. Your input is still here.`,
}

const german: typeof english = {
  cancel: 'Abbrechen',
  failed: (why) => `Nicht ausgeführt: ${why.replace(/\.$/, '')}. Ihre Eingaben sind noch da.`,
}

/** The texts that the views of goods and proof share. */
export const actTexts = inLanguage({ en: english, de: german })
