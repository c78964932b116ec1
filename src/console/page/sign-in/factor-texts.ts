import { inLanguage } from '../i18n/language.ts'

const english = {
  code: 'Code of your app, or a recovery code',
  withPasskey: 'Use a passkey',
  wrong: 'The code or the passkey is wrong, too old, or used.',
  stopped: 'No passkey was shown.',
  title: 'Show your second factor again',
  why: 'This gives secrets or footage away. Then nothing asks again for ten minutes.',
  go: 'Go on',
  cancel: 'Cancel',
}

const german: typeof english = {
  code: 'Code Ihrer App, oder ein Wiederherstellungscode',
  withPasskey: 'Passkey benutzen',
  wrong: 'Der Code oder der Passkey ist falsch, zu alt oder benutzt.',
  stopped: 'Es wurde kein Passkey gezeigt.',
  title: 'Zeigen Sie Ihren zweiten Faktor noch einmal',
  why: 'Dies gibt Geheimnisse oder Bilder heraus. Danach fragt zehn Minuten lang nichts mehr.',
  go: 'Weiter',
  cancel: 'Abbrechen',
}

/** Texts about the second factor, at the sign-in and later. */
export const factorTexts = inLanguage({ en: english, de: german })
