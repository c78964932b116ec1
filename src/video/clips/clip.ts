import { rm } from 'node:fs/promises'
import { makeFolder } from '../../platform/index.ts'
import type { DetectionFacts } from '../messages.ts'
import type { Ring } from '../stream/ring.ts'
import { type Beginnings, type ClipTools, type Ending, lost, type Sidecar } from './clip-loss.ts'
import { type ClipResult, makeClip } from './clip-making.ts'
import { sidecarPath, spoolPath } from './clip-paths.ts'
import { writeDurably } from './durable.ts'
import { type Beginning, Spool } from './spool.ts'

/** All times monotonic, but for `wallOffsetMs`, which turns them into labels. */
export type ClipRequest = {
  readonly facts: DetectionFacts
  readonly ring: Ring
  readonly fromMs: number
  /** End of the cooldown of the last clip. */
  readonly notBeforeMs: number
  /** Pre-roll of the settings; a cooldown or a young ring may give less. */
  readonly askedPreRollMs: number
  /** Wall clock minus monotonic clock at the moment of motion. One for the whole clip, so that its labels fit together. */
  readonly wallOffsetMs: number
}

/** Records one clip, from the moment motion fires to the file on disk. */
export class Recording {
  readonly #tools: ClipTools
  readonly #request: ClipRequest
  readonly #spool: Spool

  /** Takes the pre-roll from the ring at once. */
  constructor(tools: ClipTools, request: ClipRequest) {
    this.#tools = tools
    this.#request = request
    const { facts, ring, fromMs, notBeforeMs } = request
    const path = spoolPath(tools, facts.detectionId)
    this.#spool = new Spool({
      path,
      ring,
      fromMs,
      notBeforeMs,
      room: tools.room,
      prepare: (beginning) => this.#note(beginning),
    })
  }

  /** Resolves when the spool has all video that was taken, or has failed. */
  get drained(): Promise<void> {
    return this.#spool.drained
  }

  /**
   * Ends the clip at `endMs` (monotonic), or earlier if the video does. Never rejects. Resolves with undefined when the clip could
   * not be made; the next start tries it again. Calls `onKept` when the first attempt has failed.
   */
  async close(endMs: number, ending: Ending, onKept?: () => void): Promise<ClipResult | undefined> {
    return (await this.end(endMs))(ending, onKept)
  }

  /** Takes no more video. Returns the function that makes the clip. Neither rejects. */
  async end(endMs: number): Promise<(ending: Ending, onKept?: () => void) => Promise<ClipResult | undefined>> {
    const { facts, wallOffsetMs } = this.#request
    try {
      const spooled = await this.#spool.close(endMs)
      const bounds = { ...this.#beginnings(spooled), endAt: endMs + wallOffsetMs }
      return (ending, onKept = () => {}) => {
        const closedBy = spooled.cutShort ?? ending.closedBy
        const plan = { facts, bounds, ending: { ...ending, closedBy, streamEnd: spooled.streamEnd } }
        // A clip that waits for its next attempt keeps no room from the others.
        const release = () => this.#spool.release()
        const kept = () => {
          release()
          onKept()
        }
        return makeClip(this.#tools, plan, { onKept: kept, hasRoom: true }).finally(release)
      }
    } catch (error) {
      this.#spool.release()
      return async (_ending, onKept) => {
        const loss = await lost(this.#tools, facts, error, onKept)
        return loss && { ...loss, endedAt: Math.round(endMs + wallOffsetMs) }
      }
    }
  }

  /** Removes the spool, because another clip shows the same. After `end`. */
  async drop(): Promise<void> {
    const { detectionId } = this.#request.facts
    for (const path of [spoolPath, sidecarPath]) await rm(path(this.#tools, detectionId), { force: true })
    this.#spool.release()
  }

  /** Bytes of this clip that wait for the disk. */
  get pendingBytes(): number {
    return this.#spool.pendingBytes
  }

  /** Ends the clip with the video that is on the disk, to free the memory of the video that waits for it. */
  giveUp(): void {
    this.#spool.giveUp()
  }

  /** Writes the facts before the first byte of video, so that no video is without them. */
  async #note(beginning: Beginning): Promise<void> {
    const { facts } = this.#request
    const sidecar: Sidecar = { facts, ...this.#beginnings(beginning) }
    await makeFolder(this.#tools.folder)
    await writeDurably(sidecarPath(this.#tools, facts.detectionId), JSON.stringify(sidecar))
  }

  #beginnings({ startMs, leadMs, codec }: Beginning): Beginnings {
    const { wallOffsetMs, askedPreRollMs } = this.#request
    return { startedAt: startMs + wallOffsetMs, leadMs, codec, askedPreRollMs }
  }
}

/** Removes `ID.json` of a clip that the database has as recorded or lost. */
export async function forget(folder: string, detectionId: number): Promise<void> {
  await rm(sidecarPath({ folder }, detectionId), { force: true })
}
