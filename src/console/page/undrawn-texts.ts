import { inLanguage } from './i18n/language.ts'

const english = {
  title: 'A part of this page could not be drawn',
  keep: 'This page may be out of date. Your input is still in its fields: copy it, then load the page again.',
  alone: 'This page may be out of date. It loads again in a minute.',
  tell: 'If it happens again, give this message to the admin of this gateway:',
  again: 'Load the page again',
  home: 'To the first page',
}

const german: typeof english = {
  title: 'Ein Teil dieser Seite ließ sich nicht zeichnen',
  keep: 'Diese Seite ist vielleicht veraltet. Ihre Eingaben stehen noch in den Feldern: Kopieren Sie sie, und laden Sie die Seite dann neu.',
  alone: 'Diese Seite ist vielleicht veraltet. Sie wird in einer Minute neu geladen.',
  tell: 'Wenn das noch einmal geschieht, geben Sie dem Admin dieses Gateways diese Meldung:',
  again: 'Seite neu laden',
  home: 'Zur ersten Seite',
}

/** The texts of the notice that a part of a page could not be drawn. */
export const undrawnTexts = inLanguage({ en: english, de: german })
