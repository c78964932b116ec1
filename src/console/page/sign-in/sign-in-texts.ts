import { inLanguage } from '../i18n/language.ts'

const english = {
  title: 'Sign in',
  gateway: 'Gateway',
  at: 'at',
  account: 'Account of',
  here: 'this gateway',
  username: 'User name',
  secret: 'Secret',
  secretOrPassword: 'Secret or application password',
  show: 'Show',
  hide: 'Hide',
  theSecret: 'secret',
  busy: 'Signing in …',
  seconds: (n: number) => `${n} s`,
  minutes: (n: number) => `${n} min`,
  unreachable: 'The gateway cannot be reached. Is this device still on the network?',
  broken: 'Something went wrong on this page. Load it again.',
  wrong: 'User name or secret is wrong.',
  otherAccount: (where: string) => `It was tried as an account of ${where}.`,
  otherUser: 'This secret belongs to another user name. Check the user name that you typed.',
  storageSilent: (wait: string) =>
    `The storage server does not answer, so your sign-in cannot be checked. Try again in ${wait}.`,
  triesSpent: (wait: string) =>
    `Too many wrong passwords were typed at this gateway, so the storage server takes no more of them for now. An application password works at once. Or try again in ${wait}.`,
  tooMany: (wait: string) => `Too many attempts. Try again in ${wait}.`,
  invalid: 'This user name or secret has a wrong form. Type both again.',
}

export type SignInTexts = typeof english

const german: SignInTexts = {
  title: 'Anmelden',
  gateway: 'Gateway',
  at: 'unter',
  account: 'Konto von',
  here: 'diesem Gateway',
  username: 'Benutzername',
  secret: 'Geheimnis',
  secretOrPassword: 'Geheimnis oder App-Passwort',
  show: 'Zeigen',
  hide: 'Verbergen',
  theSecret: 'das Geheimnis',
  busy: 'Anmeldung läuft …',
  seconds: (n) => `${n} s`,
  minutes: (n) => `${n} min`,
  unreachable: 'Das Gateway ist nicht erreichbar. Ist dieses Gerät noch im Netz?',
  broken: 'Auf dieser Seite ist etwas schiefgegangen. Bitte neu laden.',
  wrong: 'Benutzername oder Geheimnis ist falsch.',
  otherAccount: (where) => `Versucht wurde es als Konto von ${where}.`,
  otherUser: 'Dieses Geheimnis gehört zu einem anderen Benutzernamen. Prüfen Sie den eingegebenen Namen.',
  storageSilent: (wait) =>
    `Der Speicherserver antwortet nicht, daher ist Ihre Anmeldung nicht prüfbar. Neuer Versuch in ${wait}.`,
  triesSpent: (wait) =>
    `An diesem Gateway wurden zu viele falsche Passwörter eingegeben; der Speicherserver nimmt vorerst keine mehr an. Ein App-Passwort geht sofort. Oder noch einmal in ${wait}.`,
  tooMany: (wait) => `Zu viele Versuche. Noch einmal in ${wait}.`,
  invalid: 'Benutzername oder Geheimnis hat eine falsche Form. Geben Sie beides noch einmal ein.',
}

/** The texts of the sign-in. */
export const signInTexts = inLanguage({ en: english, de: german })
