/**
 * Decides from when to when a camera did not watch, and why. Pure: all times are arguments, monotonic, in milliseconds, so a
 * change of the wall clock makes no gap longer, shorter or negative.
 */
import { impairments } from '../video/index.ts'

/** Why a camera that should have watched did not. The impairments are those under which its pictures come all the time. */
export const gapCauses = [
  'offline',
  'refused',
  'stalled',
  'disarmed',
  'cooldown',
  'disk_full',
  'daemon_down',
  'restarted',
  'no_keyframe',
  'outside_hours',
  ...impairments,
] as const
export type GapCause = (typeof gapCauses)[number]

export type OpenGap = {
  readonly cause: GapCause
  /** The problem, in words for the admin. */
  readonly detail: string | null
  readonly fromMs: number
  /** Start of the present attempt to get pictures; its outcome is the cause from then on. */
  readonly attemptMs: number | null
  /** Whether the gap before it ends where this one begins. Then it counts however short it is. */
  readonly follows: boolean
  /**
   * When it ends by itself, though pictures come all the time. Null: with the next picture; or, while pictures come, when what
   * impairs the camera ends.
   */
  readonly untilMs: number | null
}

export type Watch = {
  /** Whether pictures come. */
  readonly receiving: boolean
  /** Up to here everything is decided; no gap begins before. */
  readonly decidedMs: number
  readonly open: OpenGap | null
}

export type ClosedGap = {
  readonly cause: GapCause
  readonly detail: string | null
  readonly fromMs: number
  readonly toMs: number
}

export type WatchEvent =
  /** A picture came at `atMs`, and others follow. */
  | { readonly kind: 'pictures'; readonly atMs: number }
  /** No pictures come; the last one was taken at `sinceMs`. `ofAttempt`: this is the outcome of the present attempt. */
  | {
      readonly kind: 'none'
      readonly sinceMs: number
      readonly atMs: number
      readonly cause: GapCause
      readonly detail: string | null
      readonly ofAttempt: boolean
    }
  /** An attempt to get pictures begins. */
  | { readonly kind: 'trying'; readonly atMs: number }
  /** Pictures came before and after this time, and none of it. */
  | {
      readonly kind: 'missing'
      readonly fromMs: number
      readonly toMs: number
      readonly cause: GapCause
      readonly detail: string
    }
  /** Something moved, and nothing can be recorded until the cooldown is over. */
  | { readonly kind: 'cooldown'; readonly fromMs: number; readonly untilMs: number; readonly detail: string }
  /** Pictures come, but motion cannot be found in them since `sinceMs`; reported again and again while it lasts. */
  | {
      readonly kind: 'impaired'
      readonly sinceMs: number
      readonly atMs: number
      readonly cause: GapCause
      readonly detail: string
    }
  /** Nothing impairs the camera any more since `sinceMs`. */
  | { readonly kind: 'unimpaired'; readonly sinceMs: number }
  /** Time has passed. */
  | { readonly kind: 'tick'; readonly atMs: number }

export type WatchStep = { readonly watch: Watch; readonly closed: readonly ClosedGap[] }

/** Pictures that are missing for less than this are no gap: networks and cameras hiccup. */
export const smallestGapMs = 2000

/** Returns the watch of a camera that has given no pictures since `fromMs`. */
export function notWatching(gap: Pick<OpenGap, 'cause' | 'detail' | 'fromMs' | 'attemptMs'>): Watch {
  return { receiving: false, decidedMs: gap.fromMs, open: { ...gap, follows: false, untilMs: null } }
}

/** Returns the watch after an event, and the gaps that have ended, oldest first. They never overlap. */
export function watchStep(watch: Watch, event: WatchEvent): WatchStep {
  switch (event.kind) {
    case 'pictures':
      return pictures(watch, event.atMs)
    case 'none':
      return watch.receiving ? lose(watch, event) : remain(watch, event)
    case 'trying':
      return stay(watch.open ? { ...watch, open: { ...watch.open, attemptMs: event.atMs } } : watch)
    case 'missing':
      return miss(watch, event)
    case 'cooldown':
      return cool(watch, event)
    case 'impaired':
      return impair(watch, event)
    case 'unimpaired':
      return restore(watch, event.sinceMs)
    case 'tick':
      return tick(watch, event.atMs)
  }
}

/** Returns when the next tick is due; undefined when time alone changes nothing. */
export function watchDueMs({ open }: Watch): number | undefined {
  return open?.untilMs ?? undefined
}

/** A picture from before the attempt came late, from a process that was replaced. */
function pictures(watch: Watch, atMs: number): WatchStep {
  const { receiving, open } = watch
  if (receiving) return stay(watch)
  if (open && atMs < (open.attemptMs ?? open.fromMs)) return stay(watch)
  return { watch: { receiving: true, decidedMs: atMs, open: null }, closed: open ? end(open, atMs) : [] }
}

type NoPictures = Extract<WatchEvent, { kind: 'none' }>

function lose({ open, decidedMs }: Watch, { cause, detail, sinceMs, atMs }: NoPictures): WatchStep {
  const fromMs = Math.max(Math.min(sinceMs, atMs), open?.fromMs ?? decidedMs)
  const closed = open ? end(open, fromMs) : []
  const next = { cause, detail, fromMs, attemptMs: null, follows: closed.length > 0, untilMs: null }
  return { watch: { receiving: false, decidedMs: fromMs, open: next }, closed }
}

/** Splits the gap where its cause changes. A first part that is too short to count takes the new cause. */
function remain({ open, decidedMs }: Watch, event: NoPictures): WatchStep {
  const { cause, detail, ofAttempt, atMs } = event
  if (!open) return stay(notWatching({ cause, detail, fromMs: Math.min(event.sinceMs, atMs), attemptMs: null }))
  if (open.cause === cause)
    return stay({ receiving: false, decidedMs, open: { ...open, detail: detail ?? open.detail, attemptMs: null } })
  const changeMs = Math.max(open.fromMs, (ofAttempt ? open.attemptMs : null) ?? atMs)
  const closed = end(open, changeMs)
  const isTaken = closed.length === 0
  const next = { ...open, cause, detail, attemptMs: null, ...(!isTaken && { fromMs: changeMs, follows: true }) }
  return { watch: { receiving: false, decidedMs: next.fromMs, open: next }, closed }
}

/** A gap that lasts, or that ended after this time began, has its own cause. The rest of this time is another gap. */
function miss(watch: Watch, { fromMs, toMs, cause, detail }: Extract<WatchEvent, { kind: 'missing' }>): WatchStep {
  const { receiving, open, decidedMs } = watch
  const beginMs = Math.max(fromMs, decidedMs)
  if (!receiving || open || toMs - beginMs < smallestGapMs) return stay(watch)
  return { watch: { ...watch, decidedMs: toMs }, closed: [{ cause, detail, fromMs: beginMs, toMs }] }
}

function cool(watch: Watch, { fromMs, untilMs, detail }: Extract<WatchEvent, { kind: 'cooldown' }>): WatchStep {
  const { receiving, open, decidedMs } = watch
  const beginMs = Math.max(fromMs, decidedMs)
  if (!receiving || untilMs <= beginMs) return stay(watch)
  if (open && isImpaired(watch)) {
    // An impairment of the camera is reported again when the cooldown is over, and continues from there.
    const fromMs = Math.max(beginMs, open.fromMs)
    const cooling = { cause: 'cooldown' as const, detail, fromMs, attemptMs: null, follows: true, untilMs }
    return { watch: { ...watch, open: cooling }, closed: end(open, fromMs) }
  }
  if (open) return stay({ ...watch, open: { ...open, untilMs: Math.max(open.untilMs ?? untilMs, untilMs) } })
  return stay({
    ...watch,
    open: { cause: 'cooldown', detail, fromMs: beginMs, attemptMs: null, follows: true, untilMs },
  })
}

const isImpaired = ({ receiving, open }: Watch) => receiving && open !== null && open.untilMs === null

/** A cooldown that lasts keeps its time. The first reported impairment is the cause until another one is reported. */
function impair(watch: Watch, { sinceMs, atMs, cause, detail }: Extract<WatchEvent, { kind: 'impaired' }>): WatchStep {
  const { receiving, open, decidedMs } = watch
  if (!receiving || open?.cause === cause || (open && !isImpaired(watch))) return stay(watch)
  const fromMs = open ? Math.max(atMs, open.fromMs) : Math.max(Math.min(sinceMs, atMs), decidedMs)
  const next = { cause, detail, fromMs, attemptMs: null, follows: fromMs === decidedMs || open !== null, untilMs: null }
  return { watch: { ...watch, open: next }, closed: open ? end(open, fromMs) : [] }
}

function restore(watch: Watch, sinceMs: number): WatchStep {
  const { open } = watch
  if (!open || !isImpaired(watch)) return stay(watch)
  const toMs = Math.max(sinceMs, open.fromMs)
  return { watch: { ...watch, decidedMs: toMs, open: null }, closed: end(open, toMs) }
}

function tick(watch: Watch, atMs: number): WatchStep {
  const { open } = watch
  if (open?.untilMs == null || atMs < open.untilMs) return stay(watch)
  return { watch: { ...watch, decidedMs: open.untilMs, open: null }, closed: end(open, open.untilMs) }
}

/** Returns the gap that has ended; none when it was too short to count. */
function end({ cause, detail, fromMs, follows, untilMs }: OpenGap, atMs: number): ClosedGap[] {
  const toMs = Math.min(atMs, untilMs ?? atMs)
  const isLong = toMs - fromMs >= smallestGapMs || (follows && toMs > fromMs)
  return isLong ? [{ cause, detail, fromMs, toMs }] : []
}

function stay(watch: Watch): WatchStep {
  return { watch, closed: [] }
}
