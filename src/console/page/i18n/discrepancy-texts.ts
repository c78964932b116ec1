import { inLanguage } from './language.ts'

/** The names in a sentence besides slot and pallet. Undefined: the gateway does not know it, or this caller may not see it. */
export type Named = {
  readonly slot: string | undefined
  readonly pallet: string | undefined
  readonly count: number | undefined
}

type Words = {
  readonly what: (named: Named) => string
  readonly todo: string
  /** The remedy in place of `todo` where the pallet was placed elsewhere since. */
  readonly todoMoved?: string
}
type Kinds = Readonly<Record<string, Words>>

const english = {
  asset_in_two_slots: {
    what: ({ slot }) => `it was placed in ${slot ?? 'another slot'} since, and never taken out here`,
    todo: 'Check in which of the two it is, and report in which it is not.',
  },
  removed_elsewhere: {
    what: ({ slot }) => `it is shown here, but was taken out of ${slot ?? 'another slot'}`,
    todo: 'Check whether it is here, and report it: its removal here is recorded, or the one there is taken back.',
    todoMoved:
      'Check whether it is here. If it is, place it here again at /scan, with a new photo: it was placed elsewhere since.',
  },
  two_in_one_slot: {
    what: ({ pallet }) => `${pallet ?? 'another pallet'} was placed in the same slot after it`,
    todo: 'Check which of the two is there. Record where the other one is, or correct the placement.',
  },
  left_behind: {
    what: ({ pallet }) => `the slot was emptied by taking ${pallet ?? 'another pallet'} instead of it`,
    todo: 'Check which pallet is there; record its placement, or correct the removal.',
  },
  removed_not_there: {
    what: () => 'it was taken out of this slot, in which it was not',
    todo: 'Find out where it came from; record its placement late, or correct the removal.',
  },
  disputed: {
    what: () => 'a supervisor disputes the placement',
    todo: 'Look where the pallet is, and record that. Then a supervisor verifies the pallet, or resolves the dispute with a note.',
  },
  verified_mismatch: {
    what: ({ pallet }) =>
      `a supervisor judged ${pallet ?? 'another pallet'} in the slot, not the one that was placed there`,
    todo: 'Check which pallet is there; correct the placement, or the judgement.',
  },
  judged_while_empty: {
    what: () => 'a supervisor judged it in this slot, which is empty',
    todo: 'Check which pallet is there; record its placement, or correct the judgement.',
  },
  unregistered_asset: {
    what: () => 'no one has registered this pallet',
    todo: 'Register it with its type and weight, or correct the barcode.',
  },
  type_not_allowed: {
    what: () => 'this type of pallet is not allowed in the slot',
    todo: 'Move it, or change the constraints of the slot.',
  },
  overweight: {
    what: () => 'the pallet is heavier than the slot may carry',
    todo: 'Move it at once, or change the constraints of the slot.',
  },
  overheight: {
    what: () => 'the pallet is higher than the slot allows',
    todo: 'Move it, or change the constraints of the slot.',
  },
  count_difference: {
    what: ({ pallet, count }) =>
      pallet === undefined
        ? `the result of count ${count ?? '?'} does not match the ledger`
        : `count ${count ?? '?'} found ${pallet} there, and the ledger says otherwise`,
    todo: 'Have it counted again, or approve the count: that sets the ledger right.',
  },
  scan_mismatch: {
    what: () => 'it was placed with a scan of another slot or of another pallet',
    todo: 'Check which pallet is there; verify the placement, or correct it.',
  },
  photo_reused: {
    what: ({ slot }) =>
      `the photo of the placement proves another placement already${slot === undefined ? '' : `, in ${slot}`}`,
    todo: 'Check which pallet is there; verify the placement, or correct it with another photo.',
  },
  retired_slot_occupied: {
    what: () => 'the slot is retired, and something is in it',
    todo: 'Move it, or take the slot into use again.',
  },
} satisfies Kinds

const german: typeof english = {
  asset_in_two_slots: {
    what: ({ slot }) =>
      `sie wurde seither auf ${slot ?? 'einem anderen Stellplatz'} eingelagert und hier nie ausgelagert`,
    todo: 'Nachsehen, auf welchem der beiden sie steht, und angeben, auf welchem nicht.',
  },
  removed_elsewhere: {
    what: ({ slot }) => `sie wird hier gezeigt, wurde aber von ${slot ?? 'einem anderen Stellplatz'} ausgelagert`,
    todo: 'Nachsehen, ob sie hier steht, und es angeben: Die Auslagerung wird hier gebucht oder dort zurückgenommen.',
    todoMoved:
      'Nachsehen, ob sie hier steht. Wenn ja, sie unter /scan mit neuem Foto hier noch einmal einlagern: Sie wurde seither ' +
      'anderswo eingelagert.',
  },
  two_in_one_slot: {
    what: ({ pallet }) => `${pallet ?? 'eine andere Palette'} wurde danach auf denselben Stellplatz eingelagert`,
    todo: 'Nachsehen, welche der beiden dort steht. Buchen, wo die andere ist, oder die Einlagerung berichtigen.',
  },
  left_behind: {
    what: ({ pallet }) =>
      `der Stellplatz wurde geleert, indem statt ihr ${pallet ?? 'eine andere Palette'} entnommen wurde`,
    todo: 'Nachsehen, was dort steht; dessen Einlagerung buchen oder die Auslagerung berichtigen.',
  },
  removed_not_there: {
    what: () => 'sie wurde von diesem Stellplatz ausgelagert, auf dem sie nicht stand',
    todo: 'Klären, woher sie kam; ihre Einlagerung nachtragen oder die Auslagerung berichtigen.',
  },
  disputed: {
    what: () => 'die Schichtleitung beanstandet die Einlagerung',
    todo: 'Nachsehen, wo die Palette ist, und das buchen. Dann prüft die Schichtleitung die Palette oder erledigt die Beanstandung mit einer Notiz.',
  },
  verified_mismatch: {
    what: ({ pallet }) =>
      `die Schichtleitung hat dort ${pallet ?? 'eine andere Palette'} beurteilt, nicht die eingelagerte`,
    todo: 'Nachsehen, welche Palette dort steht; die Einlagerung oder das Urteil berichtigen.',
  },
  judged_while_empty: {
    what: () => 'die Schichtleitung hat sie auf diesem Stellplatz beurteilt, der frei ist',
    todo: 'Nachsehen, was dort steht; dessen Einlagerung buchen oder das Urteil berichtigen.',
  },
  unregistered_asset: {
    what: () => 'diese Palette hat niemand erfasst',
    todo: 'Sie mit Art und Gewicht erfassen oder den Barcode berichtigen.',
  },
  type_not_allowed: {
    what: () => 'diese Art ist auf dem Stellplatz nicht erlaubt',
    todo: 'Sie umlagern oder die Grenzen des Stellplatzes ändern.',
  },
  overweight: {
    what: () => 'die Palette ist schwerer, als der Stellplatz tragen darf',
    todo: 'Sie sofort umlagern oder die Grenzen des Stellplatzes ändern.',
  },
  overheight: {
    what: () => 'die Palette ist höher, als der Stellplatz erlaubt',
    todo: 'Sie umlagern oder die Grenzen des Stellplatzes ändern.',
  },
  count_difference: {
    what: ({ pallet, count }) =>
      pallet === undefined
        ? `das Ergebnis von Zählung ${count ?? '?'} passt nicht zum Lagerbuch`
        : `Zählung ${count ?? '?'} hat dort ${pallet} gefunden, und das Lagerbuch sagt etwas anderes`,
    todo: 'Noch einmal zählen lassen oder die Zählung freigeben: das stellt das Lagerbuch richtig.',
  },
  scan_mismatch: {
    what: () => 'sie wurde mit dem Scan eines anderen Stellplatzes oder einer anderen Palette eingelagert',
    todo: 'Nachsehen, welche Palette dort steht; die Einlagerung prüfen oder berichtigen.',
  },
  photo_reused: {
    what: ({ slot }) => `das Foto der Einlagerung belegt schon eine andere${slot === undefined ? '' : `, auf ${slot}`}`,
    todo: 'Nachsehen, welche Palette dort steht; die Einlagerung prüfen oder mit einem anderen Foto berichtigen.',
  },
  retired_slot_occupied: {
    what: () => 'der Stellplatz ist stillgelegt, und etwas steht darauf',
    todo: 'Sie umlagern oder den Stellplatz wieder in Betrieb nehmen.',
  },
}

/** Fault and remedy by the kind of a discrepancy; the names of slot and pallet come before them. */
export const discrepancyTexts: Kinds = inLanguage({ en: english, de: german })
