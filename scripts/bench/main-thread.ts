import { median, quantile } from './statistics.ts'

/** An event of a trace of Chromium; times are microseconds. */
type TraceEvent = {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  /** Processor time of its thread. */
  readonly tdur?: number
}

export type MainThread = {
  /** Processor time of each frame: of the task that drew it, and of all tasks until the next one. */
  readonly frameMs: readonly number[]
  readonly longestTaskMs: number
}

export const traceCategories = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline']

/** Reads what the main thread of a page did out of a trace: of the page that drew most frames. */
export function mainThreadOf(trace: Buffer): MainThread {
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as { traceEvents: readonly TraceEvent[] }
  const drawn = traceEvents.filter(({ name }) => name === 'FireAnimationFrame')
  const home = mostOften(drawn.map(({ pid, tid }) => `${pid} ${tid}`))
  const isHere = ({ pid, tid }: TraceEvent) => `${pid} ${tid}` === home
  const starts = drawn.filter(isHere).map(({ ts }) => ts)
  const tasks = traceEvents
    .filter((event) => isHere(event) && event.name === 'RunTask' && event.dur !== undefined)
    .toSorted((a, b) => a.ts - b.ts)
  if (tasks.length === 0 || starts.length === 0) throw new Error('the trace of Chromium has no tasks of a page')
  const frameMs: number[] = []
  for (const task of tasks) {
    const isFrame = starts.some((ts) => ts >= task.ts && ts <= task.ts + (task.dur ?? 0))
    if (isFrame) frameMs.push(0)
    const last = frameMs.length - 1
    if (last >= 0) frameMs[last] = (frameMs[last] ?? 0) + cpuOf(task)
  }
  return { frameMs, longestTaskMs: Math.max(...tasks.map(cpuOf)) }
}

export const framesInWords = ({ frameMs }: MainThread): string =>
  `p50 ${median(frameMs).toFixed(2)} ms, p95 ${quantile(frameMs, 0.95).toFixed(2)} ms, most ${Math.max(...frameMs).toFixed(1)} ms of ${frameMs.length} frames`

const cpuOf = ({ dur = 0, tdur = dur }: TraceEvent): number => tdur / 1000

function mostOften(values: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}
