import type { Clock, Logger } from '../../platform/index.ts'
import { Recording } from '../clips/clip.ts'
import type { ClipTools } from '../clips/clip-loss.ts'
import type { ClipResult } from '../clips/clip-making.ts'
import type { CameraSettings, DetectionFacts, FromCameras } from '../messages.ts'
import type { Fired, SceneChanged } from '../motion/detector.ts'
import type { JudgeOutcome } from '../motion/motion-judge.ts'
import type { Ring } from '../stream/ring.ts'

export type MotionClipsNeeds = {
  /** Returns the settings as they are now. */
  readonly settings: () => CameraSettings
  /** Ring of the recorded stream. */
  readonly ring: Ring
  readonly tools: ClipTools
  readonly clock: Clock
  readonly log: Logger
  /** Resolves with an unused detection id. Rejects when the thread ends. */
  readonly reserveId: () => Promise<number>
  readonly emit: (message: FromCameras) => void
}

/** A clip that was begun, and the reported facts of its motion. */
type Opened = { readonly recording: Recording; readonly facts: DetectionFacts }

/** Reports the motion of one camera, and records a clip of it. */
export class MotionClips {
  readonly #needs: MotionClipsNeeds
  readonly #finishing = new Set<Promise<void>>()
  readonly #spooling = new Set<Recording>()
  /** The newest clip; its id may still be on its way. */
  #recording: Promise<Opened | undefined> = Promise.resolve(undefined)
  /** The newest clip until it was reported, or could not be made at once: when it begins, and its result. */
  #clip: (PromiseWithResolvers<ClipResult | undefined> & { readonly fromMs: number }) | undefined

  constructor(needs: MotionClipsNeeds) {
    this.#needs = needs
  }

  /** Returns the clips whose spools are open. */
  get spooling(): ReadonlySet<Recording> {
    return this.#spooling
  }

  /**
   * Resolves with the open clip once it was reported, if it was to begin by this time (monotonic). Resolves with undefined if the
   * clip could not be made at once. Undefined when there is none.
   */
  openClip(fromMs: number): Promise<ClipResult | undefined> | undefined {
    return this.#clip && this.#clip.fromMs <= fromMs ? this.#clip.promise : undefined
  }

  /** Begins a clip, ends the newest one, or reports what that shows, as was judged. The ring has the video of that moment. */
  take(outcome: JudgeOutcome): void {
    if (outcome.kind === 'fired') {
      const recording = this.#fire(outcome)
      if (outcome.clipFromMs !== null) {
        this.#recording = recording
        this.#clip = { ...Promise.withResolvers<ClipResult | undefined>(), fromMs: outcome.clipFromMs }
      }
      return
    }
    if (outcome.kind === 'sceneChanged') return void this.#change(this.#recording, outcome)
    const { endMs, by, peakScore, movedForMs, kinds } = outcome
    const clip = this.#clip
    const settle = (result: ClipResult | undefined) => {
      clip?.resolve(result)
      if (this.#clip === clip) this.#clip = undefined
    }
    const ending = { closedBy: by, peakScore, movedForMs, ...(kinds.length > 0 && { kinds }) }
    const done = this.#close(this.#recording, endMs, ending, () => settle(undefined)).then(settle)
    this.#finishing.add(done)
    void done.finally(() => this.#finishing.delete(done))
  }

  /** Resolves when no clip is being finished: each is on disk, or reported as lost. */
  async settled(): Promise<void> {
    while (this.#finishing.size > 0) await Promise.all(this.#finishing)
  }

  /** Starts a clip as soon as there is an id; until then the ring keeps the pre-roll. */
  async #fire({ motionMs, score, sceneChange, kinds, clipFromMs, notBeforeMs }: Fired): Promise<Opened | undefined> {
    const { settings, ring, clock, tools, reserveId, emit, log } = this.#needs
    const { cameraId } = settings()
    const wallOffsetMs = clock.now() - clock.monotonic()
    try {
      const detectionId = await reserveId()
      const found = { motionAt: Math.round(motionMs + wallOffsetMs), score, sceneChange }
      const facts: DetectionFacts = {
        ...{ detectionId, cameraId, ...found },
        ...(kinds.length > 0 && { trigger: 'camera', kinds }),
      }
      const cooldownUntil = clipFromMs === null ? Math.round(notBeforeMs + wallOffsetMs) : undefined
      emit({ type: 'motionFired', ...facts, clip: clipFromMs !== null, cooldownUntil })
      if (clipFromMs === null) return undefined
      const askedPreRollMs = settings().motion.preRecordSeconds * 1000
      const from = { fromMs: clipFromMs, notBeforeMs, askedPreRollMs }
      const recording = new Recording(tools, { facts, ring, ...from, wallOffsetMs })
      this.#spooling.add(recording)
      return { recording, facts }
    } catch (err) {
      log.error({ err, cameraId }, 'motion could not be recorded')
      return undefined
    }
  }

  /** Reports a scene change under a separate id; the open clip of another detection shows it. */
  async #change(opened: Promise<Opened | undefined>, { motionMs, score }: SceneChanged): Promise<void> {
    const { clock, reserveId, emit, log } = this.#needs
    const motionAt = Math.round(motionMs + clock.now() - clock.monotonic())
    const shownIn = (await opened)?.facts
    if (!shownIn) return
    const { cameraId } = shownIn
    try {
      const detectionId = await reserveId()
      emit({ type: 'sceneChanged', detectionId, cameraId, motionAt, score, sceneChange: true, shownIn })
    } catch (err) {
      log.error({ err, cameraId }, 'a scene change could not be recorded')
    }
  }

  async #close(
    opened: Promise<Opened | undefined>,
    endMs: number,
    ending: Parameters<Recording['close']>[1],
    onKept: () => void,
  ): Promise<ClipResult | undefined> {
    const recording = (await opened)?.recording
    const finish = await recording?.end(endMs)
    if (recording) this.#spooling.delete(recording)
    const result = await finish?.(ending, onKept)
    if (result) this.#needs.emit(result)
    return result
  }
}
