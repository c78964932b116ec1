import { linesOf } from '../data/count-data.ts'

export type LabelForm = {
  readonly kind: 'slots' | 'pallets'
  /** `typed`, or `zone ID`. */
  readonly zone: string
  readonly codes: string
  readonly symbology: string
  readonly size: string
  readonly copies: string
}

/** Labels of one order: each is a request, so more would take the gateway's patience. */
export const mostLabels = 500
/** Labels on one sheet: each picture is a request, and a caller has about a hundred a minute. */
export const onSheet = 40

type ZoneSlots = readonly {
  readonly slot_id: string
  readonly zoneId: number | null
  readonly retiredAt: string | null
}[]

/** Returns the codes to label, in their order, each once; of a zone the slots that are in use. Pure. */
export const codesOf = ({ kind, zone, codes }: LabelForm, slots: ZoneSlots): readonly string[] =>
  kind === 'slots' && zone !== 'typed'
    ? slots
        .filter(({ zoneId }) => `zone ${zoneId}` === zone)
        .filter(({ retiredAt }) => retiredAt === null)
        .map(({ slot_id }) => slot_id)
    : linesOf(codes)

export type Wrong = 'none' | 'tooMany' | 'size' | 'copies'

/** Returns which field of the order is wrong; undefined when none is. Pure. */
export function wrongIn(form: LabelForm, codes: readonly string[]): Wrong | undefined {
  if (codes.length === 0) return 'none'
  if (codes.length > mostLabels) return 'tooMany'
  if (form.size.trim() !== '' && !/^[1-9]\d{1,2}x[1-9]\d{1,2}$/.test(form.size.trim())) return 'size'
  const copies = Number(form.copies)
  return Number.isInteger(copies) && copies >= 1 && copies <= 100 ? undefined : 'copies'
}

/** Returns the address of a label's picture. Pure. */
export function pictureOf({ kind, symbology, size }: LabelForm, code: string): string {
  const query = new URLSearchParams({
    format: 'svg',
    ...(kind === 'slots' && { by: 'slot_id' }),
    ...(symbology !== 'auto' && { symbology }),
    ...(size.trim() !== '' && { size: size.trim() }),
  })
  return `/api/whms/${kind === 'slots' ? 'slots' : 'assets'}/${encodeURIComponent(code)}/label?${query}`
}

/** Returns the print order of a label. Pure. */
export const printOf = ({ kind, symbology, copies }: LabelForm, code: string, printer: string) => ({
  printer,
  ...(kind === 'slots' ? { slot_code: code } : { asset_barcode: code }),
  copies: Number(copies),
  ...(symbology !== 'auto' && { symbology }),
})
