import si from 'systeminformation'
import type { Clock } from '../platform/index.ts'

/** Load and free memory of the machine, and its temperature where it has a sensor. */
export type BoxSample = {
  readonly cpuLoadPercent: number | undefined
  readonly memoryAvailableBytes: number | undefined
  readonly temperatureCelsius: number | undefined
}

const freshMs = 10_000

/** Returns a function that asks the system at most once in ten seconds and shares its answer. */
export function boxSampler(clock: Pick<Clock, 'monotonic'>): () => Promise<BoxSample> {
  let last: { atMs: number; sample: Promise<BoxSample> } | undefined
  return () => {
    if (!last || clock.monotonic() - last.atMs > freshMs) last = { atMs: clock.monotonic(), sample: sampleBox() }
    return last.sample
  }
}

async function sampleBox(): Promise<BoxSample> {
  const [load, memory, temperature] = await Promise.allSettled([si.currentLoad(), si.mem(), si.cpuTemperature()])
  return {
    cpuLoadPercent: load.status === 'fulfilled' ? load.value.currentLoad : undefined,
    memoryAvailableBytes: memory.status === 'fulfilled' ? memory.value.available : undefined,
    temperatureCelsius: temperature.status === 'fulfilled' ? (temperature.value.main ?? undefined) : undefined,
  }
}
