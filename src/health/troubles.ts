import { type CheckStatus, type Component, type Facts, type Kind, kinds } from './kinds.ts'

const ranks = Object.keys(kinds)

/** The present state of one subject that can fail. */
export type Observation = {
  readonly component: Component
  /** Which one: the id of a camera, the URL of a storage server; where there is only one, the component. */
  readonly subject: string
  /** Name at the beginning of a sentence: `Camera 1 (Dock door)`. */
  readonly name: string
  /** Null while it is well. */
  readonly wrong: {
    readonly kind: Kind
    /** Milliseconds for which it has not been well. */
    readonly forMs: number
    /** The problem and its remedy, for the admin. */
    readonly message: string
  } | null
}

/** Something that has been wrong for longer than its grace. */
export type Trouble = {
  readonly component: Component
  readonly subject: string
  readonly kind: Kind
  readonly name: string
  readonly message: string
  /** When it was last well, by the wall clock. */
  readonly sinceMs: number
}

/** One step to the worse or to the better. `before`: the trouble that ended, or that a worse one replaces. */
export type Change =
  | { readonly direction: 'worse'; readonly before: Trouble | null; readonly trouble: Trouble }
  /** `now`: the lesser trouble that remains; null: it is well. */
  | { readonly direction: 'better'; readonly before: Trouble; readonly now: Trouble | null }
  /** It is not observed any more, such as a camera that was taken out of the config. */
  | { readonly direction: 'gone'; readonly before: Trouble }

export type Judgement = { readonly troubles: readonly Trouble[]; readonly changes: readonly Change[] }

/** Returns the troubles of now and the changes, from the troubles before and the observations. Pure. */
export function judge(before: readonly Trouble[], seen: readonly Observation[], nowMs: number): Judgement {
  const known = new Map(before.map((trouble) => [keyOf(trouble), trouble]))
  const troubles: Trouble[] = []
  const changes: Change[] = []
  for (const observation of seen) {
    const key = keyOf(observation)
    const old = known.get(key)
    known.delete(key)
    const now = troubleNow(old, observation, nowMs)
    if (now) troubles.push(now)
    if (now?.kind === old?.kind) continue
    if (now && (!old || rankOf(now) > rankOf(old)))
      changes.push({ direction: 'worse', before: old ?? null, trouble: now })
    else if (old) changes.push({ direction: 'better', before: old, now: now ?? null })
  }
  for (const gone of known.values()) changes.push({ direction: 'gone', before: gone })
  return { troubles, changes }
}

/**
 * Returns the trouble of one subject now. While it is bad for less than its grace, the earlier state holds. So after a restart, a
 * camera that was offline is offline until it gives pictures.
 */
function troubleNow(old: Trouble | undefined, observation: Observation, nowMs: number): Trouble | undefined {
  const { component, subject, name, wrong } = observation
  if (!wrong) return undefined
  if (wrong.forMs < kinds[wrong.kind].graceMs) return old
  const sinceMs = Math.min(nowMs - wrong.forMs, old?.sinceMs ?? Number.POSITIVE_INFINITY)
  return { component, subject, kind: wrong.kind, name, message: wrong.message, sinceMs }
}

/** Returns the observations as /api/health shows them: kinds that are shown at once have no grace left. */
export function shownNow(seen: readonly Observation[]): Observation[] {
  return seen.map((one) => {
    if (!one.wrong) return one
    const facts: Facts = kinds[one.wrong.kind]
    return facts.shownAtOnce
      ? { ...one, wrong: { ...one.wrong, forMs: Math.max(one.wrong.forMs, facts.graceMs) } }
      : one
  })
}

export type CheckNow = { readonly status: CheckStatus; readonly reason: string | null }

/** Returns the state of a component: that of its worst trouble. */
export function statusOf(component: Component, troubles: readonly Trouble[]): CheckNow {
  const own = troubles.filter((trouble) => trouble.component === component)
  const worst = own.toSorted((a, b) => rankOf(b) - rankOf(a))[0]
  return worst
    ? { status: kinds[worst.kind].status, reason: kinds[worst.kind].reason }
    : { status: 'healthy', reason: null }
}

const keyOf = ({ component, subject }: Pick<Trouble, 'component' | 'subject'>) => `${component} ${subject}`
const rankOf = ({ kind }: Trouble) => ranks.indexOf(kind)

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Returns a duration as `8 minutes`, in the largest unit of which there are at least two. */
export function durationWords(ms: number): string {
  for (const [unit, length] of units) {
    const count = Math.floor(ms / length)
    if (count >= 2) return `${count} ${unit}s`
  }
  return ms < 60_000 ? `${Math.max(1, Math.round(ms / 1000))} seconds` : '1 minute'
}

export type AlertWords = { readonly kind: string; readonly subject: string; readonly message: string }

/** Returns kind, subject and message of the alert of a change. */
export function wordsOf(change: Change, nowMs: number): AlertWords {
  switch (change.direction) {
    case 'worse': {
      const { kind, subject, message } = change.trouble
      return { kind, subject, message }
    }
    case 'better': {
      const { subject, kind, name, sinceMs } = change.before
      if (change.now) return { kind: change.now.kind, subject, message: change.now.message }
      const message = `${name} is well again, after ${durationWords(nowMs - sinceMs)}.`
      return { kind: kinds[kind].over, subject, message }
    }
    case 'gone': {
      const { subject, kind, name, sinceMs } = change.before
      const component = kinds[kind].component
      const message = `${name} is not watched any more: it was switched off or taken out of the config. It had not been well for ${durationWords(nowMs - sinceMs)}.`
      return { kind: `${component}.unwatched`, subject, message }
    }
  }
}
