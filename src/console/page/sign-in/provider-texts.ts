import { inLanguage } from '../i18n/language.ts'

const english = {
  signIn: (host: string) => `Sign in with ${host}`,
  again: 'Sign in again',
  why: (host: string) => `This gives secrets or footage away. Sign in at ${host} again, then repeat it.`,
  address: (url: string) => `This sign-in works at ${url} alone. Open the console there.`,
  failed: {
    unreachable: 'The sign-in provider does not answer as it should. Try again in some seconds.',
    again: 'This sign-in is too old, used, or of another browser. Begin it again.',
    denied: 'The sign-in provider did not sign you in.',
    'other-provider': 'The answer came from another sign-in provider than the one that was asked. Begin again.',
    token: 'The answer of the sign-in provider is not valid for this gateway.',
    clocks: 'The clocks of this gateway and the sign-in provider differ by more than a minute. Ask an admin.',
    setup: 'The sign-in provider does not know this gateway as it is set up. Ask an admin: the reason is in the log.',
    factor: 'Your role needs a second factor, and the sign-in provider did not say that you showed one.',
    groups: 'You are in more groups than the sign-in provider names. Ask an admin.',
    'not-fresh': 'The sign-in provider did not say that you signed in again just now.',
    'other-person': 'Another person signed in. Sign in as yourself.',
  },
}

const german: typeof english = {
  signIn: (host) => `Anmelden mit ${host}`,
  again: 'Noch einmal anmelden',
  why: (host) =>
    `Dies gibt Geheimnisse oder Bilder heraus. Melden Sie sich noch einmal bei ${host} an, dann wiederholen Sie es.`,
  address: (url) => `Diese Anmeldung geht nur unter ${url}. Öffnen Sie die Konsole dort.`,
  failed: {
    unreachable: 'Der Anmeldedienst antwortet nicht, wie er soll. Neuer Versuch in einigen Sekunden.',
    again: 'Diese Anmeldung ist zu alt, benutzt oder aus einem anderen Browser. Beginnen Sie noch einmal.',
    denied: 'Der Anmeldedienst hat Sie nicht angemeldet.',
    'other-provider': 'Die Antwort kam von einem anderen Anmeldedienst als dem gefragten. Beginnen Sie noch einmal.',
    token: 'Die Antwort des Anmeldedienstes gilt nicht für dieses Gateway.',
    clocks:
      'Die Uhren dieses Gateways und des Anmeldedienstes weichen um mehr als eine Minute ab. Fragen Sie den Admin.',
    setup:
      'Der Anmeldedienst kennt dieses Gateway nicht so, wie es eingerichtet ist. Fragen Sie den Admin: Der Grund steht im Log.',
    factor:
      'Ihre Rolle braucht einen zweiten Faktor, und der Anmeldedienst hat nicht gesagt, dass Sie einen gezeigt haben.',
    groups: 'Sie sind in mehr Gruppen, als der Anmeldedienst nennt. Fragen Sie den Admin.',
    'not-fresh': 'Der Anmeldedienst hat nicht gesagt, dass Sie sich gerade noch einmal angemeldet haben.',
    'other-person': 'Es hat sich jemand anderes angemeldet. Melden Sie sich als Sie selbst an.',
  },
}

/** Texts about the sign-in at an OpenID provider. */
export const providerTexts = inLanguage({ en: english, de: german })
