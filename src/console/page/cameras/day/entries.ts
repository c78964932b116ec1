import type { Day } from '../../data/day-line.ts'
import type { Detection, Gap } from '../../data/shapes.ts'

export type DayDetection = Detection & {
  readonly score: number
  readonly trigger: 'motion' | 'camera' | 'event'
  readonly kinds: readonly string[]
  readonly reason: string | null
  readonly clipStart: string | null
  readonly clipEnd: string | null
}

/** An entry of a camera's day, in the order of time: a detection, or a time in which it did not watch. */
export type Entry = { readonly key: string; readonly fromMs: number; readonly toMs: number } & (
  | { readonly kind: 'detection'; readonly detection: DayDetection }
  | { readonly kind: 'gap'; readonly gap: Gap }
)

/** Returns the entries of a day, oldest first; a gap that lasts ends now. Pure. */
export function entriesOf(detections: readonly DayDetection[], gaps: readonly Gap[], day: Day, nowMs: number): Entry[] {
  const entries: Entry[] = [
    ...detections.map((detection): Entry => {
      const atMs = Date.parse(detection.timestamp)
      const fromMs = detection.clipStart === null ? atMs : Date.parse(detection.clipStart)
      const toMs = detection.clipEnd === null ? atMs : Date.parse(detection.clipEnd)
      return { key: `detection ${detection.id}`, kind: 'detection', detection, fromMs, toMs }
    }),
    ...gaps.map((gap): Entry => {
      const toMs = gap.to === null ? nowMs : Date.parse(gap.to)
      return { key: `gap ${gap.from}`, kind: 'gap', gap, fromMs: Date.parse(gap.from), toMs }
    }),
  ]
  return entries
    .filter(({ fromMs, toMs }) => toMs >= day.fromMs && fromMs < day.toMs)
    .toSorted((a, b) => a.fromMs - b.fromMs || (a.key < b.key ? -1 : 1))
}
