import { dateAfter, dateIn, dayOf } from '../data/day-line.ts'

export type Days = { readonly from: string; readonly to: string }

/** Returns the days of a quick choice, by the hall's calendar: none of them is today, which is not over. Pure. */
export function quickDays(choice: 'yesterday' | 'week' | 'month', nowMs: number, timeZone: string | undefined): Days {
  const to = dateAfter(dateIn(nowMs, timeZone), -1)
  if (choice === 'yesterday') return { from: to, to }
  if (choice === 'week') return { from: dateAfter(to, -6), to }
  const first = `${dateIn(nowMs, timeZone).slice(0, 8)}01`
  const lastOfBefore = dateAfter(first, -1)
  return { from: `${lastOfBefore.slice(0, 8)}01`, to: lastOfBefore }
}

/** Returns the time span of whole days of the hall; undefined when they are no days or in the wrong order. Pure. */
export function spanOf({ from, to }: Days, timeZone: string | undefined): { from: string; to: string } | undefined {
  const form = /^\d{4}-\d{2}-\d{2}$/
  if (!form.test(from) || !form.test(to) || from > to) return undefined
  return {
    from: new Date(dayOf(from, timeZone).fromMs).toISOString(),
    to: new Date(dayOf(to, timeZone).toMs).toISOString(),
  }
}
