import type { Clock } from '../../platform/index.ts'
import { type CellEntry, writeBlock } from '../motion/cell-block.ts'
import type { FrameCells } from '../motion/cells.ts'
import type { Interruption } from '../motion/detector.ts'
import type { FrameTimes } from '../motion/motion-judge.ts'

/** Takes the results of motion detection, in order. */
export type CellSink = {
  frame(cells: FrameCells, times: FrameTimes): void
  /** Another connection begins. */
  reconnected(): void
  interrupted(interruption: { why: Interruption; endMs: number; nowMs: number }): void
}

/** The disk as a recorder sees it. Taking never waits. */
export type CellShelf = {
  /** Whether cells are stored at all. */
  readonly isOn: boolean
  append(cameraId: number, block: FiledBlock): void
}

/** A block with its place. Wall clock times. */
export type FiledBlock = { readonly runMs: number; readonly fromMs: number; readonly bytes: Buffer }

/** Frames that are lost when the gateway is killed: ten seconds at most. */
const blockFrames = 50
/** Entries without frames are few; this bounds them all the same. */
const blockEntries = 200
/** A wall clock that moves more than this against the monotonic one was set, and another run begins. */
const clockSetMs = 1000

/**
 * Stores the results of motion detection of one camera, in blocks. A run is the time in which scorer and detector went on without a
 * break of their state or of the clock.
 */
export class CellRecorder implements CellSink {
  readonly #needs: { readonly cameraId: number; readonly shelf: CellShelf; readonly clock: Clock }
  #entries: CellEntry[] = []
  #frames = 0
  #first: { readonly takenMs: number; readonly wallOffsetMs: number } | undefined
  #run: { readonly atMs: number; readonly wallOffsetMs: number } | undefined

  constructor(needs: { readonly cameraId: number; readonly shelf: CellShelf; readonly clock: Clock }) {
    this.#needs = needs
  }

  frame(cells: FrameCells, times: FrameTimes): void {
    if (!this.#isKept()) return
    this.#first ??= { takenMs: times.takenMs, wallOffsetMs: this.#wallOffset() }
    this.#frames += 1
    this.#entries.push({ kind: 'frame', cells, times })
    if (this.#frames >= blockFrames) this.flush()
  }

  reconnected(): void {
    this.#add({ kind: 'reconnected' })
  }

  interrupted(interruption: { why: Interruption; endMs: number; nowMs: number }): void {
    this.#add({ kind: 'interrupted', ...interruption })
    this.flush()
  }

  /** Hands over the entries that have come. */
  flush(): void {
    const first = this.#first
    // Without a frame there is no time to file it under; it goes with the next one.
    if (!first) return
    const wallOffsetMs = first.wallOffsetMs
    const fromMs = first.takenMs + wallOffsetMs
    if (!this.#run || Math.abs(wallOffsetMs - this.#run.wallOffsetMs) > clockSetMs)
      this.#run = { atMs: fromMs, wallOffsetMs }
    else this.#run = { ...this.#run, wallOffsetMs }
    const bytes = writeBlock({ wallOffsetMs, entries: this.#entries }, first.takenMs)
    this.#needs.shelf.append(this.#needs.cameraId, { runMs: this.#run.atMs, fromMs, bytes })
    this.#empty()
  }

  #add(entry: CellEntry): void {
    if (!this.#isKept()) return
    this.#entries.push(entry)
    if (this.#entries.length < blockEntries) return
    this.flush()
    if (this.#entries.length > 0) this.#forget()
  }

  #isKept(): boolean {
    if (!this.#needs.shelf.isOn) this.#forget()
    return this.#needs.shelf.isOn
  }

  /** Leaves out the entries that wait: later ones do not continue the stored ones. */
  #forget(): void {
    this.#run = undefined
    this.#empty()
  }

  #empty(): void {
    this.#entries = []
    this.#frames = 0
    this.#first = undefined
  }

  #wallOffset(): number {
    return Math.round(this.#needs.clock.now() - this.#needs.clock.monotonic())
  }
}
