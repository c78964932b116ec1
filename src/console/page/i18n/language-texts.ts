import { inLanguage } from './language.ts'

const english = { language: 'Language' }
const german: typeof english = { language: 'Sprache' }

export const languageTexts = inLanguage({ en: english, de: german })
