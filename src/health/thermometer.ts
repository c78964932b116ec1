import si from 'systeminformation'
import { type Clock, processorCelsius } from '../platform/index.ts'

/** Raspberry Pi and most small boxes slow down from here on. */
export const hotCelsius = 80
/** Where no file of the kernel has the temperature, programs are asked so seldom: two shells and `sensors` start each time. */
const whileCoolMs = 10 * 60_000
/** A box is hot when it has been so for ten minutes: one reading that is kept for as long would be enough for that. */
const whileHotMs = 60_000

type ThermometerNeeds = {
  readonly clock: Pick<Clock, 'monotonic'>
  /** Where the kernel describes its devices. Default: /sys. */
  readonly sys?: string
  /** Asks programs for the temperature in °C. Default: systeminformation, which knows the most of them. */
  readonly askPrograms?: () => Promise<number | null>
}

/** Measures the heat of the processor: read from the kernel each time, and from programs where the kernel does not report it. */
export class Thermometer {
  readonly #needs: ThermometerNeeds
  #asked: { readonly atMs: number; readonly celsius: number | undefined } | undefined

  constructor(needs: ThermometerNeeds) {
    this.#needs = needs
  }

  /**
   * Returns °C; undefined without a source. Starts no programs where the kernel reports it; elsewhere at most every ten minutes,
   * and every minute while the box is hot.
   */
  async celsius(): Promise<number | undefined> {
    const { clock, sys, askPrograms = askSystemInformation } = this.#needs
    const known = processorCelsius(sys)
    if (known !== undefined) return known
    const programsEveryMs = (this.#asked?.celsius ?? 0) >= hotCelsius ? whileHotMs : whileCoolMs
    const nowMs = clock.monotonic()
    if (!this.#asked || nowMs - this.#asked.atMs >= programsEveryMs) {
      this.#asked = { atMs: nowMs, celsius: (await askPrograms().catch(() => null)) ?? undefined }
    }
    return this.#asked.celsius
  }
}

const askSystemInformation = async () => (await si.cpuTemperature()).main
