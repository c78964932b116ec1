import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Clock } from './clock.ts'

/** How often the system is asked. Nothing is asked for an event. */
const askEveryMs = 60_000
const answerWithinMs = 5000
/** A clock that may be wrong by more than this is not synchronized, whatever its daemon calls it. */
const mostDistanceSeconds = 1

/** Runs a program and resolves with what it printed; undefined when it is not there, fails or takes too long. */
type RunProgram = (program: string, args: readonly string[]) => Promise<string | undefined>

export type ClockSyncNeeds = {
  readonly clock: Pick<Clock, 'now' | 'after'>
  /** A clock before this time is wrong. */
  readonly builtAtMs: number
  /** systemd-timesyncd makes this folder while it runs, and the file `synchronized` in it when it has reached a server. */
  readonly timesyncFolder?: string
  readonly ask?: RunProgram
}

/**
 * Finds out whether the clock of the system is right. It is wrong when it is before `builtAtMs`, or when a running
 * systemd-timesyncd or chrony has no synchronization. Where neither runs, the clock counts as right.
 */
export class ClockSync {
  readonly #needs: ClockSyncNeeds
  readonly #ask: RunProgram
  readonly #timesyncFolder: string
  #isLost = false
  #cancel: (() => void) | undefined

  constructor(needs: ClockSyncNeeds) {
    this.#needs = needs
    this.#ask = needs.ask ?? askProgram
    this.#timesyncFolder = needs.timesyncFolder ?? '/run/systemd/timesync'
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
    return nowMs >= this.#needs.builtAtMs && !this.#isLost
  }

  async look(): Promise<void> {
    const [timesync, chrony] = await Promise.all([this.#timesyncHasLost(), this.#chronyHasLost()])
    this.#isLost = timesync || chrony
  }

  /** Its mark says only that it was synchronized once since the boot; the kernel knows whether it still is. */
  async #timesyncHasLost(): Promise<boolean> {
    if (!existsSync(this.#timesyncFolder)) return false
    if (!existsSync(`${this.#timesyncFolder}/synchronized`)) return true
    const said = await this.#ask('timedatectl', ['show', '--property=NTP', '--property=NTPSynchronized'])
    return said !== undefined && /^NTP=yes$/m.test(said) && /^NTPSynchronized=no$/m.test(said)
  }

  async #chronyHasLost(): Promise<boolean> {
    const said = await this.#ask('chronyc', ['-c', 'tracking'])
    return said !== undefined && chronyHasLost(said)
  }
}

/** Reads the line of `chronyc -c tracking`: … root delay, root dispersion, update interval, leap status. */
export function chronyHasLost(line: string): boolean {
  const [rootDelay, rootDispersion, , leap] = line.trim().split(',').slice(-4)
  if (leap === 'Not synchronised') return true
  const distance = Number(rootDelay) / 2 + Number(rootDispersion)
  return Number.isFinite(distance) && distance > mostDistanceSeconds
}

function askProgram(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, [...args], { timeout: answerWithinMs, killSignal: 'SIGKILL' }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    )
  })
}
