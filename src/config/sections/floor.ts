import { z } from 'zod'
import { allDifferent } from '../cross-checks.ts'
import { duration, host, oneOf, text, textLike, wholeNumber } from '../kinds.ts'
import { callers, filledList, id, key } from './shared.ts'

/** Warnings of the ledger that `ledger.enforce` can turn into refusals. */
export const warningCodes = [
  'SLOT_ALREADY_OCCUPIED',
  'SLOT_EMPTY',
  'ASSET_ELSEWHERE',
  'ASSET_MISMATCH',
  'UNKNOWN_ASSET',
  'TYPE_NOT_ALLOWED',
  'OVERWEIGHT',
  'OVERHEIGHT',
  'SELF_VERIFIED',
  'OPERATOR_DIFFERS',
  'LATE_EVENT',
  'CLOCK_AHEAD',
  'NO_EFFECT',
  'PHOTO_NOT_HELD',
  'PHOTO_TIME_MISMATCH',
  'SLOT_RETIRED',
  'SCAN_MISMATCH',
  'PHOTO_REUSED',
  'BARCODE_CHECK_DIGIT',
  'BARCODE_NOT_GS1',
  'BARCODE_AGAINST_GS1',
] as const

export const ledger = {
  maxAge: key(
    duration().nullable().prefault(null),
    'Events older than this are refused; null: late events are always taken.',
    { example: '7d' },
  ),
  enforce: key(
    z.array(oneOf(warningCodes)).prefault([]),
    'Warnings that refuse an event instead of being recorded with it. UNKNOWN_ASSET implies assets: registered, and ' +
      'PHOTO_NOT_HELD implies photos: held.',
    { example: ['OVERWEIGHT'] },
  ),
  assets: key(
    oneOf(['any', 'registered']).prefault('any'),
    'Assets that the site expects in events; with registered, any other one is a warning (UNKNOWN_ASSET) and a discrepancy.',
  ),
  photos: key(
    oneOf(['any', 'held']).prefault('any'),
    'Photos that the site expects in events; with held, one that the gateway does not hold is a warning (PHOTO_NOT_HELD).',
  ),
}

const defaultStages = ['registered', 'receiving', 'inspecting', 'storing', 'staging', 'loading', 'departed']

export const units = {
  stages: key(
    filledList(text(64), 100, 'a list of 1 to 100 stages, each only once').refine(allDifferent).prefault(defaultStages),
    'Stages of a transport unit in their order; with the last one it is completed.',
  ),
}

export const warehouse = {
  id: key(id(), 'The warehouse.', { example: 1 }),
  viewers: key(callers(), "Users and groups who may see it, named as a camera's; empty: everybody.", {
    example: ['group:wh-supervisors'],
  }),
}

const labelSize = () =>
  textLike(
    /^(?:[2-9]\d|1\d\d|2[01]\d)x(?:[1-9]\d|[12]\d\d|300)$/,
    'width x height in millimetres, such as 100x50, from 20x10 to 219x300',
  )

/** Resolutions of label print heads, in dots an inch. */
export const printerDpis = [152, 203, 300, 600] as const

const dpi = () => wholeNumber(152, 600, 'dots an inch').refine((value) => printerDpis.some((one) => one === value))

const sscc = {
  companyPrefix: key(
    textLike(/^\d{4,12}$/, 'a GS1 Company Prefix of 4 to 12 digits'),
    'The GS1 Company Prefix under which this site numbers its pallets.',
    { example: '0614141' },
  ),
  extensionDigit: key(
    wholeNumber(0, 9).prefault(0),
    'First digit of the numbers; one for each gateway that shares the prefix.',
  ),
}

export const labels = {
  size: key(labelSize().prefault('100x50'), 'Width and height of a label in millimetres.'),
  sscc: key(
    z.strictObject(sscc).nullable().prefault(null),
    'Numbers for pallets that have none; null: the gateway gives none.',
  ),
}

export const printer = {
  name: key(text(64), 'Name by which a print job asks for it.', { example: 'dock-1' }),
  host: key(host(), 'Its address or host name; its port is in port.', { example: '10.0.0.41' }),
  port: key(wholeNumber(1, 65_535).prefault(9100), 'Its raw port.'),
  dpi: key(dpi().prefault(203), 'Dots an inch of its head: 152, 203, 300 or 600.'),
  size: key(labelSize().nullable().prefault(null), 'The labels in it; null: labels.size.', { example: '100x50' }),
  timeout: key(duration().prefault('10s'), 'How long it may keep the gateway waiting before an attempt has failed.'),
  giveUpAfter: key(duration().prefault('24h'), 'Age at which a label that could not be printed is given up.'),
}
