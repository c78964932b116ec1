import { rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import si from 'systeminformation'
import { type Clock, temporaryFolder } from '../platform/index.ts'
import { LoadStream, makeTestVideo, ringBytes, testVideo } from '../video/index.ts'

/** Load of this box with a number of simulated cameras, beside everything that runs already. */
export type Step = {
  readonly cameras: number
  /** Share of the frames that should have come and were scored, 0 to 1. */
  readonly scoredShare: number
  /** Share of all processors that was busy, 0 to 1. */
  readonly busyShare: number
  readonly memoryAvailableBytes: number
  readonly memoryTotalBytes: number
}

export type Limit = 'processor' | 'memory' | 'late pictures'

/**
 * JSON of `gatehouse doctor --capacity --json`. `limit`: the reason against another camera; null: the largest number that is tried
 * fits.
 */
export type Capacity = {
  readonly fits: number
  readonly limit: Limit | null
  readonly video: typeof testVideo
  readonly steps: readonly (Step & { readonly limit: Limit | null })[]
}

export type CapacityNeeds = {
  readonly ffmpegPath: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Length of each step, after its first two seconds. Default: 5. */
  readonly stepSeconds?: number
  /** Default: 64. */
  readonly most?: number
}

/** Left to the ledger, clips and everything else. */
const busiestShare = 0.8
const leastScored = 0.95
const leastMemoryShare = 0.1
const warmUpMs = 2000

/** Says what keeps a number of cameras from working well; null: nothing. */
export function limitOf(step: Omit<Step, 'cameras'>): Limit | null {
  if (step.memoryAvailableBytes < step.memoryTotalBytes * leastMemoryShare) return 'memory'
  if (step.busyShare > busiestShare) return 'processor'
  return step.scoredShare < leastScored ? 'late pictures' : null
}

/**
 * Returns the next number of cameras to try: twice as many until some do not fit, then between. Undefined when the answer is known
 * to an eighth.
 */
export function nextCount(
  tried: readonly { cameras: number; limit: Limit | null }[],
  most: number,
): number | undefined {
  const good = Math.max(0, ...tried.filter(({ limit }) => limit === null).map(({ cameras }) => cameras))
  const bad = Math.min(most + 1, ...tried.filter(({ limit }) => limit !== null).map(({ cameras }) => cameras))
  if (bad === most + 1) return good >= most ? undefined : Math.min(most, Math.max(1, good * 2))
  return bad - good <= Math.max(1, Math.floor(good / 8)) ? undefined : Math.floor((good + bad) / 2)
}

/**
 * Measures how many more cameras fit on this box. It processes streams of a made video as the gateway does: ffmpeg decodes, the
 * ring holds, detection scores. Takes 7 s for each number that is tried, at most a dozen of them. Throws when this ffmpeg cannot
 * make the video.
 */
export async function measureCapacity(needs: CapacityNeeds): Promise<Capacity> {
  const { ffmpegPath, most = 64, signal } = needs
  const folder = temporaryFolder()
  const streams: LoadStream[] = []
  const steps: (Step & { limit: Limit | null })[] = []
  try {
    const file = join(folder, 'video.ts')
    await makeTestVideo(ffmpegPath, file)
    for (let count = nextCount(steps, most); count !== undefined && !signal.aborted; count = nextCount(steps, most)) {
      while (streams.length < count) streams.push(new LoadStream({ ...needs, file }))
      await Promise.all(streams.splice(count).map((stream) => stream.stop()))
      const step = await measured(streams, needs)
      steps.push({ ...step, limit: limitOf(step) })
    }
  } finally {
    await Promise.all(streams.map((stream) => stream.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  const good = steps.filter(({ limit }) => limit === null).map(({ cameras }) => cameras)
  const worse = steps.filter(({ limit }) => limit !== null).toSorted((a, b) => a.cameras - b.cameras)
  return { fits: Math.max(0, ...good), limit: worse[0]?.limit ?? null, video: testVideo, steps }
}

async function measured(streams: readonly LoadStream[], { clock, stepSeconds = 5 }: CapacityNeeds): Promise<Step> {
  await pause(clock, warmUpMs)
  const before = { atMs: clock.monotonic(), scored: scoredBy(streams), busy: processorTimes() }
  await pause(clock, stepSeconds * 1000)
  const seconds = (clock.monotonic() - before.atMs) / 1000
  const expected = streams.length * LoadStream.framesPerSecond * seconds
  const now = processorTimes()
  const { total, available } = await si.mem()
  return {
    cameras: streams.length,
    scoredShare: Math.min(1, (scoredBy(streams) - before.scored) / expected),
    busyShare: 1 - (now.idle - before.busy.idle) / Math.max(1, now.all - before.busy.all),
    // Memory of a camera fills up over minutes, and is not full yet.
    memoryAvailableBytes: available - streams.length * ringBytes,
    memoryTotalBytes: total,
  }
}

function scoredBy(streams: readonly LoadStream[]): number {
  return streams.map((stream) => stream.counts()).reduce((sum, { frames, dropped }) => sum + frames - dropped, 0)
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(({ times: one }) => one)
  const sum = (of: (one: (typeof times)[number]) => number) => times.reduce((all, one) => all + of(one), 0)
  return { idle: sum(({ idle }) => idle), all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq) }
}

const pause = (clock: Clock, ms: number) => new Promise<void>((resolve) => clock.after(ms, () => resolve()))

const limitWords: Record<Limit, string> = {
  processor: 'the processor is busy',
  memory: 'the memory is used up',
  'late pictures': 'pictures come too late to be scored',
}

/** Returns the measurement for people. */
export function capacityWords({ fits, limit, video, steps }: Capacity): string {
  const { width, height, picturesPerSecond, megabitsPerSecond } = video
  const percent = (share: number) => `${Math.round(share * 100)} %`
  const lines = steps.map(
    ({ cameras, busyShare, scoredShare, limit: why }) =>
      `  ${String(cameras).padStart(3)} more: processor ${percent(busyShare)} busy, ${percent(scoredShare)} of the pictures scored${why === null ? '' : `; ${limitWords[why]}`}\n`,
  )
  const end = limit === null ? 'more were not tried' : `then ${limitWords[limit]}`
  const camera = `${width} x ${height}, ${picturesPerSecond} pictures a second, H.264, ${megabitsPerSecond} Mb/s`
  return `${lines.join('')}${fits} more cameras fit on this box beside what it does now (${end}).
Each as measured: ${camera}, with detection on. With a smaller detectUrl more fit; with larger streams, fewer.
`
}
