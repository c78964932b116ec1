import type { ReadTx } from '../../database/index.ts'
import { clipsToComeOf, clipToCome, holdsOn, isAnyCameraHeld } from '../../log/index.ts'
import type { ClipWaits, DetectionFacts, ToCameras } from '../../video/index.ts'
import { findDetection, findReservation } from '../store.ts'
import { readKinds } from './kinds.ts'
import type { KnownRefused } from './recorder.ts'

/** A clip whose video is on the disk, and which could not be made or recorded yet. */
export type WaitingClip = {
  readonly id: number
  /** Null: it is not known which camera it is of. */
  readonly cctvId: number | null
  /** When the detector fired; where that is not known, when the file was last written. */
  readonly firedAtMs: number
  readonly sizeBytes: number
  /** Whether an incident or a dispute needs it. */
  readonly isHeld: boolean
  /** Whether it is made, but the database refuses its row. */
  readonly isRefused: boolean
}

/** Summary of all clips that wait. */
export type WaitingSeen = {
  readonly count: number
  /** Milliseconds for which the first of them has waited. */
  readonly forMs: number
  /** Why the newest of them waits. */
  readonly words: string
}

/** `isOld`: an earlier thread reported it. */
type Known = {
  readonly words: string
  readonly sizeBytes: number
  readonly sinceMs: number
  /** Set only when its facts cannot be read. */
  readonly writtenAt: number | undefined
  isOld: boolean
}

/** Remembers which clips could not be made yet, and gives up those that are not to be kept. Times are monotonic milliseconds. */
export class WaitingClips {
  readonly #known = new Map<number, Known>()
  /** Whether a thread has read all files that earlier runs left. */
  #isComplete = false

  heard({ detectionId, words, sizeBytes, writtenAt }: ClipWaits, nowMs: number): void {
    if (words === null) return
    const sinceMs = this.#known.get(detectionId)?.sinceMs ?? nowMs
    this.#known.set(detectionId, { words, sizeBytes, sinceMs, writtenAt, isOld: false })
  }

  /** Forgets a clip that is recorded or lost. */
  done(detectionId: number): void {
    this.#known.delete(detectionId)
  }

  /** The thread has ended: the next one reads all of the clips again. */
  threadEnded(): void {
    for (const known of this.#known.values()) known.isOld = true
  }

  /** Forgets reports of earlier threads except `kept`: the running thread has read all files that they left. */
  leftoversDone(kept: readonly number[]): void {
    this.#isComplete = true
    for (const [id, { isOld }] of this.#known) if (isOld && !kept.includes(id)) this.#known.delete(id)
  }

  /**
   * Returns the clips that wait; undefined while none waits. Returns 'unknown' while none is known and files of earlier runs were
   * not read.
   */
  seen(nowMs: number): WaitingSeen | 'unknown' | undefined {
    const all = [...this.#known.values()]
    const newest = all.at(-1)
    if (!newest) return this.#isComplete ? undefined : 'unknown'
    return { count: all.length, forMs: nowMs - Math.min(...all.map(({ sinceMs }) => sinceMs)), words: newest.words }
  }

  /** Says whether nothing is known of a clip that waits but its video. */
  isUnknown(tx: ReadTx, id: number): boolean {
    return this.#known.get(id)?.writtenAt !== undefined && !findReservation(tx, id) && !findDetection(tx, id)
  }

  /** Lists them, and those that the database refuses, the oldest first. One of which nothing is known may be of any camera. */
  list(tx: ReadTx, refused: readonly KnownRefused[]): WaitingClip[] {
    const made = refused.filter(isMade)
    const all = [
      ...[...this.#known].map(([id, { sizeBytes }]) => ({ id, sizeBytes, isRefused: false })),
      ...made.map(({ detectionId: id, sizeBytes }) => ({ id, sizeBytes, isRefused: true })),
    ]
    const found = all.flatMap(({ id, sizeBytes, isRefused }) => {
      const open = findOpen(tx, id, refused)
      if (!open) return []
      const { cameraId: cctvId, motionAt: firedAtMs } = open.facts
      return [{ id, cctvId, firedAtMs, sizeBytes, isHeld: open.isHeld, isRefused }]
    })
    const unknown = [...this.#known].flatMap(([id, { sizeBytes, writtenAt: firedAtMs = 0 }]) => {
      if (!this.isUnknown(tx, id)) return []
      return [{ id, cctvId: null, firedAtMs, sizeBytes, isHeld: isUnknownHeld(tx, id), isRefused: false }]
    })
    return [...found, ...unknown].toSorted((a, b) => a.firedAtMs - b.firedAtMs || a.id - b.id)
  }
}

/** Returns the message that gives up a clip that waits or is refused; undefined when it is recorded by now, or held. */
export function givingUp(
  tx: ReadTx,
  id: number,
  words: string,
  refused: readonly KnownRefused[],
): ToCameras | undefined {
  const open = findOpen(tx, id, refused)
  if (!open || open.isHeld) return undefined
  const isRefused = refused.some((row) => row.detectionId === id && isMade(row))
  return { type: 'giveUpClip', facts: open.facts, words, isRefused }
}

/** Returns whether an unknown clip is held, or may be: holds on the clips of a camera may cover it. */
export function isUnknownHeld(tx: ReadTx, id: number): boolean {
  return isAnyCameraHeld(tx) || holdsOn(tx, clipToCome(id)).length > 0
}

const isMade = ({ file, mayGo }: KnownRefused) => file !== null && mayGo

/** Finds the motion of a clip that has no row yet. Where the database refused that too, only the report of the thread has it. */
function findOpen(
  tx: ReadTx,
  id: number,
  refused: readonly KnownRefused[],
): { readonly facts: DetectionFacts; readonly isHeld: boolean } | undefined {
  if (findDetection(tx, id)) return undefined
  const fired = findReservation(tx, id)
  if (fired) {
    const { cctv_id: cameraId, fired_at_ms: motionAt, score, scene_change: sceneChange, triggered_by, kinds } = fired
    const facts: DetectionFacts = {
      ...{ detectionId: id, cameraId, motionAt, score, sceneChange: sceneChange === 1 },
      ...(triggered_by && { trigger: triggered_by }),
      ...(kinds !== null && { kinds: readKinds(kinds) }),
    }
    return { facts, isHeld: holdsOn(tx, clipToCome(id)).length > 0 }
  }
  const facts = refused.find(({ detectionId }) => detectionId === id)?.facts
  // Holds on the clips of its camera could not be noted on this one.
  return facts ? { facts, isHeld: holdsOn(tx, clipsToComeOf(facts.cameraId)).length > 0 } : undefined
}
