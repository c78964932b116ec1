import type { PageLanguage } from '../../http/index.ts'

const english = {
  title: 'Manual',
  other: 'Deutsch',
  console: 'Console',
  skip: 'Skip to the text',
  search: 'Search the manual',
  results: 'Found in the manual',
  none: 'Nothing found. Try fewer words.',
  unread: 'The search index cannot be loaded. Use the list of pages.',
  pages: 'Pages',
  guides: 'Guides',
  reference: 'Reference',
  parts: 'On this page',
  scripts: 'Scripts for auditors',
  scriptsPurpose:
    'They check a proof without any program of gatehouse. They need base64, sha256sum, xxd, openssl 3 and jq.',
  recipe: 'checks a proof bundle',
  statement: 'checks a statement that a slot was untouched',
}

const german: typeof english = {
  title: 'Handbuch',
  other: 'English',
  console: 'Konsole',
  skip: 'Zum Text springen',
  search: 'Handbuch durchsuchen',
  results: 'Im Handbuch gefunden',
  none: 'Nichts gefunden. Versuchen Sie es mit weniger Wörtern.',
  unread: 'Der Suchindex kann nicht geladen werden. Nutzen Sie die Liste der Seiten.',
  pages: 'Seiten',
  guides: 'Anleitungen',
  reference: 'Nachschlagen',
  parts: 'Auf dieser Seite',
  scripts: 'Skripte für Prüfer',
  scriptsPurpose:
    'Sie prüfen einen Nachweis ohne ein Programm von gatehouse. Sie brauchen base64, sha256sum, xxd, openssl 3 und jq.',
  recipe: 'prüft ein Nachweisbündel',
  statement: 'prüft die Aussage, dass ein Platz unberührt blieb',
}

export type HelpTexts = typeof english

export const helpTexts: Readonly<Record<PageLanguage, HelpTexts>> = { en: english, de: german }
