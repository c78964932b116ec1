import type { Tx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import type { CameraState, CameraStatus, MotionFired, PicturesMissing } from '../../video/index.ts'
import type { CameraWatchRow } from '../tables.ts'
import {
  type ClosedGap,
  type GapCause,
  notWatching,
  type Watch,
  type WatchEvent,
  watchDueMs,
  watchStep,
} from '../watch.ts'
import { causeOfProblem, wordsOfImpairment } from './causes.ts'
import type { EndedGap, GapLedger } from './ledger.ts'
import * as store from './store.ts'

/** Whether a camera is to watch now; if not, why. */
export type Duty =
  | { readonly watches: true }
  | { readonly watches: false; readonly cause: GapCause; readonly detail: string }

type Camera = {
  watch: Watch
  duty: Duty
  readonly knownSinceMs: number
  /** Wall clock of one monotonic moment of the gap that lasts. All its labels are made with it, so they fit together. */
  anchor: { readonly monotonicMs: number; readonly wallMs: number }
  /** Time of the newest known picture. */
  pictureMs: number
}

type GapKeeperNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
  readonly ledger: GapLedger
}

/** Interval of heartbeats; long, because SD cards wear out. */
export const beatEveryMs = 15_000
const writeAgainMs = 10_000

const words = {
  added: 'The camera was added to the config.',
  removed: 'The camera was taken out of the config.',
  down: 'gatehouse did not run.',
  thread: 'The part of gatehouse that reads the cameras did not run. The log of gatehouse says why.',
  replaced: 'The stream was opened anew with other settings.',
  missing:
    'The stream was open, but its pictures of this time never came. The camera or the network left them out, as both do when the line or the gateway is too busy.',
  cooldown: 'Something moved before the cooldown after the last clip was over.',
}

/**
 * Knows for each camera whether it watches, and records every gap. An open gap is job state; an ended one goes through the ledger.
 * `watch.ts` decides. A box that was cut off from power knows by its heartbeat when it last lived.
 */
export class GapKeeper {
  readonly #needs: GapKeeperNeeds
  readonly #cameras = new Map<number, Camera>()
  /** Ended gaps that are not on disk yet, in order. */
  #ended: EndedGap[] = []
  readonly #changed = new Set<number>()
  #isDue = false
  #writing: Promise<void> | undefined
  #isStopping = false
  #cancelBeat = () => {}
  #cancelTick = () => {}

  constructor(needs: GapKeeperNeeds) {
    this.#needs = needs
  }

  /**
   * Takes the duty of every camera of the config. The first call continues the state of the last run of the gateway. Cameras that
   * are missing in the list were taken out of the config.
   */
  setDuties(duties: ReadonlyMap<number, Duty>): void {
    if (this.#cameras.size === 0) this.#resume(duties)
    for (const [cctvId, duty] of duties) this.setDuty(cctvId, duty)
    for (const cctvId of this.#cameras.keys()) {
      if (!duties.has(cctvId)) this.setDuty(cctvId, { watches: false, cause: 'disarmed', detail: words.removed })
    }
    if (this.#cameras.size > 0) this.#beat()
  }

  setDuty(cctvId: number, duty: Duty): void {
    const atMs = this.#needs.clock.monotonic()
    const known = this.#cameras.get(cctvId)
    if (!known) {
      this.#add(cctvId, duty)
      return
    }
    const before = known.duty
    known.duty = duty
    if (!duty.watches) {
      const { cause, detail } = duty
      this.#step(cctvId, { kind: 'none', sinceMs: atMs, atMs, cause, detail, ofAttempt: false })
    } else if (!before.watches) this.#step(cctvId, { kind: 'trying', atMs })
  }

  heard(message: CameraState | CameraStatus): void {
    const camera = this.#cameras.get(message.cameraId)
    if (!camera) return
    const nowMs = this.#needs.clock.monotonic()
    const ago = message.pictureAgoMs
    if (typeof ago === 'number') camera.pictureMs = Math.max(camera.pictureMs, nowMs - ago)
    if (!camera.duty.watches) return
    if (message.type === 'state') this.#state(camera, message, nowMs, typeof ago === 'number' ? nowMs - ago : nowMs)
    else if (message.state === 'live' && typeof ago === 'number') {
      this.#step(message.cameraId, { kind: 'pictures', atMs: nowMs - ago })
      this.#impaired(message, nowMs)
    }
  }

  #impaired({ cameraId, impairment }: CameraStatus, nowMs: number): void {
    if (!impairment) return
    const { why, agoMs } = impairment
    const sinceMs = nowMs - agoMs
    if (why === null) this.#step(cameraId, { kind: 'unimpaired', sinceMs })
    else this.#step(cameraId, { kind: 'impaired', sinceMs, atMs: nowMs, cause: why, detail: wordsOfImpairment(why) })
  }

  #state(camera: Camera, message: CameraState, atMs: number, sinceMs: number): void {
    const { cameraId, state, problem, words: said } = message
    const none = (cause: GapCause, detail: string | null, ofAttempt: boolean) =>
      this.#step(cameraId, { kind: 'none', sinceMs, atMs, cause, detail, ofAttempt })
    switch (state) {
      case 'live':
        this.#step(cameraId, { kind: 'pictures', atMs })
        break
      case 'offline':
        if (this.#isStopping) none('daemon_down', words.down, false)
        break
      case 'connecting':
        if (camera.watch.receiving) none('restarted', words.replaced, false)
        this.#step(cameraId, { kind: 'trying', atMs })
        break
      case 'stalled':
      case 'backing-off':
        if (problem !== null) none(causeOfProblem(problem), said ? `${said.what} ${said.hint}` : null, true)
        break
    }
  }

  /** Notes motion of which there is no clip because of the cooldown: nothing is recorded until it is over. */
  cooled({ cameraId, motionAt, cooldownUntil }: MotionFired): void {
    if (cooldownUntil === undefined || !this.#cameras.has(cameraId)) return
    const { clock } = this.#needs
    const toMonotonic = (wallMs: number) => clock.monotonic() + (wallMs - clock.now())
    const span = { fromMs: Math.min(toMonotonic(motionAt), clock.monotonic()), untilMs: toMonotonic(cooldownUntil) }
    this.#step(cameraId, { kind: 'cooldown', ...span, detail: words.cooldown })
  }

  /** Notes that pictures never came, though others did before and after. */
  missed({ cameraId, fromAgoMs, toAgoMs }: PicturesMissing): void {
    if (!this.#cameras.get(cameraId)?.duty.watches) return
    const nowMs = this.#needs.clock.monotonic()
    const span = { fromMs: nowMs - fromAgoMs, toMs: nowMs - toAgoMs }
    this.#step(cameraId, { kind: 'missing', ...span, cause: 'stalled', detail: words.missing })
  }

  /** Notes that all streams have ended, because the cameras thread has, or that it cannot be started. */
  threadEnded(): void {
    const atMs = this.#needs.clock.monotonic()
    const { cause, detail } = this.#isStopping
      ? { cause: 'daemon_down' as const, detail: words.down }
      : { cause: 'restarted' as const, detail: words.thread }
    for (const [cctvId, { watch, duty, pictureMs }] of this.#cameras) {
      const isFirstTry = duty.watches && watch.open?.cause === 'daemon_down'
      if (watch.receiving || isFirstTry)
        this.#step(cctvId, { kind: 'none', sinceMs: pictureMs, atMs, cause, detail, ofAttempt: true })
    }
  }

  /** From now on a stream that ends does so because the gateway stops. */
  threadStopping(): void {
    this.#isStopping = true
  }

  /** Records that the gateway has lived to this moment. Call it when the cameras thread has stopped. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.threadEnded()
    this.#cancelBeat()
    this.#cancelTick()
    if (this.#cameras.size === 0) return
    this.#flush()
    await this.#writing
  }

  #add(cctvId: number, duty: Duty): void {
    const { clock } = this.#needs
    const fromMs = clock.monotonic()
    const off = duty.watches ? { cause: 'restarted' as const, detail: words.added } : duty
    const { cause, detail } = off
    this.#cameras.set(cctvId, {
      watch: notWatching({ cause, detail, fromMs, attemptMs: duty.watches ? fromMs : null }),
      ...{ duty, knownSinceMs: clock.now(), anchor: { monotonicMs: fromMs, wallMs: clock.now() }, pictureMs: fromMs },
    })
    this.#note(cctvId)
  }

  /** Goes on from the last run. Gaps that it left open lasted until its last heartbeat; after it the gateway was down. */
  #resume(duties: ReadonlyMap<number, Duty>): void {
    const { rows, lived } = this.#needs.work.read((tx) => ({ rows: store.everyWatch(tx), lived: store.heartbeat(tx) }))
    for (const row of rows) this.#resumeCamera(row, lived ?? row.known_since_ms, duties.get(row.cctv_id))
    if (rows.length > 0) this.#flush()
  }

  #resumeCamera(row: CameraWatchRow, livedMs: number, duty: Duty | undefined): void {
    const { clock } = this.#needs
    const cctvId = row.cctv_id
    const open = row.open_from_ms !== null && row.open_cause !== null && { cause: row.open_cause, ms: row.open_from_ms }
    // A camera that was off then and is off now has missed nothing through the outage of the gateway.
    const staysOff = open && open.cause === 'disarmed' && (!duty || (!duty.watches && duty.cause === 'disarmed'))
    const goesOn = open && (open.cause === 'daemon_down' || staysOff)
    const downMs = Math.max(livedMs, open ? open.ms : livedMs)
    if (open && !goesOn) {
      this.#ended.push({ cctvId, fromMs: open.ms, toMs: downMs, cause: open.cause, detail: row.open_detail })
    }
    const wallMs = open && goesOn ? open.ms : downMs
    const nowMs = clock.monotonic()
    const fromMs = nowMs - Math.max(clock.now() - wallMs, 0)
    const gap = staysOff
      ? { cause: 'disarmed' as const, detail: row.open_detail, attemptMs: null }
      : { cause: 'daemon_down' as const, detail: words.down, attemptMs: duty?.watches ? nowMs : null }
    this.#cameras.set(cctvId, {
      watch: notWatching({ ...gap, fromMs }),
      duty: duty ?? { watches: false, cause: 'disarmed', detail: words.removed },
      ...{ knownSinceMs: row.known_since_ms, anchor: { monotonicMs: fromMs, wallMs }, pictureMs: fromMs },
    })
    this.#changed.add(cctvId)
  }

  #step(cctvId: number, event: WatchEvent): void {
    const camera = this.#cameras.get(cctvId)
    if (!camera) return
    const before = camera.watch.open
    const { watch, closed } = watchStep(camera.watch, event)
    // A gap that was never open is labelled by the wall clock as it is now.
    const anchor = before ? camera.anchor : this.#anchorAt(closed[0]?.fromMs ?? 0)
    camera.watch = watch
    if (watch.open && !before) camera.anchor = this.#anchorAt(watch.open.fromMs)
    this.#ended.push(...closed.map((gap) => endedGap(cctvId, gap, anchor)))
    const { open } = watch
    const isSame = open?.cause === before?.cause && open?.fromMs === before?.fromMs && open?.detail === before?.detail
    if (!isSame || closed.length > 0) this.#note(cctvId)
    this.#arm()
  }

  #anchorAt(monotonicMs: number): Camera['anchor'] {
    const { clock } = this.#needs
    return { monotonicMs, wallMs: clock.now() - (clock.monotonic() - monotonicMs) }
  }

  /** Sets the timer of the next cooldown that ends. */
  #arm(): void {
    const { clock } = this.#needs
    this.#cancelTick()
    const dues = [...this.#cameras.values()].map(({ watch }) => watchDueMs(watch)).filter((ms) => ms !== undefined)
    if (dues.length === 0) return
    this.#cancelTick = clock.after(Math.max(Math.min(...dues) - clock.monotonic(), 0), () => {
      for (const cctvId of this.#cameras.keys()) this.#step(cctvId, { kind: 'tick', atMs: clock.monotonic() })
    })
  }

  #note(cctvId: number): void {
    this.#changed.add(cctvId)
    this.#flush()
  }

  #beat(): void {
    this.#cancelBeat()
    this.#cancelBeat = this.#needs.clock.after(beatEveryMs, () => {
      this.#flush()
      this.#beat()
    })
    this.#flush()
  }

  #flush(): void {
    this.#isDue = true
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
  }

  /** Writes what there is in one commit, and again until there is nothing. A full disk is tried again every 10 s. */
  async #writeAll(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      const ended = this.#ended
      const changed = [...this.#changed]
      this.#ended = []
      this.#changed.clear()
      try {
        const rows = changed.flatMap((cctvId) => this.#rowOf(cctvId) ?? [])
        await this.#needs.work.write((tx) => this.#write(tx, rows, ended))
      } catch (err) {
        this.#ended = [...ended, ...this.#ended]
        for (const cctvId of changed) this.#changed.add(cctvId)
        if (this.#isStopping || (err instanceof AppError && err.code === 'NOT_READY')) return
        this.#needs.logger.error({ err }, 'a gap of a camera could not be written; it is tried again')
        await new Promise<void>((resolve) => this.#needs.clock.after(writeAgainMs, resolve))
        this.#isDue = true
      }
    }
  }

  /** The job state comes first: a gap that has ended must not be taken for one that lasts. */
  #write(tx: Tx, rows: readonly (CameraWatchRow & { readonly cctv_id: number })[], ended: readonly EndedGap[]): void {
    for (const row of rows) store.keepWatch(tx, row)
    for (const gap of ended) this.#needs.ledger.append(tx, gap)
    store.beat(tx, this.#needs.clock.now())
  }

  #rowOf(cctvId: number): CameraWatchRow | undefined {
    const camera = this.#cameras.get(cctvId)
    if (!camera) return undefined
    const { open } = camera.watch
    return {
      cctv_id: cctvId,
      known_since_ms: camera.knownSinceMs,
      open_from_ms: open && Math.round(labelOf(camera.anchor, open.fromMs)),
      open_cause: open?.cause ?? null,
      open_detail: open?.detail ?? null,
    }
  }
}

const labelOf = ({ monotonicMs, wallMs }: Camera['anchor'], atMs: number) => wallMs + (atMs - monotonicMs)

function endedGap(cctvId: number, { cause, detail, fromMs, toMs }: ClosedGap, anchor: Camera['anchor']): EndedGap {
  return { cctvId, cause, detail, fromMs: labelOf(anchor, fromMs), toMs: labelOf(anchor, toMs) }
}
