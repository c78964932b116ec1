/**
 * Why motion of a camera cannot be found though its pictures come. The first three come from `view-watch.ts` and the frames. With
 * `few_pictures` the stream has fewer than 3 a second. With `too_busy` gatehouse left most of them unjudged. With `no_events` the
 * analytics of the camera alone find motion, and the gateway has no subscription to their events.
 */
export const impairments = ['still', 'covered', 'turned', 'few_pictures', 'too_busy', 'no_events'] as const
export type Impairment = (typeof impairments)[number]

/** Whether something impairs a camera, and the start of this state in monotonic milliseconds. */
export type Trouble = { readonly isBad: boolean; readonly sinceMs: number }
export const neverBad: Trouble = { isBad: false, sinceMs: -Infinity }

/** Impairment of a camera; null since the last one ended. */
export type Impaired = { readonly why: Impairment | null; readonly sinceMs: number }

/** Returns the first thing that impairs, in the order of `impairments`; when nothing does, since the last one ended. */
export function impairedBy(findings: Readonly<Record<Impairment, Trouble>>): Impaired {
  const why = impairments.find((one) => findings[one].isBad)
  if (why !== undefined) return { why, sinceMs: findings[why].sinceMs }
  return { why: null, sinceMs: Math.max(...impairments.map((one) => findings[one].sinceMs)) }
}

/** Number of the newest frames that are counted: five seconds. */
const lookedAt = 25
/** Frames of these that are left out. Above the first number, fewer than 3 a second remain; at the second, 4 do. */
const mostLeftOut = 10
const fewLeftOut = 5

/** Sees that most frames are dropped before they are judged, so that motion is missed. Takes them in their order. */
export class JudgedShare {
  /** When each of the newest frames was taken, and whether it was judged. */
  #recent: { readonly takenMs: number; readonly isJudged: boolean }[] = []
  #trouble = neverBad

  /** Bad from the first frame that was left out to the last one. */
  get trouble(): Trouble {
    return this.#trouble
  }

  add(takenMs: number, isJudged: boolean): void {
    const newest = [...this.#recent.slice(1 - lookedAt), { takenMs, isJudged }]
    const leftOut = newest.filter((frame) => !frame.isJudged)
    if (!this.#trouble.isBad && leftOut.length > mostLeftOut) {
      this.#trouble = { isBad: true, sinceMs: leftOut[0]?.takenMs ?? takenMs }
    } else if (this.#trouble.isBad && leftOut.length <= fewLeftOut) {
      this.#trouble = { isBad: false, sinceMs: leftOut.at(-1)?.takenMs ?? takenMs }
    }
    this.#recent = newest
  }

  /** Begins again: another connection. */
  reset(nowMs: number): void {
    this.#recent = []
    if (this.#trouble.isBad) this.#trouble = { isBad: false, sinceMs: nowMs }
  }
}
