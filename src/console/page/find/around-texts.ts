import { countOf, numberWords } from '../i18n/counting.ts'
import { inLanguage } from '../i18n/language.ts'

const english = {
  onFloor: (slot: string) => `Show slot ${slot} on the floor plan`,
  inZone: (slot: string, zone: string) => `${slot} in zone ${zone}`,
  alike: 'If these goods are recalled',
  noneAlike: (hasLot: boolean): string =>
    hasLot ? 'No other pallet has this GTIN and lot.' : 'No other pallet has this GTIN. No lot is known of this one.',
  countAlike: (total: number, here: number, hasLot: boolean, isCut: boolean) =>
    `${countOf(total, 'other pallet has', 'other pallets have')} ${hasLot ? 'this GTIN and lot' : 'this GTIN; no lot is known of this one'}. ` +
    (isCut ? 'The first ones are listed.' : `${numberWords(here)} of them ${here === 1 ? 'is' : 'are'} in a slot.`),
  pallet: 'Pallet',
  place: 'Where it is',
  since: 'Since',
  hidden: 'in a place that you may not see',
  nowhere: 'in no slot',
  report: 'Report an incident',
  incidents: 'Incidents about this pallet',
  newestIncidents: (n: number) => `The newest ${numberWords(n)} are listed.`,
  counts: 'Counts that are under way',
  count: (name: string | number) => `Count ${name}`,
  counted: {
    to_count: (slot: string) => `${slot} is not counted yet.`,
    counted: (slot: string) => `${slot} is counted and waits for the review.`,
    to_recount: (slot: string) => `${slot} has to be counted again.`,
  },
}

const german: typeof english = {
  onFloor: (slot) => `Stellplatz ${slot} auf dem Hallenplan zeigen`,
  inZone: (slot, zone) => `${slot} im Bereich ${zone}`,
  alike: 'Falls diese Ware zurückgerufen wird',
  noneAlike: (hasLot) =>
    hasLot
      ? 'Keine andere Palette hat diese GTIN und Charge.'
      : 'Keine andere Palette hat diese GTIN. Von dieser ist keine Charge bekannt.',
  countAlike: (total, here, hasLot, isCut) =>
    `${countOf(total, 'andere Palette hat', 'andere Paletten haben')} ${hasLot ? 'diese GTIN und Charge' : 'diese GTIN; von dieser ist keine Charge bekannt'}. ` +
    (isCut
      ? 'Die ersten sind aufgeführt.'
      : `${numberWords(here)} davon ${here === 1 ? 'ist' : 'sind'} auf einem Stellplatz.`),
  pallet: 'Palette',
  place: 'Wo sie ist',
  since: 'Seit',
  hidden: 'an einem Platz, den Sie nicht sehen dürfen',
  nowhere: 'auf keinem Stellplatz',
  report: 'Vorfall melden',
  incidents: 'Vorfälle mit dieser Palette',
  newestIncidents: (n) => `Die neuesten ${numberWords(n)} sind aufgeführt.`,
  counts: 'Laufende Zählungen',
  count: (name) => `Zählung ${name}`,
  counted: {
    to_count: (slot) => `${slot} ist noch nicht gezählt.`,
    counted: (slot) => `${slot} ist gezählt und wartet auf die Durchsicht.`,
    to_recount: (slot) => `${slot} muss noch einmal gezählt werden.`,
  },
}

/** The texts of what is beside the story of a pallet: its place, goods like it, counts. */
export const aroundTexts = inLanguage({ en: english, de: german })
