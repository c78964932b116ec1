import si from 'systeminformation'
import { type Clock, processorCelsius } from '../platform/index.ts'

/** Where no file of the kernel tells the temperature, programs are asked so seldom: two shells and `sensors` start each time. */
const programsEveryMs = 10 * 60_000

type ThermometerNeeds = {
  readonly clock: Pick<Clock, 'monotonic'>
  /** Where the kernel describes its devices. Default: /sys. */
  readonly sys?: string
  /** Asks programs for the temperature in °C. Default: systeminformation, which knows the most of them. */
  readonly askPrograms?: () => Promise<number | null>
}

/** Tells how hot the processor is: read from the kernel each time, and from programs where it does not tell. */
export class Thermometer {
  readonly #needs: ThermometerNeeds
  #asked: { readonly atMs: number; readonly celsius: number | undefined } | undefined

  constructor(needs: ThermometerNeeds) {
    this.#needs = needs
  }

  /** Returns °C; undefined where nothing tells. Never starts programs where the kernel tells, else at most every ten minutes. */
  async celsius(): Promise<number | undefined> {
    const { clock, sys, askPrograms = askSystemInformation } = this.#needs
    const known = processorCelsius(sys)
    if (known !== undefined) return known
    const nowMs = clock.monotonic()
    if (!this.#asked || nowMs - this.#asked.atMs >= programsEveryMs) {
      this.#asked = { atMs: nowMs, celsius: (await askPrograms().catch(() => null)) ?? undefined }
    }
    return this.#asked.celsius
  }
}

const askSystemInformation = async () => (await si.cpuTemperature()).main
