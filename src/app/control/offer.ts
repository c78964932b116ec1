import type { Config } from '../../config/index.ts'
import { isNewerRelease } from '../../feed/index.ts'
import { isWithinHours, parseWeeklyHours } from '../../platform/index.ts'

/**
 * A version that the head office offers. `isTakenNow`: the config of this box lets it be installed now; `why` gives the reason in
 * words.
 */
export type OfferNow = { readonly version: string; readonly isTakenNow: boolean; readonly why: string }

/** `timezone`: of the warehouse. */
type Now = { readonly running: string; readonly atMs: number; readonly timezone: string }

/**
 * Decides what this box does with an offered version. Its own config alone decides; a version that is not newer than the running one is
 * no offer. Pure.
 */
export function offerNow(
  offered: string | null,
  { offers, window }: Config['updates'],
  { running, atMs, timezone }: Now,
): OfferNow | null {
  if (offered === null || offers === 'ignore' || !isNewerRelease(offered, running)) return null
  if (offers === 'show')
    return { version: offered, isTakenNow: false, why: 'updates.offers is show: a person installs it' }
  const hours = window.map(parseWeeklyHours).filter((one) => one !== undefined)
  const isTakenNow = isWithinHours(hours, timezone, atMs)
  const times = `updates.window (${window.join(', ')} in ${timezone})`
  return { version: offered, isTakenNow, why: isTakenNow ? `it is within ${times}` : `it is outside ${times}` }
}
