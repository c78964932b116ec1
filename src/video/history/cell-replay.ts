/** Replays stored cells through the same scorer and detector as live, with any settings. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { framesPerSecond } from '../decoding/frames.ts'
import { longestGroupMs } from '../decoding/wakefulness.ts'
import { type CellEntry, type LazyBlock, readBlock } from '../motion/cell-block.ts'
import { type DetectorSettings, longestClipMs } from '../motion/detector.ts'
import { cellCount } from '../motion/grid.ts'
import type { MotionArea } from '../motion/mask.ts'
import { type JudgeOutcome, MotionJudge } from '../motion/motion-judge.ts'
import { type CellFile, cellFileMs, cellFileName, listCellFiles } from './cell-files.ts'

/** From `fromMs` to `toMs`, exclusive; wall clock. */
type Span = { readonly fromMs: number; readonly toMs: number }

export type ReplaySpec = Span & {
  readonly folder: string
  readonly cameraId: number
  readonly settings: DetectorSettings
  readonly area: MotionArea
  /** Whether to return the score of each frame; `cells` adds its cells. */
  readonly wants: 'events' | 'scores' | 'cells'
}

/** Motion as it would have been recorded. Wall clock times. */
export type ReplayedMotion = {
  readonly motionMs: number
  /** The largest score from then on to the end; for motion without a clip, that which fired. */
  readonly score: number
  readonly hasClip: boolean
  /** When its clip ended, or what was seen did; the motion itself without a clip. */
  readonly endMs: number
}

export type Replayed = {
  /** Oldest first; also motion that fired somewhat before and after the span. */
  readonly motions: readonly ReplayedMotion[]
  /** When pictures were judged, clipped to the span, oldest first. */
  readonly seen: readonly Span[]
  /** One for each 200 ms from `fromMs` on; NaN where no frame was judged. */
  readonly scores: Float64Array<ArrayBuffer> | undefined
  /** 144 bytes for each of these, in percent; 255 where no frame was judged. */
  readonly cells: Uint8Array<ArrayBuffer> | undefined
}

export const intervalMs = 1000 / framesPerSecond
/** By then what moves all the time is learned as it was: 30 s count, and this is twenty times as long. */
const learningMs = 600_000
/** Motion fires up to this long after it began. */
const aheadMs = 30_000
/** Without a frame for so long, no one watched. A sleeping decoder returns a key frame each two seconds. */
const pauseMs = longestGroupMs + 300
export const noPicture = 255

/** Reads the stored cells of a camera and judges them again. Files that vanish meanwhile are a time without pictures. */
export async function replayCells(spec: ReplaySpec): Promise<Replayed> {
  const run = new Replay(spec)
  for (const file of await filesOf(spec)) {
    const bytes = await readFile(join(spec.folder, cellFileName(file))).catch((err: NodeJS.ErrnoException) =>
      err.code === 'ENOENT' ? Buffer.alloc(0) : Promise.reject(err),
    )
    run.begin(file)
    for (let at = 0; ; ) {
      const found = readBlock(bytes.subarray(at))
      if (!found) break
      run.take(found.block)
      at += found.length
    }
  }
  return run.result()
}

/** The time before the span that decides what happens in it: what was learned, and a clip or cooldown that goes on. */
function warmUpMs({ settings }: ReplaySpec): number {
  return learningMs + Math.max(longestClipMs, settings.postRecordMs) + settings.cooldownMs
}

async function filesOf(spec: ReplaySpec): Promise<CellFile[]> {
  const fromMs = spec.fromMs - warmUpMs(spec) - cellFileMs
  const files = await listCellFiles(spec.folder)
  return files.filter(
    ({ cameraId, startMs }) => cameraId === spec.cameraId && startMs >= fromMs && startMs < spec.toMs + aheadMs,
  )
}

class Replay {
  readonly #spec: ReplaySpec
  readonly #beginMs: number
  readonly #motions: ReplayedMotion[] = []
  readonly #seen: { fromMs: number; toMs: number }[] = []
  readonly #scores: Float64Array<ArrayBuffer> | undefined
  readonly #cells: Uint8Array<ArrayBuffer> | undefined
  #judge: MotionJudge
  #runMs: number | undefined
  /** The motion whose clip is open. */
  #open: ReplayedMotion | undefined
  #lastMs = -Infinity

  constructor(spec: ReplaySpec) {
    const slots = spec.wants === 'events' ? 0 : Math.ceil((spec.toMs - spec.fromMs) / intervalMs)
    this.#spec = spec
    this.#beginMs = spec.fromMs - warmUpMs(spec)
    this.#judge = new MotionJudge(spec.area)
    if (spec.wants !== 'events') this.#scores = new Float64Array(slots).fill(Number.NaN)
    if (spec.wants === 'cells') this.#cells = new Uint8Array(slots * cellCount).fill(noPicture)
  }

  /** Begins a file: that of another run has another scorer and detector. */
  begin({ runMs }: CellFile): void {
    if (runMs === this.#runMs) return
    this.#end()
    this.#runMs = runMs
    this.#judge = new MotionJudge(this.#spec.area)
  }

  take(block: LazyBlock): void {
    if (block.fromMs < this.#beginMs || block.fromMs >= this.#spec.toMs + aheadMs) return
    for (const entry of block.entries()) this.#enter(entry, block.wallOffsetMs)
  }

  result(): Replayed {
    this.#end()
    const motions = this.#motions.toSorted((a, b) => a.motionMs - b.motionMs)
    return { motions, seen: this.#seen, scores: this.#scores, cells: this.#cells }
  }

  #enter(entry: CellEntry, wallOffsetMs: number): void {
    const { settings } = this.#spec
    switch (entry.kind) {
      case 'reconnected':
        this.#judge.reconnect()
        break
      case 'interrupted':
        this.#note(this.#judge.interrupt(entry.why, entry.endMs, entry.nowMs, settings), wallOffsetMs)
        break
      case 'frame': {
        // A score up to the sensitivity decides nothing.
        const least = this.#scores ? 0 : settings.sensitivity
        const { score, outcomes } = this.#judge.frame(entry.cells, entry.times, settings, least)
        const atMs = entry.times.takenMs + wallOffsetMs
        this.#note(outcomes, wallOffsetMs)
        this.#see(atMs)
        this.#keep(atMs, score.score, entry.cells.changed)
      }
    }
  }

  #note(outcomes: readonly JudgeOutcome[], wallOffsetMs: number): void {
    for (const outcome of outcomes) {
      if (outcome.kind === 'closed') {
        if (this.#open)
          this.#motions.push({ ...this.#open, score: outcome.peakScore, endMs: outcome.endMs + wallOffsetMs })
        this.#open = undefined
        continue
      }
      const motionMs = outcome.motionMs + wallOffsetMs
      // The open clip of another motion shows a scene change.
      const hasClip = outcome.kind === 'fired' && outcome.clipFromMs !== null
      const motion = { motionMs, score: outcome.score, hasClip, endMs: motionMs }
      if (motion.hasClip) this.#open = motion
      else this.#motions.push(motion)
    }
  }

  /** Nothing follows: what is open ends with the last picture. */
  #end(): void {
    if (this.#open) {
      const { peakScore } = this.#judge
      this.#motions.push({ ...this.#open, score: peakScore, endMs: Math.max(this.#lastMs, this.#open.motionMs) })
    }
    this.#open = undefined
  }

  #see(atMs: number): void {
    const { fromMs, toMs } = this.#spec
    const isNext = atMs >= this.#lastMs && atMs - this.#lastMs < pauseMs
    const beginMs = Math.max(isNext ? this.#lastMs : atMs, fromMs)
    const endMs = Math.min(atMs + intervalMs, toMs)
    this.#lastMs = atMs
    if (endMs <= beginMs) return
    const last = this.#seen.at(-1)
    if (isNext && last) last.toMs = Math.max(last.toMs, endMs)
    else this.#seen.push({ fromMs: beginMs, toMs: endMs })
  }

  #keep(atMs: number, score: number, changed: Uint8Array): void {
    const slot = Math.floor((atMs - this.#spec.fromMs) / intervalMs)
    if (!this.#scores || slot < 0 || slot >= this.#scores.length) return
    const known = this.#scores[slot] ?? Number.NaN
    if (known > score) return
    this.#scores[slot] = score
    this.#cells?.set(changed, slot * cellCount)
  }
}
