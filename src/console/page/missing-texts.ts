import { inLanguage } from './i18n/language.ts'

const english = {
  title: 'There is no such page',
  said: (path: string) => `The gateway has no page at ${path}. The address may be mistyped, or from another system.`,
  scan: 'Looking for a pallet, a slot or a unit? Scan its code, or type it into the field above.',
  home: 'To the floor',
  todo: 'To the open tasks',
  signIn: 'To the sign-in',
  notYours: (view: string) => `“${view}” is not for your role`,
  whichRole: (name: string, role: string) =>
    `You are signed in as ${name} (${role}). If you need this page, ask the admin of this gateway for another role.`,
  notNow: (view: string) => `“${view}” has to wait`,
  confirming: (name: string, role: string) =>
    `You are signed in as ${name}. The storage server has not confirmed your role lately, so until it answers you have that of ${role}. Try again in some seconds.`,
  again: 'Try again',
}

const german: typeof english = {
  title: 'Diese Seite gibt es nicht',
  said: (path) =>
    `Unter ${path} hat das Gateway keine Seite. Die Adresse ist vielleicht vertippt oder gehört zu einem anderen System.`,
  scan: 'Eine Palette, ein Stellplatz oder eine Einheit gesucht? Den Code scannen oder oben in das Feld tippen.',
  home: 'Zur Halle',
  todo: 'Zu den Aufgaben',
  signIn: 'Zur Anmeldung',
  notYours: (view) => `„${view}“ gehört nicht zu Ihrer Rolle`,
  whichRole: (name, role) =>
    `Sie sind als ${name} angemeldet (${role}). Wer diese Seite braucht, fragt den Admin dieses Gateways nach einer anderen Rolle.`,
  notNow: (view) => `„${view}“ muss warten`,
  confirming: (name, role) =>
    `Sie sind als ${name} angemeldet. Der Speicherserver hat Ihre Rolle zuletzt nicht bestätigt; bis er antwortet, haben Sie diese: ${role}. In einigen Sekunden noch einmal versuchen.`,
  again: 'Noch einmal versuchen',
}

/** The texts of the page at an address that is none, or none for the caller. */
export const missingTexts = inLanguage({ en: english, de: german })
