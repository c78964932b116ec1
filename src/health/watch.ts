import { built, type ReadTx, type Tx, type UnitOfWork } from '../database/index.ts'
import { type Clock, type ClockReport, isoTime, type Logger } from '../platform/index.ts'
import { levelOf } from './checks.ts'
import { type CheckStatus, type Component, components, kinds } from './kinds.ts'
import { sql, tables } from './tables.ts'
import {
  type AlertWords,
  type Change,
  type CheckNow,
  judge,
  type Observation,
  shownNow,
  statusOf,
  type Trouble,
  wordsOf,
} from './troubles.ts'

const storedTroubles = built({}, () =>
  sql.selectFrom('health_trouble').select(['subject', 'kind', 'name', 'message', 'since_ms as sinceMs']),
)
const withoutTroubles = built({}, () => sql.deleteFrom('health_trouble'))
const newTrouble = built(tables.health_trouble, (row) => sql.insertInto('health_trouble').values(row))

/** Observes one component. It gets what was wrong before, so that a value near a limit does not flicker. */
export type Source = (before: readonly Trouble[]) => readonly Observation[]

export type Check = {
  readonly status: CheckStatus
  /** Milliseconds that the check took. */
  readonly responseTime: number
  /** The problem, in words for everyone; absent while the component is healthy. */
  readonly reason?: string
  /** False: the config has nothing for this component, and no webhook is registered. Absent otherwise. */
  readonly configured?: false
  /** Only in the check of the backups, while some are scheduled: when the newest was made, and when one last came back. */
  readonly newestAt?: string | null
  readonly rehearsedAt?: string | null
  /** The same of segments: until when everything is in one, and when they last came back. */
  readonly segmentsAt?: string | null
  readonly segmentsRehearsedAt?: string | null
} & Partial<ClockFacts>

/** Further facts of the clock check: no name, no address. */
export type ClockFacts = {
  /** Null: no time service reports it. */
  readonly synchronized: boolean | null
  readonly source: ClockReport['source']
  readonly offsetMs: number | null
  readonly stratum: number | null
  readonly since: string
  readonly steps: number
  readonly lastStep: { readonly at: string; readonly byMs: number } | null
}

type ClockNow = ClockReport & {
  readonly steps: {
    readonly count: number
    readonly last: { readonly atMs: number; readonly byMs: number } | null
  }
}

/** An alert that is not stored yet, because the disk takes no writes. */
export type UnwrittenAlert = AlertWords & { readonly nowMs: number }

export type HealthWatchNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly log: Logger
  /** One for every component whose changes are reported. */
  readonly sources: Readonly<Record<Exclude<Component, 'webhooks'>, Source>>
  /** Returns the state of the clock, and its steps. */
  readonly clockFacts: () => ClockNow
  /** When the newest scheduled backup was made, and when one last came back in a rehearsal. */
  readonly backupFacts: () => BackupNow
  /** State of the receivers. The webhooks room raises their alerts; here they are only shown. */
  readonly webhooks: () => CheckStatus
  /** Whether the config, or a registered webhook, gives the component something to do. */
  readonly isConfigured: (component: Component) => boolean
  /** Stores an alert and notifies the receivers, in the transaction of the change. */
  readonly raise: (tx: Tx, alert: UnwrittenAlert, change: Change) => void
  readonly onChange: (kind: string) => void
}

const lookEveryMs = 5000
/** Alerts kept while nothing can be stored; older ones are in the log only. */
const keptAtMost = 500

type Kept = { readonly change: Change; readonly alert: UnwrittenAlert }

/** Checks every component every 5 s and reports each change once: log line, metric, alert, notification. */
export class HealthWatch {
  readonly #needs: HealthWatchNeeds
  #troubles: readonly Trouble[] | undefined
  /** Changes that are not stored yet. */
  #kept: readonly Kept[] = []
  #saving = false
  /** Components that could not be checked at the last attempt. */
  readonly #unseen = new Set<Component>()
  /** The last check of each component. It holds while the component cannot be checked. */
  readonly #lastChecks = new Map<Component, Check>()
  #cancel: (() => void) | undefined

  constructor(needs: HealthWatchNeeds) {
    this.#needs = needs
  }

  start(): void {
    const round = () => {
      this.look().catch((err: unknown) => this.#needs.log.error({ err }, 'health could not be checked; trying again'))
      this.#cancel = this.#needs.clock.after(lookEveryMs, round)
    }
    this.#cancel ??= this.#needs.clock.after(0, round)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Returns what was wrong at the last look. */
  get troubles(): readonly Trouble[] {
    this.#troubles ??= this.#needs.work.read(readTroubles)
    return this.#troubles
  }

  /** Returns the alerts that are not stored yet, newest last. */
  get unwritten(): readonly UnwrittenAlert[] {
    return this.#kept.map(({ alert }) => alert)
  }

  /**
   * Checks every component now. Stores and reports nothing. Never throws: a component that cannot be checked has its last check, and
   * is degraded at least.
   */
  checks(): Record<Component, Check> {
    const nowMs = this.#needs.clock.now()
    const check = (component: Component): Check => {
      const startedMs = performance.now()
      const { responseTime: _, ...found } = this.#checkNow(component, nowMs)
      const responseTime = Math.round((performance.now() - startedMs) * 1000) / 1000
      return { ...found, responseTime }
    }
    return Object.fromEntries(components.map((name) => [name, check(name)])) as Record<Component, Check>
  }

  /** Returns the metrics of the last look: the level of each component, and the number of troubles by kind. */
  figures(): { levels: Record<string, number>; troubles: Record<string, number> } {
    const { troubles } = this
    const levels = components.map((component) => [component, levelOf(this.#lastStatus(component))])
    const kindsNow = Object.keys(kinds).map((kind) => [kind, troubles.filter((one) => one.kind === kind).length])
    return { levels: Object.fromEntries(levels), troubles: Object.fromEntries(kindsNow) }
  }

  /** Looks once. Resolves when the changes are stored, or when storing them has failed. */
  async look(): Promise<void> {
    const { clock, work } = this.#needs
    const nowMs = clock.now()
    const { troubles, changes } = judge(this.troubles, this.#observe(nowMs), nowMs)
    this.#troubles = troubles
    for (const change of changes) this.#tell(change, nowMs)
    // While the disk refuses writes, this write also notices the end of it when no other write comes.
    if (this.#kept.length > 0 || work.diskFault) await this.#save()
  }

  #checkNow(component: Component, nowMs: number): Check {
    const found = this.#tried(component, () => {
      const { status, reason } = this.#statusNow(component, nowMs)
      const facts = component === 'clock' ? clockFactsOf(this.#needs.clockFacts()) : {}
      const backups = component === 'backup' ? backupFactsOf(this.#needs.backupFacts()) : {}
      const unused = this.#needs.isConfigured(component) ? {} : { configured: false as const }
      return { status, responseTime: 0, ...(reason !== null && { reason }), ...unused, ...facts, ...backups }
    })
    if (found) {
      this.#lastChecks.set(component, found)
      return found
    }
    const last = this.#lastChecks.get(component)
    return last && last.status !== 'healthy' ? last : { responseTime: 0, ...last, ...unseen }
  }

  #statusNow(component: Component, nowMs: number): CheckNow {
    const { sources, webhooks } = this.#needs
    if (component === 'webhooks') {
      const status = webhooks()
      return { status, reason: status === 'healthy' ? null : 'A receiver does not accept its notifications.' }
    }
    const own = this.#own(component)
    return statusOf(component, judge(own, shownNow(sources[component](own)), nowMs).troubles)
  }

  #lastStatus(component: Component): CheckStatus {
    if (component === 'webhooks') return this.#tried(component, this.#needs.webhooks) ?? unseen.status
    return statusOf(component, this.troubles).status
  }

  /** When a component cannot be observed, its earlier state holds. */
  #observe(nowMs: number): Observation[] {
    return sourcesIn(this.#needs.sources).flatMap(([component, source]) => {
      const own = this.#own(component)
      return this.#tried(component, () => source(own)) ?? own.map((trouble) => stillWrong(trouble, nowMs))
    })
  }

  #own(component: Component): Trouble[] {
    return this.troubles.filter((trouble) => trouble.component === component)
  }

  /** Returns the result of a check; undefined when it throws. The error is logged once; other components continue. */
  #tried<Found>(component: Component, check: () => Found): Found | undefined {
    try {
      const found = check()
      this.#unseen.delete(component)
      return found
    } catch (err) {
      if (!this.#unseen.has(component))
        this.#needs.log.error({ err, component }, 'a part of the gateway cannot be checked')
      this.#unseen.add(component)
      return undefined
    }
  }

  #tell(change: Change, nowMs: number): void {
    const { log, onChange } = this.#needs
    const words = wordsOf(change, nowMs)
    const facts = { kind: words.kind, subject: words.subject }
    const level = change.direction === 'worse' ? logLevelOf(change.trouble) : 'info'
    log[level](facts, words.message)
    onChange(words.kind)
    this.#kept = [...this.#kept, { change, alert: { ...words, nowMs } }].slice(-keptAtMost)
  }

  async #save(): Promise<void> {
    if (this.#saving) return
    this.#saving = true
    const { work, raise } = this.#needs
    const batch = this.#kept
    const troubles = this.troubles
    try {
      await work.write((tx) => {
        for (const { change, alert } of batch) raise(tx, alert, change)
        storeTroubles(tx, troubles)
      })
      this.#kept = this.#kept.filter((one) => !batch.includes(one))
    } catch {
      // The disk takes no writes: health, log and memory have the changes, and the next look tries again.
    } finally {
      this.#saving = false
    }
  }
}

/** State of a component that cannot be checked. */
const unseen = { status: 'degraded', reason: 'It cannot be checked; the log says why.' } as const

const sourcesIn = (sources: HealthWatchNeeds['sources']) => Object.entries(sources) as [keyof typeof sources, Source][]

/** Returns the observation that leaves a trouble as it is. */
function stillWrong({ sinceMs, kind, message, ...which }: Trouble, nowMs: number): Observation {
  return { ...which, wrong: { kind, forMs: nowMs - sinceMs, message } }
}

type BackupNow = {
  readonly everyMs: number | null
  readonly newestMs: number | null
  readonly rehearsedMs: number | null
  readonly segments: {
    readonly everyMs: number | null
    readonly currentMs: number | null
    readonly rehearsedMs: number | null
  }
}

/** Returns only the fields of scheduled backups and segments. */
function backupFactsOf({ everyMs, newestMs, rehearsedMs, segments }: BackupNow) {
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms))
  return {
    ...(everyMs !== null && { newestAt: time(newestMs), rehearsedAt: time(rehearsedMs) }),
    ...(segments.everyMs !== null && {
      segmentsAt: time(segments.currentMs),
      segmentsRehearsedAt: time(segments.rehearsedMs),
    }),
  }
}

function clockFactsOf({ state, source, offsetMs, stratum, sinceMs, steps }: ClockNow): ClockFacts {
  const synchronized = state === 'unknown' ? null : state === 'synchronized'
  const lastStep = steps.last && { at: isoTime(steps.last.atMs), byMs: steps.last.byMs }
  return { synchronized, source, offsetMs, stratum, since: isoTime(Math.round(sinceMs)), steps: steps.count, lastStep }
}

const logLevelOf = ({ kind }: Trouble) => (kinds[kind].status === 'unhealthy' ? 'error' : 'warn')

function readTroubles(tx: ReadTx): Trouble[] {
  return tx
    .all(storedTroubles)
    .flatMap(({ kind, ...row }) => (isKind(kind) ? [{ ...row, kind, component: kinds[kind].component }] : []))
}

const isKind = (kind: string): kind is Trouble['kind'] => Object.hasOwn(kinds, kind)

function storeTroubles(tx: Tx, troubles: readonly Trouble[]): void {
  tx.run(withoutTroubles)
  for (const { component, subject, kind, name, message, sinceMs } of troubles) {
    tx.run(newTrouble, { component, subject, kind, name, message, since_ms: Math.round(sinceMs) })
  }
}
