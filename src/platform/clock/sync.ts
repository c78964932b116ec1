import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Clock } from './clock.ts'
import { chronyReport, ntpdReport, type TimeReport, timesyncReport } from './time-services.ts'

/** Interval of questions to the system. Events cause no questions. */
const askEveryMs = 60_000
const answerWithinMs = 5000

/** Runs a program and resolves with its output; undefined when it is missing, fails or takes too long. */
type RunProgram = (program: string, args: readonly string[]) => Promise<string | undefined>

export type ClockSyncNeeds = {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>
  /** A clock before this time is wrong. */
  readonly builtAtMs: number
  /** systemd-timesyncd makes this folder while it runs, and the file `synchronized` in it when it has reached a server. */
  readonly timesyncFolder?: string
  readonly ask?: RunProgram
}

/** `unknown`: no time service runs here, or it did not answer. */
export const clockStates = ['synchronized', 'unsynchronized', 'unknown'] as const

/** State of the system clock. */
export type ClockReport = Omit<TimeReport, 'source' | 'isSynchronized'> & {
  readonly state: (typeof clockStates)[number]
  /** The service that reports it; null: none. */
  readonly source: TimeReport['source'] | null
  /** When this state was first seen, by the clock in question. */
  readonly sinceMs: number
  /** For how long it has lasted, by the monotonic clock. */
  readonly forMs: number
}

type Seen = Omit<ClockReport, 'forMs'> & { readonly sinceMonotonicMs: number }

const nothingKnown = { state: 'unknown', source: null, server: null, stratum: null, offsetMs: null } as const

/**
 * Asks the time services of the system (systemd-timesyncd, chrony, ntpd) every minute for their present state. The clock is wrong
 * when it is before `builtAtMs`, or when one of them reports that it is not synchronized. When none reports anything, events count
 * as if it were right, and the state is `unknown`.
 */
export class ClockSync {
  readonly #needs: ClockSyncNeeds
  readonly #ask: RunProgram
  readonly #timesyncFolder: string
  #seen: Seen
  #cancel: (() => void) | undefined

  constructor(needs: ClockSyncNeeds) {
    this.#needs = needs
    this.#ask = needs.ask ?? askProgram
    this.#timesyncFolder = needs.timesyncFolder ?? '/run/systemd/timesync'
    this.#seen = { ...nothingKnown, sinceMs: needs.clock.now(), sinceMonotonicMs: needs.clock.monotonic() }
  }

  /** Asks at once, and then every minute. Resolves when the first answer is there. */
  async start(): Promise<void> {
    const round = async () => {
      await this.look()
      if (this.#cancel) this.#cancel = this.#needs.clock.after(askEveryMs, () => void round())
    }
    this.#cancel ??= () => {}
    await round()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Returns the answer of the last look, without asking again. */
  isTrusted(nowMs: number = this.#needs.clock.now()): boolean {
    return nowMs >= this.#needs.builtAtMs && this.#seen.state !== 'unsynchronized'
  }

  /** Returns what is known since the last look. */
  get report(): ClockReport {
    const { sinceMonotonicMs, ...seen } = this.#seen
    return { ...seen, forMs: this.#needs.clock.monotonic() - sinceMonotonicMs }
  }

  async look(): Promise<void> {
    const reports = await Promise.all([this.#timesync(), this.#chrony(), this.#ntpd()])
    const { clock, builtAtMs } = this.#needs
    const now = summary(reports, clock.now() >= builtAtMs)
    const { sinceMs, sinceMonotonicMs } =
      now.state === this.#seen.state ? this.#seen : { sinceMs: clock.now(), sinceMonotonicMs: clock.monotonic() }
    this.#seen = { ...now, sinceMs, sinceMonotonicMs }
  }

  async #timesync(): Promise<TimeReport | undefined> {
    if (!existsSync(this.#timesyncFolder)) return undefined
    const wasSynchronized = existsSync(`${this.#timesyncFolder}/synchronized`)
    const name = 'org.freedesktop.timesync1'
    const property = (which: string) =>
      this.#ask('busctl', ['get-property', name, `/${name.replaceAll('.', '/')}`, `${name}.Manager`, which])
    const [kernel, message, server] = await Promise.all([
      this.#ask('timedatectl', ['show', '--property=NTP', '--property=NTPSynchronized']),
      property('NTPMessage'),
      property('ServerName'),
    ])
    return timesyncReport({ wasSynchronized, kernel, message, server }, this.#needs.clock.now())
  }

  async #chrony(): Promise<TimeReport | undefined> {
    const said = await this.#ask('chronyc', ['-c', 'tracking'])
    return said === undefined ? undefined : chronyReport(said)
  }

  async #ntpd(): Promise<TimeReport | undefined> {
    const said = await this.#ask('ntpq', ['-c', 'rv'])
    return said === undefined ? undefined : ntpdReport(said)
  }
}

/** Returns the worst of the answers: a service that has lost its servers outweighs one that has them. */
function summary(
  reports: readonly (TimeReport | undefined)[],
  isPlausible: boolean,
): Omit<ClockReport, 'sinceMs' | 'forMs'> {
  const of = (isSynchronized: boolean | null) => reports.find((report) => report?.isSynchronized === isSynchronized)
  const [lost, right, silent] = [of(false), of(true), of(null)]
  const { source, server, stratum, offsetMs } = lost ?? right ?? silent ?? nothingKnown
  const state = lost || !isPlausible ? 'unsynchronized' : right ? 'synchronized' : 'unknown'
  return { state, source, server, stratum, offsetMs }
}

function askProgram(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, [...args], { timeout: answerWithinMs, killSignal: 'SIGKILL' }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    )
  })
}
