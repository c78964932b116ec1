/** Whether an endpoint is sent to, as the database has it. `slowed`: since its last 2xx six attempts or more have failed. */
export type Condition = 'open' | 'slowed' | 'disabled' | 'switched-off'

/** Intervals between two attempts at an endpoint in trouble: the first, and where doubling ends. */
export type ProbeIntervals = { readonly initialMs: number; readonly maxMs: number }

/**
 * How an endpoint may be sent to just now. Times are monotonic, because all this ends with the process: what must
 * survive it (the condition) is in the database.
 */
export type Pace =
  /** As many at a time as admission allows. */
  | { readonly kind: 'free' }
  /** One attempt at a time, none before `notBeforeMs`: it is slowed, or the gateway itself is offline towards it. */
  | { readonly kind: 'probing'; readonly offline: boolean; readonly waitMs: number; readonly notBeforeMs: number }
  /** Back again: so many a second, until all that was published before `untilSeq` is on its way. */
  | { readonly kind: 'draining'; readonly untilSeq: number; readonly startedMs: readonly number[] }
  /** Nothing is sent; `testedMs` is when a test was last due, or when it was switched off. */
  | { readonly kind: 'held'; readonly testedMs: number }

export type Seen = {
  readonly condition: Condition
  /** Whether its address is another than when it was last seen. */
  readonly moved: boolean
  /** Seq of the newest notification. */
  readonly endSeq: number
  readonly nowMs: number
  readonly probe: ProbeIntervals
}

/** The pace after a read of the database. `before` is absent at the first look after a start. */
export function paceNow(before: Pace | undefined, seen: Seen): Pace {
  switch (seen.condition) {
    case 'switched-off':
    case 'disabled':
      // At the first look the test is due at once: the world may have changed while the gateway was down.
      return before?.kind === 'held'
        ? before
        : { kind: 'held', testedMs: before ? seen.nowMs : Number.NEGATIVE_INFINITY }
    case 'slowed':
      return whileSlowed(before, seen)
    case 'open':
      return whileOpen(before, seen)
  }
}

/** So much has just become due that a free endpoint is given it at the pace of draining. */
export function catchUp(pace: Pace, untilSeq: number): Pace {
  if (pace.kind === 'draining') return { ...pace, untilSeq: Math.max(pace.untilSeq, untilSeq) }
  return pace.kind === 'free' ? { kind: 'draining', untilSeq, startedMs: [] } : pace
}

function whileSlowed(before: Pace | undefined, { moved, nowMs, probe }: Seen): Pace {
  if (before?.kind === 'probing' && !moved) return before
  const atOnce = before === undefined || moved
  const waitMs = atOnce ? 0 : firstWait(probe)
  return { kind: 'probing', offline: false, waitMs, notBeforeMs: nowMs + waitMs }
}

function whileOpen(before: Pace | undefined, { moved, endSeq }: Seen): Pace {
  // After a start there may be a backlog: of a week without an uplink, or of the time that the gateway was down.
  if (before === undefined) return { kind: 'draining', untilSeq: endSeq, startedMs: [] }
  const inTrouble = before.kind === 'held' || (before.kind === 'probing' && (!before.offline || moved))
  return inTrouble ? { kind: 'draining', untilSeq: endSeq, startedMs: [] } : before
}

/** The pace after an attempt has ended. Failures of attempts that began before the wait count as one. */
export function afterOutcome(
  before: Pace,
  outcome: 'delivered' | 'failed' | 'offline',
  nowMs: number,
  probe: ProbeIntervals,
): Pace {
  if (before.kind === 'held') return before
  if (before.kind !== 'probing') {
    if (outcome !== 'offline') return before
    const waitMs = firstWait(probe)
    return { kind: 'probing', offline: true, waitMs, notBeforeMs: nowMs + waitMs }
  }
  const offline = outcome === 'offline'
  if (outcome === 'delivered') return { ...before, offline, waitMs: 0, notBeforeMs: nowMs }
  if (nowMs < before.notBeforeMs) return { ...before, offline: before.offline && offline }
  const waitMs = Math.min(Math.max(before.waitMs * 2, probe.initialMs), probe.maxMs)
  return { ...before, offline, waitMs, notBeforeMs: nowMs + waitMs }
}

const firstWait = ({ initialMs, maxMs }: ProbeIntervals) => Math.min(initialMs, maxMs)

/** How many attempts may start now beside those under way; undefined: the pace sets no bound. */
export function mayStart(pace: Pace, underWay: number, nowMs: number, perSecond: number): number | undefined {
  switch (pace.kind) {
    case 'free':
      return undefined
    case 'probing':
      return underWay === 0 && nowMs >= pace.notBeforeMs ? 1 : 0
    case 'draining':
      return Math.max(perSecond - inLastSecond(pace.startedMs, nowMs), 0)
    case 'held':
      return 0
  }
}

/** The pace after one attempt has started. */
export function afterStart(pace: Pace, nowMs: number): Pace {
  return pace.kind === 'draining' ? { ...pace, startedMs: [...lastSecond(pace.startedMs, nowMs), nowMs] } : pace
}

function lastSecond(startedMs: readonly number[], nowMs: number): readonly number[] {
  return startedMs.slice(startedMs.length - inLastSecond(startedMs, nowMs))
}

/** How many of the ascending times lie in the last second, by halving: it is asked for every delivery. */
function inLastSecond(startedMs: readonly number[], nowMs: number): number {
  let [from, to] = [0, startedMs.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((startedMs[middle] ?? 0) > nowMs - 1000) to = middle
    else from = middle + 1
  }
  return startedMs.length - from
}

/** When time alone will allow more than now; undefined when only an event can. Tests of held endpoints apart. */
export function nextChangeMs(pace: Pace, nowMs: number, perSecond: number): number | undefined {
  if (pace.kind === 'probing') return pace.notBeforeMs > nowMs ? pace.notBeforeMs : undefined
  if (pace.kind !== 'draining') return undefined
  const { startedMs } = pace
  const oldest = inLastSecond(startedMs, nowMs) < perSecond ? undefined : startedMs.at(-perSecond)
  return oldest === undefined ? undefined : oldest + 1000
}
