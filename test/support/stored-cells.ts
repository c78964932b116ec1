import { createLogger } from '../../src/platform/index.ts'
import { CellRecorder } from '../../src/video/history/cell-recorder.ts'
import { CellStore } from '../../src/video/history/cell-store.ts'
import type { FrameCells } from '../../src/video/motion/cells.ts'
import { cellCount, columns } from '../../src/video/motion/grid.ts'
import { SimulatedClock } from './simulated-clock.ts'

export const quietCells: FrameCells = { changed: new Uint8Array(cellCount), whole: null, view: 'normal' }

/** A frame in which four cells have changed wholly; the upper left one is in this column. */
export function busyCells(column = 3): FrameCells {
  const changed = new Uint8Array(cellCount)
  for (const at of [0, 1, columns, columns + 1]) changed[2 * columns + column + at] = 100
  return { changed, whole: null, view: 'normal' }
}

type Limits = { readonly days: number; readonly mostBytes: number }

/** A shelf of stored cells on its own clock, in `folder`; cameras 1 to 9 are known. */
export function cellStore(folder: string, clock: SimulatedClock, limits: Partial<Limits> = {}, freeBytes = () => 1e12) {
  const store = new CellStore({ folder, clock, log: createLogger({ level: 'silent' }), freeBytes })
  store.clockIsTrusted = true
  store.limits = { days: 7, mostBytes: 1e9, ...limits }
  for (const cameraId of Array(9).keys()) store.know(cameraId + 1, true)
  return store
}

/** Stores frames of a camera as if they had been judged from `fromMs` on, five a second. */
export async function storeCells(folder: string, cameraId: number, fromMs: number, frames: readonly FrameCells[]) {
  const clock = new SimulatedClock(fromMs)
  const store = cellStore(folder, clock)
  const recorder = new CellRecorder({ cameraId, shelf: store, clock })
  for (const cells of frames) {
    const takenMs = clock.monotonic()
    recorder.frame(cells, { takenMs, arrivedMs: takenMs + 500 })
    clock.advance(200)
  }
  recorder.flush()
  await store.stop()
}
