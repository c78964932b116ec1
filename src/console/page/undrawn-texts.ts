import { inLanguage } from './i18n/language.ts'

const english = {
  title: 'A part of this page could not be drawn',
  keep: 'What you see may be old. What you have typed is still in its fields: copy what you need, then load the page again.',
  alone: 'What you see may be old. The page is loaded again in a minute.',
  tell: 'If it happens again, tell the admin of this gateway what the program said:',
  again: 'Load the page again',
  home: 'To the first page',
}

const german: typeof english = {
  title: 'Ein Teil dieser Seite ließ sich nicht zeichnen',
  keep: 'Was hier steht, ist vielleicht veraltet. Was Sie getippt haben, steht noch in den Feldern: Kopieren Sie, was Sie brauchen, und laden Sie die Seite dann neu.',
  alone: 'Was hier steht, ist vielleicht veraltet. Die Seite wird in einer Minute neu geladen.',
  tell: 'Wenn das noch einmal geschieht, sagen Sie dem Admin dieses Gateways, was das Programm gemeldet hat:',
  again: 'Seite neu laden',
  home: 'Zur ersten Seite',
}

/** The texts of the notice that a part of a page could not be drawn. */
export const undrawnTexts = inLanguage({ en: english, de: german })
