import { promisify } from 'node:util'
import { gzip as gzipCallback } from 'node:zlib'
import type { ReadTx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { cosignatureIn, type NoteKey, readVkey } from '../evidence/index.ts'
import { addCosignature, type Checkpoint, cosignaturesOf, knownLogs, newestCheckpoint } from '../log/index.ts'
import { errorMessage } from '../platform/faults.ts'
import { type Batch, nextBatch } from './batch.ts'
import { handedOver, handedOverBehind } from './hand-over.ts'
import { firstRetryMs, intervalMs, retryAfterMs } from './retry.ts'
import { Rides } from './rides.ts'
import type { FeederNeeds, FeedSeen, FeedSettings } from './state.ts'
import { type FeedVerdict, judgeFeed, unvouched } from './verdict.ts'
import { type FeedAnswer, feedPath, mostLeaves } from './wire.ts'

const gzip = promisify(gzipCallback)

/** A feed without leaves: the head office sees that the gateway lives, and how it is. */
const lifeSignMs = 300_000
const statusEveryMs = 60_000
const fewestLeaves = 16
/** Longest wait of a batch for notifications. */
const politenessMs = 5000
const politeStepMs = 100

/** A log of this box, from which leaves are sent. */
type Line = { readonly number: number; readonly logId: string; readonly isGrowing: boolean; place: number | undefined }

/**
 * Sends the log to the head office from the place that the head office names, whatever happened on the way: it remembers nothing on
 * disk. Nothing waits for it, and it lets notifications go first.
 */
export class Feeder {
  readonly #needs: FeederNeeds
  #lines: Line[] = []
  /** The checkpoint that the leaves are sent under, until all that it covers are sent: so each can be confirmed. */
  #target: Checkpoint | undefined
  /** Checkpoints under which the head office is asked where it is, while it does not know the newest keys. */
  #probes: Checkpoint[] | undefined
  readonly #rides: Rides
  /** Openings that the head office takes; undefined before its first answer. */
  #takes: FeedAnswer['openings'] | undefined
  #offer: string | null = null
  #trouble: FeedSeen['trouble']
  #failingSinceMs: number | undefined
  #failures = 0
  #gaps = 0
  /** The head office has named the place to continue from, and has taken nothing since. */
  #hasPlaceOfOffice = false
  #fedAtMs: number | null = null
  #sentAtMs = Number.NEGATIVE_INFINITY
  /** The head office has asked new leaves to wait until then. */
  #pauseUntilMs = Number.NEGATIVE_INFINITY
  #round: Promise<void> | undefined
  #cancel: (() => void) | undefined
  #isBackingOff = false
  #isStarted = false
  /** By a reload, while a round was under way. */
  #isAskedAgain = false
  /** Monotonic time at which the timer fires. */
  #dueMs = Number.POSITIVE_INFINITY
  /** Leaves of one feed. A line that is too slow for them gets fewer. */
  #mostLeaves = mostLeaves
  #statusAtMs = Number.NEGATIVE_INFINITY

  constructor(needs: FeederNeeds) {
    this.#needs = needs
    this.#rides = new Rides(needs.changes)
    needs.work.onCommit(() => this.#onCommit())
  }

  start(): void {
    this.#isStarted = true
    this.#begin()
  }

  /** Ends a feed under way; leaves without an acknowledgment are sent again after the next start. */
  async stop(): Promise<void> {
    this.#isStarted = false
    this.#cancel?.()
    this.#needs.client.stop()
    await this.#round
  }

  /** Tries at once: a corrected address or token is used now. */
  onReload(): void {
    this.#begin()
  }

  /** Resolves when no feed is under way. */
  async settled(): Promise<void> {
    while (this.#round) await this.#round
  }

  /** Returns the state of the feed; undefined without a head office. */
  seen(): FeedSeen | undefined {
    const settings = this.#needs.settings()
    if (!settings) return undefined
    const nowMs = this.#needs.clock.monotonic()
    return {
      url: settings.url,
      size: this.#lines.find(({ isGrowing }) => isGrowing)?.place ?? null,
      fedAtMs: this.#fedAtMs,
      names: this.#namesAgreed(settings),
      offer: this.#offer,
      trouble: this.#trouble,
      forMs: this.#failingSinceMs === undefined ? 0 : nowMs - this.#failingSinceMs,
    }
  }

  #namesAgreed({ openings }: FeedSettings): FeedSeen['names'] {
    if (this.#takes === undefined) return null
    if (openings === 'never') return 'kept here'
    return this.#takes === 'names' ? 'sent' : 'not taken there'
  }

  #begin(): void {
    this.#cancel?.()
    this.#isBackingOff = false
    this.#failures = 0
    this.#gaps = 0
    this.#hasPlaceOfOffice = false
    this.#target = undefined
    this.#probes = undefined
    this.#lines = this.#needs.work.read(knownLogs).map(({ number, logId }) => ({
      number,
      logId,
      place: undefined,
      isGrowing: number === this.#needs.logRoom.identity.number,
    }))
    this.#rides.begin()
    this.#go()
  }

  #onCommit(): void {
    const line = this.#lines.at(-1)
    if (!this.#isStarted || this.#round || this.#isBackingOff) return
    if (line?.place === undefined) return
    if (line.place >= this.#needs.logRoom.size && !this.#hasNews()) return
    const nowMs = this.#needs.clock.monotonic()
    const dueMs = Math.max(nowMs, this.#sentAtMs + intervalMs, this.#pauseUntilMs)
    if (this.#dueMs > dueMs) this.#after(dueMs - nowMs)
  }

  /** Returns whether a change that no leaf states must be sent at once. */
  #hasNews(): boolean {
    return this.#rides.hasChanged || this.#needs.work.read((tx) => this.#rides.hasErased(tx))
  }

  #after(delayMs: number): void {
    this.#cancel?.()
    this.#dueMs = this.#needs.clock.monotonic() + delayMs
    this.#cancel = this.#needs.clock.after(delayMs, () => {
      this.#dueMs = Number.POSITIVE_INFINITY
      this.#go()
    })
  }

  #go(): void {
    if (!this.#isStarted || !this.#needs.settings()) return
    this.#isAskedAgain = this.#round !== undefined
    if (this.#round) return
    this.#isBackingOff = false
    this.#round = this.#feed()
      .catch((err: unknown) => this.#failed(err))
      .finally(() => {
        this.#round = undefined
        if (this.#isAskedAgain) this.#go()
        // Handles commits that came meanwhile.
        else this.#onCommit()
      })
  }

  /** Sends until everything is sent or something is wrong. */
  async #feed(): Promise<void> {
    for (;;) {
      const settings = this.#needs.settings()
      const line = this.#lines[0]
      if (!this.#isStarted || !settings || !line) return
      const target = await this.#targetOf(line)
      if (!target) {
        this.#lines.shift()
        continue
      }
      await this.#letNotificationsGoFirst()
      const batch = this.#needs.work.read((tx) => this.#next(tx, line, target, settings))
      const verdict = await this.#post(settings, line, batch)
      if (!this.#isStarted || this.#lines[0] !== line) return
      if (verdict.kind === 'trouble' && !this.#isPassedBy(line, verdict)) {
        // The head office stores only the erasures of a forked log; the next attempt brings more of them.
        if (verdict.finding === 'forked') this.#rides.erased(batch.load)
        const isNewLog = verdict.finding === 'unknown-key' && line.place === 0 && this.#continuesAnother()
        return this.#unwell(isNewLog ? unvouched : verdict)
      }
      if (verdict.kind === 'fed') await this.#fed(line, target, batch, verdict.answer, settings)
      if (verdict.kind === 'go-on-from' && !this.#goOnFrom(line, verdict.size)) return
      if (this.#isDone(line, target, settings)) return this.#after(lifeSignMs)
    }
  }

  /** Returns the checkpoint to send under; undefined when an earlier log has none, or is sent. */
  async #targetOf({ number, isGrowing, place }: Line): Promise<Checkpoint | undefined> {
    const { work, logRoom } = this.#needs
    if (this.#target?.log_id === number && place !== undefined && place < this.#target.size) return this.#target
    const last = isGrowing ? undefined : work.read((tx) => newestCheckpoint(tx, number))
    const size = isGrowing ? logRoom.size : (last?.size ?? 0)
    if (!isGrowing && (place ?? 0) >= size) return undefined
    const handedOver = this.#probes?.[0] ?? work.read((tx) => handedOverBehind(tx, number, place ?? size))
    this.#target = handedOver ?? last ?? (await this.#overAll())
    return this.#target
  }

  async #overAll(): Promise<Checkpoint> {
    const { checkpoints, logRoom } = this.#needs
    const newest = checkpoints.newest()
    return newest !== undefined && newest.size === logRoom.size ? newest : await checkpoints.make()
  }

  #next(tx: ReadTx, { logId, place, isGrowing }: Line, target: Checkpoint, { openings }: FeedSettings): Batch {
    const { clock, logRoom } = this.#needs
    const asked = { nowMs: clock.monotonic(), version: logRoom.size, isGrowing, givesNames: openings === 'names' }
    return nextBatch(
      tx,
      target,
      { logId, from: place ?? target.size },
      {
        mostLeaves: this.#mostLeaves,
        showsBefore: this.#hasPlaceOfOffice,
        load: (log) => this.#rides.load(tx, { ...asked, log }),
      },
    )
  }

  /** Only a batch behind others waits: the first one after a pause is small. */
  async #letNotificationsGoFirst(): Promise<void> {
    const { clock, isBusy } = this.#needs
    const untilMs = clock.monotonic() + politenessMs
    while (this.#isStarted && isBusy() && clock.monotonic() < untilMs) {
      await new Promise<void>((resolve) => clock.after(politeStepMs, resolve))
    }
  }

  async #post(settings: FeedSettings, { logId }: Line, { body }: Batch): Promise<FeedVerdict> {
    const { client, clock, logRoom, status, onFed } = this.#needs
    const isDue = clock.monotonic() >= this.#statusAtMs + statusEveryMs
    if (isDue) this.#statusAtMs = clock.monotonic()
    const packed = await gzip(JSON.stringify(isDue ? { ...body, status: await status() } : body))
    this.#sentAtMs = clock.monotonic()
    const headers = { authorization: `Bearer ${settings.token()}`, 'content-encoding': 'gzip' }
    const posting = { path: feedPath(logId), contentType: 'application/json', body: packed, headers }
    const reply = await client.post(settings, posting)
    // Meanwhile the log may have grown, and the witness of the head office seen it. An earlier log may have grown behind the place where
    // this box left it.
    const mostSize = logId === logRoom.identity.logId ? logRoom.size : Number.MAX_SAFE_INTEGER
    const verdict = judgeFeed(reply, mostSize)
    onFed(
      verdict.kind === 'trouble' ? verdict.finding : 'fed',
      verdict.kind === 'fed' ? body.leaves.length : 0,
      packed.length,
    )
    if (settings.maxBytesPerSecond !== null) await this.#pace(packed.length / settings.maxBytesPerSecond)
    return verdict
  }

  /** Waits so long that no more than the configured bytes a second have gone out. */
  async #pace(seconds: number): Promise<void> {
    const { clock } = this.#needs
    const untilMs = this.#sentAtMs + seconds * 1000
    while (this.#isStarted && clock.monotonic() < untilMs) {
      const stepMs = Math.min(untilMs - clock.monotonic(), intervalMs)
      await new Promise<void>((resolve) => clock.after(stepMs, resolve))
    }
  }

  async #fed(line: Line, target: Checkpoint, batch: Batch, answer: FeedAnswer, settings: FeedSettings): Promise<void> {
    const { clock, log } = this.#needs
    line.place = answer.size
    this.#gaps = 0
    this.#hasPlaceOfOffice = false
    this.#probes = undefined
    this.#fedAtMs = clock.now()
    this.#rides.taken(batch.load, answer, batch.log, clock.monotonic())
    this.#heard(answer, settings)
    if (this.#trouble) log.info({ hub: settings.url }, 'the head office takes the log again')
    this.#trouble = undefined
    this.#failingSinceMs = undefined
    this.#failures = 0
    this.#mostLeaves = Math.min(this.#mostLeaves * 2, mostLeaves)
    const key = settings.vkey === null ? undefined : readVkey(settings.vkey)
    if (key && answer.cosignature !== null) await this.#store(key, target, answer.cosignature)
  }

  /** Stores the confirmation of the head office as that of any witness. */
  async #store(key: NoteKey, { log_id, size, note }: Checkpoint, line: string): Promise<void> {
    const { work, clock, log } = this.#needs
    const found = cosignatureIn(line, note, key)
    if (!found) {
      log.warn({ hub: key.name }, 'the head office sent a confirmation that hub.vkey does not verify; it is not stored')
      return
    }
    await work.write((tx) => {
      if (cosignaturesOf(tx, log_id, size).some((one) => one.name === key.name)) return
      const times = { cosigned_at_ms: found.atMs, received_at_ms: clock.now() }
      addCosignature(tx, { log_id, size, name: key.name, line: found.line, ...times })
    })
  }

  /** Returns whether the size that the head office names leads any further. */
  #goOnFrom(line: Line, size: number): boolean {
    this.#gaps = line.place === size ? this.#gaps + 1 : 0
    line.place = size
    this.#hasPlaceOfOffice = true
    // It may have been restored from an older backup, with names that were erased since.
    this.#rides.begin()
    this.#probes = undefined
    if (this.#gaps < 3) return true
    this.#unwell({
      kind: 'trouble',
      finding: 'bad-answer',
      words: `it asks for leaf ${size + 1} again and again`,
      retryAfterSeconds: undefined,
    })
    return false
  }

  /** Returns whether a trouble only means: continue with the next log, or send this one from its beginning. */
  #isPassedBy(line: Line, { finding }: Extract<FeedVerdict, { kind: 'trouble' }>): boolean {
    if (finding === 'unknown-log' && line.place === undefined && line.isGrowing && this.#continuesAnother()) {
      // Its first leaf names the log that it continues, and lets it in.
      line.place = 0
      return true
    }
    if (finding === 'unknown-key' && line.place === undefined) {
      // It does not know the newest keys, so the next feed uses a checkpoint that earlier keys have signed too. The same checkpoint
      // stays the next one until it is answered, even while the head office is out of reach.
      if (this.#probes) this.#probes.shift()
      else this.#probes = this.#needs.work.read((tx) => handedOver(tx, line.number)).toReversed()
      if (this.#probes.length > 0) return true
      this.#probes = undefined
    }
    // This box was restored to before an earlier log got its newest keys: its older ones are not believed any more.
    if (line.isGrowing || (finding !== 'unknown-log' && finding !== 'unknown-key' && finding !== 'forked')) return false
    if (finding === 'unknown-key') {
      const { settings, log } = this.#needs
      const words =
        'the head office does not believe the keys of an earlier log; if it lacks any of that log, this is not sent'
      log.warn({ hub: settings()?.url, logId: line.logId }, words)
    }
    this.#probes = undefined
    this.#lines.shift()
    return true
  }

  #continuesAnother(): boolean {
    return this.#needs.work.read(knownLogs).at(-1)?.parent !== null
  }

  #heard({ openings, offer, pauseMs = 0 }: FeedAnswer, settings: FeedSettings): void {
    this.#pauseUntilMs = this.#needs.clock.monotonic() + pauseMs
    if (openings !== this.#takes && openings === 'never' && settings.openings === 'names') {
      const words = 'the head office takes no names: its hub.openings is never, so none are sent'
      this.#needs.log.warn({ hub: settings.url }, words)
    }
    this.#takes = openings
    this.#offer = offer?.version ?? null
  }

  #isDone(line: Line, target: Checkpoint, { openings }: FeedSettings): boolean {
    const signed = Math.max(target.size, this.#needs.checkpoints.newest()?.size ?? 0)
    const isSent = line.place !== undefined && line.place >= signed
    const log = { number: line.number, logId: line.logId, end: line.place ?? 0 }
    return (
      line.isGrowing && isSent && !this.#needs.work.read((tx) => this.#rides.hasMore(tx, log, openings === 'names'))
    )
  }

  #unwell(trouble: Extract<FeedVerdict, { kind: 'trouble' }>): void {
    const { finding, words } = trouble
    const { log, clock, random, settings } = this.#needs
    if (this.#trouble?.finding !== finding) log.warn({ hub: settings()?.url, finding }, `the head office: ${words}`)
    this.#trouble = { finding, words }
    this.#failingSinceMs ??= clock.monotonic()
    this.#failures += 1
    if (finding === 'unreachable') this.#mostLeaves = Math.max(fewestLeaves, Math.floor(this.#mostLeaves / 2))
    this.#isBackingOff = true
    this.#after(retryAfterMs(trouble, this.#failures, (random(1)[0] ?? 0) / 255))
  }

  /** Notes a fault of this box: no checkpoint can be made, or the token cannot be read. */
  #failed(err: unknown): void {
    if (!this.#isStarted) return
    const isExpected = err instanceof AppError && err.code === 'NOT_READY'
    if (!isExpected) this.#needs.log.error({ err }, 'the log could not be sent to the head office; it is tried again')
    const words = `this gateway cannot send: ${errorMessage(err)}`
    if (isExpected) {
      this.#isBackingOff = true
      this.#after(firstRetryMs)
    } else this.#unwell({ kind: 'trouble', finding: 'refused', words, retryAfterSeconds: undefined })
  }
}
