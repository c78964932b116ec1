import { keysOf } from '../data/parsing.ts'

export type Language = 'en' | 'de'

/** Each language by its own name, as somebody looks for it who reads no other. */
export const languages: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

const keptAs = 'gatehouse.language'

/** The language of this page: the one that was chosen on this device, else the browser's, else English. */
export const language: Language = kept() ?? wanted() ?? 'en'

/** For dates and numbers. English is Britain's: day before month, 24 hours. */
export const locale = { en: 'en-GB', de: 'de-DE' }[language]

/** Returns the texts of this page's language. */
export const inLanguage = <T>(texts: Readonly<Record<Language, T>>): T => texts[language]

/** Keeps the choice on this device. The page has to be loaded again. */
export function chooseLanguage(next: Language): void {
  localStorage.setItem(keptAs, next)
}

/**
 * Marks a text that the gateway wrote: it is English, whatever the language of the page. The marks are characters that no one
 * sees (isolates of Unicode); `Said` turns them into `lang`.
 */
export const gatewayWords = (text: string): string =>
  language === 'en' ? text : `\u2066${text.replaceAll(/[\u2066\u2069]/g, '')}\u2069`

/** Cuts words at the marks of `gatewayWords`: every second part is what the gateway wrote. */
export const partsOf = (words: string): readonly string[] => words.split(/[\u2066\u2069]/)

function kept(): Language | undefined {
  try {
    return known(globalThis.localStorage?.getItem(keptAs))
  } catch {
    // A browser that stores nothing forbids to ask as well.
    return undefined
  }
}

function wanted(): Language | undefined {
  if (!('document' in globalThis)) return undefined
  return navigator.languages.map((tag) => known(tag.slice(0, 2))).find((one) => one !== undefined)
}

/** A declaration, because `language` is computed before a constant down here would have its value. */
function known(text: string | null | undefined): Language | undefined {
  return keysOf(languages).find((one) => one === text)
}
