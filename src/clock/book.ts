import type { UnitOfWork } from '../database/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { type Clock, type ClockReport, type ClockSync, isoTime, type Logger } from '../platform/index.ts'
import type { ExpiryClock } from './expiry-clock.ts'
import type { ClockTrust } from './schema.ts'
import { markEveryMs, type Reading, type Step, stepAtStart, stepBetween } from './steps.ts'
import * as store from './store.ts'
import type { ClockStateRow } from './tables.ts'
import { type TrustSpan, trustBetween } from './trust.ts'

type ClockBookNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  /** Its time is stored with the mark. */
  readonly expiryClock: ExpiryClock
  readonly log: Logger
  readonly audit: AuditTrail
  readonly sync: Pick<ClockSync, 'report'>
  /** The newest time of the ledger; 0 without one. */
  readonly ledgerMs: () => number
  readonly builtAtMs: number
}

const lookEveryMs = 1000

/** Recorded steps of the gateway's clock. */
export type StepCount = {
  readonly count: number
  readonly last: { readonly atMs: number; readonly byMs: number } | null
}

type State = Omit<ClockStateRow, 'id'>

/** Compares the wall clock with the monotonic clock every second, and records its steps and the services that vouched for it. */
export class ClockBook {
  readonly #needs: ClockBookNeeds
  #last: Reading
  #marked = Number.NEGATIVE_INFINITY
  #said: ClockReport['state'] | undefined
  /** Steps that are not stored yet, oldest first. */
  #steps: readonly (Step & Pick<ClockReport, 'state' | 'source'>)[] = []
  #states: readonly State[] = []
  #count: StepCount | undefined
  #underWay: Promise<void> | undefined
  #cancel: (() => void) | undefined

  constructor(needs: ClockBookNeeds) {
    this.#needs = needs
    this.#last = this.#read()
  }

  /** Compares the clock with the time at which the gateway ran last, and then every second with the second before. */
  async start(): Promise<void> {
    const { work, clock, builtAtMs, ledgerMs } = this.#needs
    const { markedMs, state } = work.read((tx) => ({ markedMs: store.markedMs(tx), state: store.lastState(tx)?.state }))
    this.#last = this.#read()
    const nowMs = this.#last.wallMs
    // A crash wrote no end: the gateway is known to have run until the mark.
    if (state !== undefined && state !== 'stopped') this.#states = [stopped(markedMs ?? nowMs)]
    const step = stepAtStart({ nowMs, markedMs, ledgerMs: ledgerMs(), builtAtMs })
    if (step) this.#stepped(step)
    const round = () => {
      void this.look()
      this.#cancel = clock.after(lookEveryMs, round)
    }
    this.#cancel ??= clock.after(lookEveryMs, round)
    await this.look()
  }

  /** Records the end, so that the time until the next start counts for nothing. */
  async stop(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    await this.#underWay
    await this.look()
    this.#states = [...this.#states, stopped(this.#needs.clock.now())]
    this.#said = undefined
    this.#marked = Number.NEGATIVE_INFINITY
    await this.#save()
  }

  /** Looks once. Resolves when everything is stored, or when storing has failed; the next look tries again. */
  async look(): Promise<void> {
    const now = this.#read()
    const step = stepBetween(this.#last, now)
    this.#last = now
    if (step) this.#stepped(step)
    const { state, source, server, stratum, offsetMs } = this.#needs.sync.report
    if (state !== this.#said) {
      const row = { at_ms: Math.round(now.wallMs), state, source, server, stratum, offset_ms: offsetMs }
      this.#states = [...this.#states, row]
      this.#said = state
    }
    const isDue = now.monotonicMs - this.#marked >= markEveryMs
    if (this.#steps.length > 0 || this.#states.length > 0 || isDue) await this.#save()
  }

  /** Returns the steps that are on record, with those that could not be stored yet. */
  get steps(): StepCount {
    this.#count ??= this.#needs.work.read((tx) => {
      const last = store.lastStep(tx)
      return last ? { count: last.id, last: momentOf(last) } : { count: 0, last: null }
    })
    const waiting = this.#steps.at(-1)
    return waiting ? { count: this.#count.count + this.#steps.length, last: momentOf(waiting) } : this.#count
  }

  /** Returns what a report about a period is made from: the newest rows, and the time up to which they are complete. */
  span(fromMs: number, toMs: number): TrustSpan {
    return this.#needs.work.read((tx) => ({
      fromMs,
      toMs,
      rows: { states: store.lastState(tx)?.id ?? 0, steps: store.lastStep(tx)?.id ?? 0 },
      untilMs: Math.round(this.#needs.clock.now()),
    }))
  }

  /** Returns how far the clock can be trusted in a period. */
  trust(fromMs: number, toMs: number): ClockTrust {
    const span = this.span(fromMs, toMs)
    return this.#needs.work.read((tx) => trustBetween(tx, span))
  }

  get report(): ClockReport {
    return this.#needs.sync.report
  }

  #stepped(step: Step): void {
    const { state, source } = this.#needs.sync.report
    this.#steps = [...this.#steps, { ...step, state, source }]
    const { byMs } = momentOf(step)
    this.#needs.log.warn({ byMs, cause: step.cause, state }, 'the clock of the gateway was set')
  }

  #save(): Promise<void> {
    this.#underWay ??= this.#write().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  async #write(): Promise<void> {
    const { work, clock, expiryClock, audit, log } = this.#needs
    const [steps, states] = [this.#steps, this.#states]
    const { monotonicMs } = this.#read()
    try {
      await work.write((tx) => {
        for (const state of states) store.appendState(tx, state)
        for (const step of steps) {
          const id = store.appendStep(tx, step)
          const { before_ms, after_ms, cause, state } = step
          const changes = { before: isoTime(before_ms), after: isoTime(after_ms), ...momentOf(step), cause, state }
          audit.write(tx, undefined, { action: 'clock.stepped', entity: 'clock', entityId: id, changes })
        }
        store.setMark(tx, Math.round(clock.now()))
        store.setExpiryMark(tx, expiryClock.now())
      })
      this.#marked = monotonicMs
      this.#steps = this.#steps.slice(steps.length)
      this.#states = this.#states.slice(states.length)
      if (steps.length > 0) this.#count = undefined
    } catch (err) {
      // The disk takes no writes; the changes stay in memory.
      log.debug({ err }, 'the state of the clock could not be stored')
    }
  }

  #read(): Reading {
    return { wallMs: this.#needs.clock.now(), monotonicMs: this.#needs.clock.monotonic() }
  }
}

const stopped = (atMs: number): State => ({
  at_ms: Math.round(atMs),
  state: 'stopped',
  source: null,
  server: null,
  stratum: null,
  offset_ms: null,
})

const momentOf = ({ before_ms, after_ms }: Pick<Step, 'before_ms' | 'after_ms'>) => ({
  atMs: after_ms,
  byMs: after_ms - before_ms,
})
