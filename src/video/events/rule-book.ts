import type { EventKind } from '../../config/index.ts'
import type { EventProblem } from './failures.ts'
import type { Notice } from './soap.ts'
import { type RuleReport, reportIn } from './topics.ts'

/** Meanings of the camera's rules in the config, by their names. */
export type RuleMeanings = Readonly<Record<string, EventKind | 'ignore'>>

/** A rule of the camera, as it is shown. `ignore` also for one that the gateway does not know. */
export type SeenRule = { readonly rule: string; readonly kind: EventKind | 'ignore'; readonly isMapped: boolean }

/** State of the analytics of a camera. */
export type EventsView = {
  readonly isUp: boolean
  /** Why no events come; null while they do, and before the first attempt has ended. */
  readonly problem: EventProblem | null
  /** The same in words for the admin, or another remark; null: all is well. */
  readonly words: string | null
  readonly rules: readonly SeenRule[]
}

/** Something that a rule of the camera has just found. `motionMs`: when, monotonic. */
export type Found = { readonly kinds: readonly EventKind[]; readonly motionMs: number }

export type Moment = {
  readonly monotonicMs: number
  readonly wallMs: number
  /** The camera's clock minus ours. */
  readonly offsetMs: number
}

/** A message is this late at most. Otherwise its time is wrong, and that of its arrival counts. */
const latestMs = 10_000
/** The camera's clock is known to about a second. */
const earliestMs = 2000
/** A rule that is on for so long without another message is over: the message of its end was lost. */
const longestOnMs = 5 * 60_000
const mostRules = 100
const mostKeys = 400
const mostRepeated = 10

type On = { readonly kinds: readonly EventKind[]; touchedMs: number }

/** Knows the rules of one camera: which are on, which message came before, and what each means. It has no clock. */
export class RuleBook {
  readonly #rules = new Map<string, readonly EventKind[]>()
  readonly #on = new Map<string, On>()
  /** The newest messages of each rule with a time, so that none counts twice. */
  readonly #newest = new Map<string, readonly string[]>()
  #hasWrongTimes = false

  /** Whether the last messages had times that cannot be. */
  get hasWrongTimes(): boolean {
    return this.#hasWrongTimes
  }

  /** Takes messages in their order. Returns what has begun with them. */
  take(notices: readonly Notice[], moment: Moment, meanings: RuleMeanings): Found[] {
    return notices.flatMap((notice) => {
      const report = reportIn(notice)
      return report ? this.#report(report, moment, meanings) : []
    })
  }

  /** Returns the kinds of the rules that are on. */
  on(nowMs: number): EventKind[] {
    for (const [key, { touchedMs }] of this.#on) if (nowMs - touchedMs > longestOnMs) this.#on.delete(key)
    return [...new Set([...this.#on.values()].flatMap(({ kinds }) => kinds))]
  }

  /** Nothing is known any more of what is on. */
  forgetStates(): void {
    this.#on.clear()
  }

  /** Lists the rules in the order of their names. */
  seen(meanings: RuleMeanings): SeenRule[] {
    return [...this.#rules]
      .map(([rule, kinds]) => {
        const meaning = meaningOf(meanings, rule)
        return { rule, kind: meaning ?? kinds[0] ?? ('ignore' as const), isMapped: meaning !== undefined }
      })
      .sort((a, b) => (a.rule < b.rule ? -1 : 1))
  }

  #report(report: RuleReport, moment: Moment, meanings: RuleMeanings): Found[] {
    const { rule, key, isOn, isInitial } = report
    this.#note(report)
    const meaning = meaningOf(meanings, rule)
    const kinds = meaning === undefined ? report.kinds : meaning === 'ignore' ? [] : [meaning]
    if (isOn === false) this.#on.delete(key)
    // How it is as the subscription begins is no event.
    if (isInitial) return []
    const { motionMs, isKnown } = this.#timeOf(report, moment)
    if (isKnown && this.#isRepeated(report)) return []
    if (isOn === false || kinds.length === 0) return []
    const before = this.#on.get(key)
    if (isOn) set(this.#on, key, { kinds, touchedMs: moment.monotonicMs }, mostKeys)
    return before && kinds.every((kind) => before.kinds.includes(kind)) ? [] : [{ kinds, motionMs }]
  }

  #timeOf({ atMs }: RuleReport, { monotonicMs, wallMs, offsetMs }: Moment) {
    if (atMs === null) return { motionMs: monotonicMs, isKnown: false }
    const ageMs = wallMs - (atMs - offsetMs)
    const isKnown = ageMs >= -earliestMs && ageMs <= latestMs
    this.#hasWrongTimes = !isKnown
    return { motionMs: monotonicMs - (isKnown ? Math.max(ageMs, 0) : 0), isKnown }
  }

  /** Whether the camera sent this message before: some repeat the newest ones in each subscription. */
  #isRepeated({ key, isOn, atMs, kinds }: RuleReport): boolean {
    const message = JSON.stringify([isOn, atMs, kinds])
    const before = this.#newest.get(key) ?? []
    if (before.includes(message)) return true
    set(this.#newest, key, [...before.slice(1 - mostRepeated), message], mostKeys)
    return false
  }

  /** A rule keeps the kinds that it found last: the message of an end often names no class. */
  #note({ rule, kinds, isOn }: RuleReport): void {
    if ((kinds.length > 0 && isOn !== false) || !this.#rules.has(rule)) set(this.#rules, rule, kinds, mostRules)
  }
}

function meaningOf(meanings: RuleMeanings, rule: string): RuleMeanings[string] | undefined {
  return Object.hasOwn(meanings, rule) ? meanings[rule] : undefined
}

/** Sets a value. The oldest of too many goes. */
function set<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) break
    map.delete(oldest)
  }
}
