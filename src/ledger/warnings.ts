import { warningCodes } from '../config/index.ts'
import { barcodeWarningText } from '../warehouse/index.ts'

export { warningCodes }
export type WarningCode = (typeof warningCodes)[number]

/**
 * The sentence of each warning, for the person with the scanner. An event with warnings is recorded, because physical truth
 * is never refused; `ledger.enforce` in the config can turn any of these into a refusal.
 */
export const warningText = {
  SLOT_ALREADY_OCCUPIED: 'the slot already holds a pallet according to the ledger',
  SLOT_EMPTY: 'the slot is empty according to the ledger',
  ASSET_ELSEWHERE: 'the pallet is in another slot according to the ledger',
  ASSET_MISMATCH: 'the slot holds another pallet according to the ledger',
  UNKNOWN_ASSET: 'the barcode is not a registered asset',
  TYPE_NOT_ALLOWED: 'this type of asset is not allowed in the slot',
  OVERWEIGHT: 'the weight exceeds what the slot may carry',
  OVERHEIGHT: 'the asset is higher than the slot allows',
  SELF_VERIFIED: 'the placement is verified by the person who made it',
  OPERATOR_DIFFERS: 'the operator is not the signed-in user',
  LATE_EVENT: 'the event happened before others that are recorded already, or over 5 minutes ago',
  CLOCK_AHEAD: 'the device clock is ahead of the gateway',
  NO_EFFECT: 'the event changes nothing',
  PHOTO_NOT_HELD: 'the gateway does not hold the photo itself',
  PHOTO_TIME_MISMATCH: 'the photo was taken at another time than the event',
  SLOT_RETIRED: 'the slot is out of use',
  SCAN_MISMATCH: 'the scan names another slot or another pallet than the event',
  PHOTO_REUSED: 'the photo proves another placement already',
  ...barcodeWarningText,
} as const satisfies Record<WarningCode, string>

/** Requirements of a site for assets and photos: keys of `ledger` in the config. */
export type Requirements = {
  readonly assets: 'any' | 'registered'
  readonly photos: 'any' | 'held'
  readonly enforce: readonly WarningCode[]
}

/** Returns whether the site registers its assets: a site that refuses unknown ones does. */
export const asksForRegistered = ({ assets, enforce }: Requirements): boolean =>
  assets === 'registered' || enforce.includes('UNKNOWN_ASSET')

/** Returns whether the photos of placements must be held here: a site that refuses others demands it. */
export const asksForHeld = ({ photos, enforce }: Requirements): boolean =>
  photos === 'held' || enforce.includes('PHOTO_NOT_HELD')

/** Returns codes with their sentences. The codes were recorded with the event; the sentences are those of today. */
export function explain(codes: readonly WarningCode[]): { code: WarningCode; message: string }[] {
  return codes.map((code) => ({ code, message: warningText[code] }))
}
