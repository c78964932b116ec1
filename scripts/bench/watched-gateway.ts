/** A gateway that watches its own event loop: started by the first message, read off by every further one. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startGateway } from '../../src/app/index.ts'
import { loadConfig } from '../../src/config/index.ts'
import { createLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { answering } from './workshop.ts'

export type Watch = { readonly start: string } | { readonly readOff: true }

/** Delay of a timer of 1 ms since the last time that it was read off. */
export type LoopDelay = { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number }

const histogram = monitorEventLoopDelay({ resolution: 1 })

answering(async (watch: Watch): Promise<{ url: string } | LoopDelay> => {
  if ('readOff' in watch) return readOff()
  const outside = { clock: systemClock, random: systemRandom, log: createLogger({ level: 'warn' }), version: 'bench' }
  const { ports } = await startGateway(loadConfig(watch.start).config, outside, watch.start)
  histogram.enable()
  return { url: `http://127.0.0.1:${ports[0]}` }
})

function readOff(): LoopDelay {
  const ms = (nanoseconds: number) => nanoseconds / 1e6
  const delay = {
    p50Ms: ms(histogram.percentile(50)),
    p99Ms: ms(histogram.percentile(99)),
    maxMs: ms(histogram.max),
  }
  histogram.reset()
  return delay
}
