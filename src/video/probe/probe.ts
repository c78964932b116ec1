import type { Clock } from '../../platform/index.ts'
import type { Problem } from '../problems.ts'
import { type Ended, Ingest, type IngestOptions } from '../stream/ingest.ts'
import type { StreamSource } from '../stream/source.ts'
import { type StreamFacts, StreamMeasure } from './measure.ts'

export type ProbeOptions = {
  readonly ffmpeg: IngestOptions['ffmpeg']
  readonly source: StreamSource
  readonly clock: Clock
  /** Measures for at least this long after the first picture. */
  readonly leastSeconds: number
  /** Ends the measurement early; the ffmpeg is ended too. */
  readonly signal: AbortSignal
}

export type Probed = {
  /** Null when no picture came. */
  readonly facts: StreamFacts | null
  /** Why there is no usable stream, or why it ended early; null: none. */
  readonly problem: Problem | null
}

/** From the start; the last one is for streams whose key frames are far apart. */
const limits = { firstPictureMs: 20_000, frozenMs: 5000, longestMs: 60_000, killMs: 2000 } as const
const lookEveryMs = 100

/**
 * Opens a stream as the daemon does and measures it until there were two key frames and `leastSeconds`, at most for 60
 * s. Resolves when no ffmpeg is left.
 */
export async function probeStream(options: ProbeOptions): Promise<Probed> {
  const first = await attempt(options, false)
  // An ffmpeg that can set times writes pictures that come out of order, once it is asked to.
  if (first.problem !== 'reordered' || !options.ffmpeg.dialect.setsTimes || options.signal.aborted) return first
  const second = await attempt(options, true)
  return second.facts ? { ...second, facts: { ...second.facts, bFrames: true } } : second
}

async function attempt(options: ProbeOptions, reordered: boolean): Promise<Probed> {
  const { ffmpeg, source, clock, signal } = options
  const measure = new StreamMeasure()
  const startedMs = clock.monotonic()
  let lastMs = startedMs
  let firstMs: number | undefined
  const ended = Promise.withResolvers<Ended>()
  const ingest = new Ingest({
    ...{
      ffmpeg,
      source,
      clock,
      outputs: { video: true, frames: false, reordered, fromAnywhere: true },
      talkative: true,
    },
    onVideo: (bytes) => {
      lastMs = clock.monotonic()
      measure.push(bytes, lastMs)
      if (measure.pictures > 0) firstMs ??= lastMs
    },
    onFrames: () => {},
    onEnded: (last) => ended.resolve(last),
  })
  const stop = Promise.withResolvers<Problem | null>()
  const look = () => {
    const why = reasonToStop({ nowMs: clock.monotonic(), startedMs, firstMs, lastMs }, measure, options)
    if (why !== undefined) stop.resolve(why)
    else cancel = clock.after(lookEveryMs, look)
  }
  let cancel = clock.after(lookEveryMs, look)
  signal.addEventListener('abort', () => stop.resolve(null), { once: true })
  if (signal.aborted) stop.resolve(null)
  const outcome = await Promise.race([
    stop.promise.then((problem) => ({ problem })),
    ended.promise.then(({ problem }) => ({ problem })),
  ])
  cancel()
  ingest.terminate()
  const cancelKill = clock.after(limits.killMs, () => ingest.kill())
  const { said } = await ended.promise
  cancelKill()
  const { problem } = outcome
  return { facts: measure.pictures > 0 ? measure.facts(problem, audioIn(said)) : null, problem }
}

type Times = { nowMs: number; startedMs: number; firstMs: number | undefined; lastMs: number }

/** Returns null when enough was seen, a problem when waiting longer is pointless, undefined to go on. */
function reasonToStop(
  times: Times,
  measure: StreamMeasure,
  { leastSeconds }: ProbeOptions,
): Problem | null | undefined {
  const { nowMs, startedMs, firstMs, lastMs } = times
  if (firstMs === undefined) return nowMs - startedMs > limits.firstPictureMs ? 'no-picture' : undefined
  if (nowMs - lastMs > limits.frozenMs) return 'frozen'
  if (measure.keyFrames >= 2 && nowMs - firstMs >= leastSeconds * 1000) return null
  if (nowMs - startedMs < limits.longestMs) return undefined
  return measure.keyFrames === 0 ? 'no-key-frame' : null
}

/** Returns the codec of a sound track from ffmpeg's messages about its input. */
function audioIn(said: string): string | null {
  return /Stream #0:\d+.*?: Audio: (\w+)/.exec(said)?.[1] ?? null
}
