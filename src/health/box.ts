import si from 'systeminformation'
import {
  bytesWrittenHere,
  bytesWrittenTo,
  type Clock,
  diskDevice,
  type Throttling,
  throttlingOf,
} from '../platform/index.ts'
import { hotCelsius, Thermometer } from './thermometer.ts'

/** Load and free memory of the machine, its heat where it has a sensor, and bytes written to the disk of the ledger. */
export type BoxSample = {
  readonly cpuLoadPercent: number | undefined
  readonly memoryAvailableBytes: number | undefined
  readonly diskWrittenBytes: number | undefined
  readonly ownWrittenBytes: number | undefined
} & Heat

/** Heat of the box. Undefined and null: not reported. */
export type Heat = { readonly temperatureCelsius: number | undefined } & Throttling

/** Milliseconds for which the box has been unwell; null: it is well, or does not report it. */
export type HeatTroubles = {
  readonly celsius: number | undefined
  readonly hotForMs: number | null
  readonly throttledForMs: number | null
  readonly underVoltageForMs: number | null
}

const freshMs = 10_000
const watchEveryMs = 30_000

type BoxNeeds = {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  /** Device number of the disk of the ledger. */
  readonly device: number
  /** Asks for the heat. Default: this machine. */
  readonly heat?: (() => Promise<Heat>) | undefined
}

/**
 * Where the kernel does not report the heat, several programs are started. A gateway that is about to answer first has no time for
 * them.
 */
export const firstSampleMs = 1000

/** Asks the machine how it is: for metrics at most once in ten seconds, for health every half minute. */
export class Box {
  readonly #needs: BoxNeeds
  readonly #disk: string | undefined
  readonly #thermometer: Thermometer
  readonly #since = new Map<'hot' | 'throttled' | 'underVoltage', number>()
  #last: { atMs: number; sample: Promise<BoxSample> } | undefined
  #heat: Heat | undefined
  #cancel: (() => void) | undefined

  constructor(needs: BoxNeeds) {
    this.#needs = needs
    this.#disk = diskDevice(needs.device)
    this.#thermometer = new Thermometer(needs)
  }

  start(): void {
    const round = () => {
      void this.sample()
      this.#cancel = this.#needs.clock.after(watchEveryMs, round)
    }
    this.#cancel ??= this.#needs.clock.after(firstSampleMs, round)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Returns how the machine is; callers within ten seconds share one answer. */
  sample(): Promise<BoxSample> {
    const nowMs = this.#needs.clock.monotonic()
    if (!this.#last || nowMs - this.#last.atMs > freshMs) this.#last = { atMs: nowMs, sample: this.#ask(nowMs) }
    return this.#last.sample
  }

  /** Returns for how long the box has been hot or slowed down, as of the last sample. */
  get troubles(): HeatTroubles {
    const nowMs = this.#needs.clock.monotonic()
    const lasts = (what: 'hot' | 'throttled' | 'underVoltage') => {
      const since = this.#since.get(what)
      return since === undefined ? null : nowMs - since
    }
    return {
      celsius: this.#heat?.temperatureCelsius,
      hotForMs: lasts('hot'),
      throttledForMs: lasts('throttled'),
      underVoltageForMs: lasts('underVoltage'),
    }
  }

  async #ask(nowMs: number): Promise<BoxSample> {
    const ask = this.#needs.heat ?? (() => this.#heatOfThisMachine())
    const [load, memory, heat] = await Promise.allSettled([si.currentLoad(), si.mem(), ask()])
    const now = heat.status === 'fulfilled' ? this.#note(heat.value, nowMs) : unknownHeat
    return {
      cpuLoadPercent: load.status === 'fulfilled' ? load.value.currentLoad : undefined,
      memoryAvailableBytes: memory.status === 'fulfilled' ? memory.value.available : undefined,
      diskWrittenBytes: (this.#disk === undefined ? null : bytesWrittenTo(this.#disk)) ?? undefined,
      ownWrittenBytes: bytesWrittenHere() ?? undefined,
      ...now,
    }
  }

  async #heatOfThisMachine(): Promise<Heat> {
    return { temperatureCelsius: await this.#thermometer.celsius(), ...throttlingOf() }
  }

  /** A counter that has grown since the last sample means that it was slowed down meanwhile. */
  #note(heat: Heat, nowMs: number): Heat {
    const hasGrown = (heat.count ?? 0) > (this.#heat?.count ?? heat.count ?? 0)
    const throttled = heat.throttled === null ? null : heat.throttled || hasGrown
    const is = {
      hot: (heat.temperatureCelsius ?? 0) >= hotCelsius,
      throttled: throttled === true,
      underVoltage: heat.underVoltage === true,
    }
    for (const [what, isSo] of Object.entries(is) as [keyof typeof is, boolean][]) {
      if (!isSo) this.#since.delete(what)
      else if (!this.#since.has(what)) this.#since.set(what, nowMs)
    }
    this.#heat = heat
    return { ...heat, throttled }
  }
}

const unknownHeat: Heat = {
  temperatureCelsius: undefined,
  throttled: null,
  wasThrottled: null,
  underVoltage: null,
  count: null,
}
