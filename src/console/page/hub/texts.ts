import { inLanguage } from '../i18n/language.ts'
import type { SignInTexts } from '../sign-in/sign-in-texts.ts'
import { alertsTexts } from './alerts-texts.ts'
import { findTexts } from './find-texts.ts'
import { floorTexts } from './floor-texts.ts'
import { logTexts } from './log-texts.ts'
import { recallTexts } from './recall-texts.ts'
import { sitesTexts } from './sites-texts.ts'

const english = {
  title: 'Head office',
  signIn: {
    gateway: 'Head office',
    here: 'the head office',
    unreachable: 'The head office cannot be reached. Is this device still on the network?',
    triesSpent: (wait: string) =>
      `Too many wrong passwords were typed at this head office, so the storage server takes no more of them for now. An application password works at once. Or try again in ${wait}.`,
  } satisfies Partial<SignInTexts>,
  signOut: 'Sign out',
  signedOut: 'The session has ended. Sign in again.',
  asking: 'Asking the head office …',
  unreachable: 'The head office does not answer. Trying again …',
  tooMany: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
  failed: (message: string) => `Not done: ${message}.`,
  stale: (message: string) => `This may be old: ${message}`,
  file: 'File (CSV)',
  missing: {
    title: 'There is no such page',
    said: (path: string) => `The head office has no page at ${path}. The address may be mistyped, or from a gateway.`,
  },
  views: { nav: 'Views', sites: 'Sites', find: 'Find', recall: 'Recall', alerts: 'Alerts' },
}

const german: typeof english = {
  title: 'Zentrale',
  signIn: {
    gateway: 'Zentrale',
    here: 'der Zentrale',
    unreachable: 'Die Zentrale ist nicht erreichbar. Ist dieses Gerät noch im Netz?',
    triesSpent: (wait) =>
      `An dieser Zentrale wurden zu viele falsche Passwörter eingegeben; der Speicherserver nimmt vorerst keine mehr an. Ein App-Passwort geht sofort. Oder noch einmal in ${wait}.`,
  },
  signOut: 'Abmelden',
  signedOut: 'Die Sitzung ist beendet. Bitte neu anmelden.',
  asking: 'Die Zentrale wird gefragt …',
  unreachable: 'Die Zentrale antwortet nicht. Neuer Versuch läuft …',
  tooMany: (seconds) => `Zu viele Versuche. In ${seconds} s noch einmal.`,
  failed: (message) => `Nicht ausgeführt: ${message}.`,
  stale: (message) => `Dies kann veraltet sein: ${message}`,
  file: 'Datei (CSV)',
  missing: {
    title: 'Diese Seite gibt es nicht',
    said: (path) =>
      `Unter ${path} hat die Zentrale keine Seite. Die Adresse ist vielleicht vertippt oder gehört zu einem Gateway.`,
  },
  views: { nav: 'Ansichten', sites: 'Standorte', find: 'Suchen', recall: 'Rückruf', alerts: 'Meldungen' },
}

/** The texts of the page of the head office. */
export const hubTexts = {
  ...inLanguage({ en: english, de: german }),
  sites: sitesTexts,
  find: findTexts,
  recall: recallTexts,
  floor: floorTexts,
  log: logTexts,
  alerts: alertsTexts,
}
