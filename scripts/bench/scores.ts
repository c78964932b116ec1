import { createLogger } from '../../src/platform/index.ts'
import { CellRecorder } from '../../src/video/history/cell-recorder.ts'
import { replayCells } from '../../src/video/history/cell-replay.ts'
import { CellStore } from '../../src/video/history/cell-store.ts'
import { frameSize } from '../../src/video/index.ts'
import { Comparer, type FrameCells } from '../../src/video/motion/cells.ts'
import { Scorer } from '../../src/video/motion/score.ts'
import { type KindName, makeScene } from '../../test/support/scenes/kinds.ts'
import { frameMs, play } from '../../test/support/scenes/play.ts'
import { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { type Figure, millis, rounded } from './figure.ts'
import type { Workshop } from './workshop.ts'

/** The scenes of a day of each camera, played again and again. */
const days = { quiet: ['noise'], aisle: ['busy aisle', 'forklift'], yard: ['foliage', 'rain', 'shake'] } as const
const sceneMs = 150_000
const dayMs = 24 * 3_600_000
const mebibyte = 1024 * 1024
/** So that sixteen cameras fit into the default of `retention.scores.maxBytes`, 1 GiB, for seven days. */
const mostMebibytes = 9.1
const settings = { sensitivity: 0.3, cooldownMs: 5000, preRecordMs: 5000, postRecordMs: 10_000 }
const area = { masks: [], zones: [] }

/**
 * Measures the storage of the cells of motion detection for a day, and the time of a what-if question about that day.
 */
export async function measureScores(workshop: Workshop): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, scenes] of Object.entries(days)) {
    figures.push(...(await measureDay(workshop, name, scenes)))
  }
  return figures
}

async function measureDay(workshop: Workshop, name: string, scenes: readonly KindName[]): Promise<Figure[]> {
  const { cells, scoreMicros } = scored(scenes)
  const folder = workshop.newFolder(`scores-${name}`)
  const { bytes, writeMicros, fromMs } = await writeDay(folder, cells)
  const startedMs = performance.now()
  const startedCpu = process.threadCpuUsage()
  const span = { fromMs, toMs: fromMs + dayMs }
  const { motions } = await replayCells({ ...span, folder, cameraId: 1, settings, area, wants: 'events' })
  const replayMs = performance.now() - startedMs
  const cpuMs = process.threadCpuUsage(startedCpu).user / 1000
  return [
    {
      id: `scores-bytes-${name}`,
      what: `Scores of a camera for a day (${scenes.join(', ')})`,
      value: bytes / mebibyte,
      unit: 'MiB',
      target: { limit: mostMebibytes, sense: 'at most' },
      raw: `${rounded((bytes * 7) / mebibyte)} MiB a week`,
      numbers: { bytes },
    },
    {
      id: `scores-write-${name}`,
      what: `Keeping them, beside scoring (${scenes.join(', ')})`,
      value: writeMicros / scoreMicros,
      unit: '×',
      target: { limit: 0.05, sense: 'at most' },
      raw: `${rounded(writeMicros)} µs a frame against ${rounded(scoreMicros)} µs`,
      numbers: { writeMicros, scoreMicros },
    },
    {
      id: `scores-what-if-${name}`,
      what: `What-if over 24 hours (${scenes.join(', ')})`,
      value: replayMs,
      unit: 'ms',
      target: { limit: 2000, sense: 'at most' },
      raw: `${motions.length} events, ${millis(cpuMs)} of processor time`,
      numbers: { replayMs, cpuMs, events: motions.length },
    },
  ]
}

function scored(scenes: readonly KindName[]): { cells: FrameCells[]; scoreMicros: number } {
  const cells: FrameCells[] = []
  let cpuMicros = 0
  for (const kind of scenes) {
    const frames = [...play(makeScene(kind, 2, sceneMs))]
    const comparer = new Comparer(frameSize)
    const scorer = new Scorer()
    const before = process.threadCpuUsage()
    for (const frame of frames) {
      const seen = comparer.push(frame)
      scorer.push(seen)
      cells.push(seen)
    }
    cpuMicros += process.threadCpuUsage(before).user
  }
  return { cells, scoreMicros: cpuMicros / cells.length }
}

/** Writes a day by the same code as a camera, at the times of a simulated clock. */
async function writeDay(folder: string, cells: readonly FrameCells[]) {
  const clock = new SimulatedClock()
  const log = createLogger({ level: 'error' })
  const store = new CellStore({ folder, clock, log, freeBytes: () => Number.POSITIVE_INFINITY })
  store.limits = { days: 7, mostBytes: Number.POSITIVE_INFINITY }
  store.know(1, true)
  let bytes = 0
  const shelf = {
    isOn: true,
    append(cameraId: number, block: Parameters<CellStore['append']>[1]) {
      bytes += block.bytes.length
      store.append(cameraId, block)
    },
  }
  const recorder = new CellRecorder({ cameraId: 1, shelf, clock })
  const fromMs = clock.now()
  const count = dayMs / frameMs
  let cpuMicros = 0
  for (let i = 0; i < count; i += 1) {
    const frame = cells[i % cells.length] as FrameCells
    const takenMs = i * frameMs
    clock.advance(frameMs)
    const startedMs = performance.now()
    recorder.frame(frame, { takenMs, arrivedMs: takenMs + 500 })
    cpuMicros += (performance.now() - startedMs) * 1000
    if (i % 5000 === 0) await store.written()
  }
  recorder.flush()
  await store.stop()
  return { bytes, writeMicros: cpuMicros / count, fromMs }
}
