import { countOf, numberWords } from '../i18n/counting.ts'
import { inLanguage } from '../i18n/language.ts'

const english = {
  title: 'Audit trail',
  count: (shown: number, total: number | null) =>
    total === 0
      ? 'No entry.'
      : total === null
        ? `The newest ${numberWords(shown)} entries; there are more than 10,000.`
        : shown < total
          ? `The newest ${numberWords(shown)} of ${countOf(total, 'entry', 'entries')}.`
          : `${countOf(total, 'entry', 'entries')}, newest first.`,
  narrow: 'Narrow it down',
  narrowed: (n: number) => countOf(n, 'filter is set', 'filters are set'),
  person: 'Person',
  personHint: 'The person who acted, or on whose behalf, as the trail names them.',
  thing: 'Kind of thing',
  id: 'Its number',
  action: 'Act',
  from: 'From the day',
  to: 'To the day',
  wrongSpan: 'The first day is after the last one.',
  all: 'all',
  show: 'Show',
  everything: 'Show everything',
  download: 'Download as a table (CSV)',
  noneLike: 'No entry matches. Next: leave out one of the filters.',
  none: 'Nothing was recorded yet.',
  noneNext: 'Each act of a person and each change of the gateway comes here, and is never changed.',
  gateway: 'The gateway itself',
  box: 'Somebody at the box',
  unknown: 'Somebody who was not signed in',
  behalf: (actor: string, operator: string) => `${actor} for ${operator}`,
  concerns: (who: string, name: string) => `${who}, about ${name}`,
  filterOf: (what: string) => `Only ${what}`,
  open: (what: string) => `Open ${what}`,
  change: (before: string, after: string) => `before: ${before} · after: ${after}`,
  origin: 'More about it',
  entry: 'Entry',
  address: 'Network address',
  request: 'Request',
  mode: 'Known by',
  instance: 'Vouched for by',
  yes: 'yes',
  noValue: 'none',
  no: 'no',
}

const german: typeof english = {
  title: 'Protokoll',
  count: (shown, total) =>
    total === 0
      ? 'Kein Eintrag.'
      : total === null
        ? `Die neuesten ${numberWords(shown)} Einträge; es gibt mehr als 10.000.`
        : shown < total
          ? `Die neuesten ${numberWords(shown)} von ${numberWords(total)} Einträgen.`
          : `${countOf(total, 'Eintrag', 'Einträge')}, neueste zuerst.`,
  narrow: 'Eingrenzen',
  narrowed: (n) => countOf(n, 'Filter gesetzt', 'Filter gesetzt'),
  person: 'Person',
  personHint: 'Die Person, die handelte oder für die gehandelt wurde, wie das Protokoll sie nennt.',
  thing: 'Art der Sache',
  id: 'Ihre Nummer',
  action: 'Handlung',
  from: 'Vom Tag',
  to: 'Bis zum Tag',
  wrongSpan: 'Der erste Tag liegt nach dem letzten.',
  all: 'alle',
  show: 'Zeigen',
  everything: 'Alles zeigen',
  download: 'Als Tabelle herunterladen (CSV)',
  noneLike: 'Kein Eintrag passt dazu. Weiter: einen der Filter weglassen.',
  none: 'Noch ist nichts eingetragen.',
  noneNext: 'Jede Handlung einer Person und jede Änderung am Gateway kommt hierher und wird nie geändert.',
  gateway: 'Das Gateway selbst',
  box: 'Jemand am Gerät',
  unknown: 'Jemand, der nicht angemeldet war',
  behalf: (actor, operator) => `${actor} für ${operator}`,
  concerns: (who, name) => `${who}, betrifft ${name}`,
  filterOf: (what) => `Nur ${what}`,
  open: (what) => `${what} öffnen`,
  change: (before, after) => `vorher: ${before} · nachher: ${after}`,
  origin: 'Mehr dazu',
  entry: 'Eintrag',
  address: 'Netzadresse',
  request: 'Anfrage',
  mode: 'Erkannt durch',
  instance: 'Verbürgt durch',
  yes: 'ja',
  noValue: 'keine Angabe',
  no: 'nein',
}

/** The texts of the audit trail. */
export const auditTexts = inLanguage({ en: english, de: german })
