import type { Clock } from '../../platform/index.ts'
import { autoResumeOf, drainPerSecondOf, probeOf, type WebhookSettings } from '../settings.ts'
import type { Endpoint } from '../store.ts'
import {
  afterOutcome,
  afterStart,
  type Condition,
  catchUp,
  mayStart,
  nextChangeMs,
  type Pace,
  paceNow,
} from './pace.ts'

type Known = { readonly url: string; readonly condition: Condition; readonly pace: Pace }

/** Why an endpoint that is switched on gets one attempt at a time, and for how long it gets none. */
export type Wait = { readonly offline: boolean; readonly forMs: number }

type PacingNeeds = { clock: Pick<Clock, 'monotonic'>; settings: () => WebhookSettings }

/** The pace of every endpoint, in memory. The rules are in `pace.ts`. */
export class Pacing {
  readonly #needs: PacingNeeds
  #known = new Map<string, Known>()
  #hasLooked = false
  /** Spans asked for before the next look, up to which notification; an endpoint may be new to us. */
  readonly #asked = new Map<string, number>()

  constructor(needs: PacingNeeds) {
    this.#needs = needs
  }

  /** Updates the paces from the endpoints in the database; deleted endpoints are dropped. */
  look(endpoints: readonly Endpoint[], endSeq: number): void {
    const nowMs = this.#needs.clock.monotonic()
    const probe = probeOf(this.#needs.settings())
    this.#known = new Map(
      endpoints.map(({ id, url, condition }) => {
        const before = this.#known.get(id)
        const moved = before !== undefined && before.url !== url
        // An endpoint that is new while we run has no past; one that is there at the start may have missed something.
        const past = before?.pace ?? (this.#hasLooked ? ({ kind: 'free' } as const) : undefined)
        const pace = paceNow(past, { condition, moved, endSeq, nowMs, probe })
        const untilSeq = this.#asked.get(id)
        return [id, { url, condition, pace: untilSeq === undefined ? pace : catchUp(pace, untilSeq) }]
      }),
    )
    this.#asked.clear()
    this.#hasLooked = true
  }

  /** How many attempts at an endpoint may start now; undefined: no bound but admission's. */
  mayStart(id: string, underWay: number): number | undefined {
    const known = this.#known.get(id)
    if (!known) return 0
    return mayStart(known.pace, underWay, this.#needs.clock.monotonic(), drainPerSecondOf(this.#needs.settings()))
  }

  /** Whether an endpoint takes one delivery after the other: it is neither in trouble nor held. */
  isOpen(id: string): boolean {
    const kind = this.#known.get(id)?.pace.kind
    return kind === 'free' || kind === 'draining'
  }

  started(id: string): void {
    this.#set(id, (pace) => afterStart(pace, this.#needs.clock.monotonic()))
  }

  ended(id: string, outcome: 'delivered' | 'failed' | 'offline'): void {
    this.#set(id, (pace) => afterOutcome(pace, outcome, this.#needs.clock.monotonic(), probeOf(this.#needs.settings())))
  }

  /** Ends the wait of an endpoint, for a person who wants the next attempt now; the interval starts small again. */
  hurry(id: string): void {
    const notBeforeMs = this.#needs.clock.monotonic()
    this.#set(id, (pace) => (pace.kind === 'probing' ? { ...pace, waitMs: 0, notBeforeMs } : pace))
  }

  /** An old span is to be sent again, up to this notification. */
  catchUp(id: string, untilSeq: number): void {
    this.#asked.set(id, untilSeq)
  }

  /** Up to which notification an endpoint drains; undefined when it does not. */
  drainsUntil(id: string): number | undefined {
    const pace = this.#known.get(id)?.pace
    return pace?.kind === 'draining' ? pace.untilSeq : undefined
  }

  drained(id: string): void {
    this.#set(id, () => ({ kind: 'free' }))
  }

  /** Endpoints disabled by their failures whose test is due; the next one is due after the interval. */
  takeDueTests(): string[] {
    const nowMs = this.#needs.clock.monotonic()
    const due = [...this.#known].filter(([, known]) => (this.#testInMs(known, nowMs) ?? 1) <= 0).map(([id]) => id)
    for (const id of due) this.#set(id, () => ({ kind: 'held', testedMs: nowMs }))
    return due
  }

  /** Milliseconds until time alone changes what may be sent; undefined when it does not. */
  nextChangeInMs(): number | undefined {
    const nowMs = this.#needs.clock.monotonic()
    const perSecond = drainPerSecondOf(this.#needs.settings())
    const waits = [...this.#known.values()].flatMap((known) => {
      const changeMs = nextChangeMs(known.pace, nowMs, perSecond)
      return [changeMs === undefined ? undefined : changeMs - nowMs, this.#testInMs(known, nowMs)]
    })
    const known = waits.filter((ms) => ms !== undefined)
    return known.length > 0 ? Math.min(...known) : undefined
  }

  /** Whether an endpoint that is switched on waits for its next probe. */
  waitOf(id: string): Wait | undefined {
    const pace = this.#known.get(id)?.pace
    if (pace?.kind !== 'probing') return undefined
    return { offline: pace.offline, forMs: Math.max(pace.notBeforeMs - this.#needs.clock.monotonic(), 0) }
  }

  /** Returns how many endpoints have held deliveries because the gateway is offline towards them. */
  offline(): number {
    return [...this.#known.values()].filter(({ pace }) => pace.kind === 'probing' && pace.offline).length
  }

  #testInMs({ condition, pace }: Known, nowMs: number): number | undefined {
    const { enabled, everyMs } = autoResumeOf(this.#needs.settings())
    if (!enabled || condition !== 'disabled' || pace.kind !== 'held') return undefined
    return Math.max(pace.testedMs + everyMs - nowMs, 0)
  }

  #set(id: string, next: (pace: Pace) => Pace): void {
    const known = this.#known.get(id)
    if (known) this.#known.set(id, { ...known, pace: next(known.pace) })
  }
}
