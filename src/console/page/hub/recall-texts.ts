import { inLanguage, locale } from '../i18n/language.ts'
import { firstOf, many } from './words.ts'

const english = {
  title: 'Recall over all sites',
  lot: 'Lot (empty: every lot)',
  gtin: 'GTIN (empty: every item)',
  go: 'List pallets',
  hint: 'Lists every pallet of a lot, and where it is now, item by item.',
  empty: 'Type a lot, a GTIN, or both.',
  item: (gtin: string | null) => (gtin === null ? 'Item not known' : `GTIN ${gtin}`),
  items: (n: number) =>
    `${many(n, 'item has', 'items have')} this lot number. Check which one you mean before you send the list.`,
  ofLot: 'Lot',
  wrongGtin: 'This GTIN is not right: 8, 12, 13 or 14 digits, the last of them a check digit.',
  wrongLot: 'This lot is not right: 90 characters at most.',
  none: {
    item: 'No site that you may see knows a pallet of this item. Compare the GTIN with the label, or ask by the lot alone.',
    lot: (lot: string) =>
      `No site that you may see knows a pallet of lot ${lot}. Compare it with the label: capitals, hyphens and leading zeros count. A site knows a lot only from the barcode of a pallet, or because somebody entered it.`,
  },
  found: (pallets: number, sites: number) => `${many(pallets, 'pallet', 'pallets')} at ${many(sites, 'site', 'sites')}`,
  besides: {
    in_transit: (n: number) => `${n.toLocaleString(locale)} on the way`,
    left: (n: number) => `${n.toLocaleString(locale)} taken out`,
  },
  behind: (sites: readonly string[]) =>
    `${many(sites.length, 'site is', 'sites are')} not up to date, and this list may be wrong for ${sites.length === 1 ? 'it' : 'them'}: ${firstOf(sites, (n) => `${n.toLocaleString(locale)} more`)}.`,
  behindFor: {
    forked: 'a fork: its log takes no more entries',
    late: (when: string | null) => (when === null ? 'never in contact' : `last contact ${when}`),
    missing: (n: number) => `${many(n, 'log entry', 'log entries')} missing here`,
  },
  more: 'These are the first pallets. The file has all of them.',
  state: 'State',
  states: { here: 'there', left: 'taken out', in_transit: 'on the way', two_places: 'in two places' },
  copy: 'Copy list',
  copied: 'The list is copied.',
  notCopied: 'This browser does not allow copying here. Use the file.',
  print: 'Print',
  pallet: 'Pallet',
}

const german: typeof english = {
  title: 'Rückruf über alle Standorte',
  lot: 'Charge (leer: jede)',
  gtin: 'GTIN (leer: jeder Artikel)',
  go: 'Paletten auflisten',
  hint: 'Listet jede Palette einer Charge, und wo sie jetzt ist, Artikel für Artikel.',
  empty: 'Bitte Charge oder GTIN eingeben, oder beides.',
  item: (gtin) => (gtin === null ? 'Artikel nicht bekannt' : `Artikel mit der GTIN ${gtin}`),
  items: (n) =>
    `${many(n, 'Artikel hat', 'Artikel haben')} diese Chargennummer. Vor dem Versenden prüfen, welcher gemeint ist.`,
  ofLot: 'Charge',
  wrongGtin: 'Diese GTIN stimmt nicht: 8, 12, 13 oder 14 Ziffern, die letzte ist eine Prüfziffer.',
  wrongLot: 'Diese Charge stimmt nicht: höchstens 90 Zeichen.',
  none: {
    item: 'Kein Standort, den Sie sehen dürfen, kennt eine Palette dieses Artikels. GTIN mit dem Etikett vergleichen, oder nur mit der Charge fragen.',
    lot: (lot) =>
      `Kein Standort, den Sie sehen dürfen, kennt eine Palette der Charge ${lot}. Bitte mit dem Etikett vergleichen: Großbuchstaben, Bindestriche und führende Nullen zählen. Ein Standort kennt die Charge nur von Paletten, deren Barcode sie enthält oder bei denen sie eingetragen ist.`,
  },
  found: (pallets, sites) => `${many(pallets, 'Palette', 'Paletten')} an ${many(sites, 'Standort', 'Standorten')}`,
  besides: {
    in_transit: (n) => `${n.toLocaleString(locale)} unterwegs`,
    left: (n) => `${n.toLocaleString(locale)} ausgelagert`,
  },
  behind: (sites) =>
    `${many(sites.length, 'Standort ist', 'Standorte sind')} nicht auf dem neuesten Stand, und diese Liste kann für ${sites.length === 1 ? 'ihn' : 'sie'} falsch sein: ${firstOf(sites, (n) => `${n.toLocaleString(locale)} weitere`)}.`,
  behindFor: {
    forked: 'Abspaltung: sein Log nimmt keine Einträge mehr an',
    late: (when) => (when === null ? 'noch nie in Kontakt' : `letzter Kontakt ${when}`),
    missing: (n) => `hier ${n === 1 ? 'fehlt' : 'fehlen'} ${many(n, 'Eintrag', 'Einträge')}`,
  },
  more: 'Das sind die ersten Paletten. In der Datei stehen alle.',
  state: 'Zustand',
  states: { here: 'dort', left: 'ausgelagert', in_transit: 'unterwegs', two_places: 'an zwei Orten' },
  copy: 'Liste kopieren',
  copied: 'Die Liste ist kopiert.',
  notCopied: 'Dieser Browser erlaubt hier kein Kopieren. Bitte die Datei nehmen.',
  print: 'Drucken',
  pallet: 'Palette',
}

/** The texts of a recall at the head office. */
export const recallTexts = inLanguage({ en: english, de: german })
