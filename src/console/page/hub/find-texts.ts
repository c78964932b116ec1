import { inLanguage } from '../i18n/language.ts'
import type { Way } from './words.ts'

const english = {
  title: 'Find on any site',
  code: 'Barcode or SSCC',
  go: 'Find',
  hint: 'Scan or type a code. It is looked for on every site that you may see.',
  unknown: (code: string) =>
    `No site that you may see knows ${code}. Compare it with the label. A pallet is known from its first scan on, and a site that is out of contact sends it later.`,
  toSites: 'Which sites are out of contact',
  states: {
    here: (slots: string) => `It is at ${slots}.`,
    left: () => 'It is in no slot of any site that knows it.',
    in_transit: () => 'On its way.',
    two_places: (slots: string) =>
      `In two places: ${slots}. It was placed at one and never taken out at the other. Look at both slots.`,
  },
  slotAt: (site: string, slot: string) => `${site}, slot ${slot}`,
  and: ' and ',
  onItsWay: ({ from, to, unit, since }: Way) =>
    `On its way from ${from}${to === undefined ? '' : ` to ${to}`}, with the transport unit ${unit}, whose last step was on ${since}.`,
  now: 'At each site that knows it',
  site: 'Site',
  slot: 'Slot',
  since: 'Since',
  verified: 'verified',
  gone: 'taken out',
  trail: 'From site to site',
  moves: { PLACED: 'Placed', REMOVED: 'Taken out' },
  entry: (seq: number) => `log entry ${seq}`,
  proof: (seq: number) => `log entry ${seq} with its proof`,
  behind: 'Lost by a restore',
  behindHint:
    'These moves were recorded and signed, but the site went back to an older copy. They are evidence and no part of the history.',
}

const german: typeof english = {
  title: 'An jedem Standort suchen',
  code: 'Barcode oder SSCC',
  go: 'Suchen',
  hint: 'Code scannen oder eingeben. Gesucht wird an jedem Standort, den Sie sehen dürfen.',
  unknown: (code) =>
    `Kein Standort, den Sie sehen dürfen, kennt ${code}. Bitte mit dem Etikett vergleichen. Eine Palette ist ab dem ersten Scan bekannt, und ein Standort ohne Kontakt sendet sie später.`,
  toSites: 'Welche Standorte ohne Kontakt sind',
  states: {
    here: (slots) => `Steht in ${slots}.`,
    left: () => 'Sie steht an keinem Standort, der sie kennt, in einem Stellplatz.',
    in_transit: () => 'Unterwegs.',
    two_places: (slots) =>
      `An zwei Orten: ${slots}. An einem wurde sie eingelagert und am anderen nie ausgelagert. Bitte beide Stellplätze ansehen.`,
  },
  slotAt: (site, slot) => `${site}, Stellplatz ${slot}`,
  and: ' und ',
  onItsWay: ({ from, to, unit, since }) =>
    `Unterwegs von ${from}${to === undefined ? '' : ` nach ${to}`}, mit der Transporteinheit ${unit}, deren letzter Schritt am ${since} war.`,
  now: 'An jedem Standort, der sie kennt',
  site: 'Standort',
  slot: 'Stellplatz',
  since: 'Seit',
  verified: 'geprüft',
  gone: 'ausgelagert',
  trail: 'Von Standort zu Standort',
  moves: { PLACED: 'Eingelagert', REMOVED: 'Ausgelagert' },
  entry: (seq) => `Eintrag ${seq}`,
  proof: (seq) => `Eintrag ${seq} mit Beweis`,
  behind: 'Durch eine Wiederherstellung verloren',
  behindHint:
    'Diese Bewegungen wurden erfasst und signiert, doch der Standort ging auf einen älteren Stand zurück. Sie sind Beweis und kein Teil des Verlaufs.',
}

/** The texts of the search at the head office. */
export const findTexts = inLanguage({ en: english, de: german })
