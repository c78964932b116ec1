import { membersOf } from '../data/parsing.ts'

/** How the names begin under which this browser keeps plans that are not saved. */
export const keptPlans = 'gatehouse.plan '
const keptMs = 30 * 86_400_000

/** Drops kept plans that no one changed for 30 days: their names hold the name of a person. */
export function forgetOldPlans(nowMs: number): void {
  try {
    for (const place of Object.keys(localStorage)) {
      if (!place.startsWith(keptPlans)) continue
      // A time that cannot be read is none that is new.
      if (!(keptAtMs(localStorage.getItem(place)) > nowMs - keptMs)) localStorage.removeItem(place)
    }
  } catch {
    // A browser that keeps nothing has nothing to drop.
  }
}

function keptAtMs(text: string | null): number {
  try {
    return Date.parse(String(membersOf(JSON.parse(text ?? 'null'))['at'] ?? ''))
  } catch {
    return Number.NaN
  }
}
