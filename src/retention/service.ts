import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type ClipFile,
  type ClipPlace,
  camerasWithClips,
  clipsAfter,
  clipsOfCamera,
  holdsOnClip,
  takeClipOff,
  type WaitingClip,
} from '../cameras/index.ts'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { holdsOn, type Log, type PhotoFile, photosAfter, type Removal, removalOf, removeMedia } from '../log/index.ts'
import { photoPath } from '../photos/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import { isRedactedCopyHeld, redactedFilesOf } from '../privacy/index.ts'
import { type Choice, type KeptFile, type RetentionPolicy, sizeOf, whatToRemove } from './policy.ts'
import { Unlinker } from './unlinker.ts'

export type RetentionSettings = {
  /** Days after which the clips of a camera are removed, and the config key that sets them. Null: of any camera, the longest. */
  readonly clipDays: (cctvId: number | null) => { readonly days: number; readonly key: string }
  readonly minFreeBytes: number
  readonly keepLocalDays: number
}

type RetentionNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly clockIsTrusted: () => boolean
  readonly logger: Logger
  readonly log: Log
  readonly audit: AuditTrail
  readonly makeId: () => string
  readonly dataDir: string
  /** Clips whose video is on the disk and that could not be made or recorded yet, and how they are let go. */
  readonly waiting: {
    readonly list: () => readonly WaitingClip[]
    readonly giveUp: (id: number, words: string) => void
  }
  /** Free bytes of the disk. Throws when it does not answer. */
  readonly freeBytes: () => number
  readonly settings: () => RetentionSettings
  /** When the upload of a photo was finished; undefined: not yet. Null: nothing is ever uploaded. */
  readonly uploadedAtMs: ((tx: ReadTx, sha256: string) => number | undefined) | null
}

/** Held clips, when nothing more can be removed though the disk has too little room. */
export type Shortfall = { readonly heldClips: number; readonly heldBytes: number }

const everyMs = 60_000
const dayMs = 86_400_000
/** Rows that are read in one turn of the event loop. */
const lookedAt = 100
/** Clips that one write removes: some 3 ms. */
const atOnce = 20
/** Slices of photos in one look; the next look continues behind them. */
const photoSlices = 20

const unmadeWords = {
  age: 'It could not be made into a clip before it was too old to be kept',
  'free-space': 'It could not be made into a clip before the disk was nearly full',
}
const refusedWords = {
  age: 'The database refused to record it until it was too old to be kept',
  'free-space': 'The database refused to record it until the disk was nearly full',
}

const beginning: ClipPlace = { timestamp_ms: Number.MIN_SAFE_INTEGER, detection_id: 0 }

/** A hold on a redacted copy keeps the clip as well, and the other way round. */
const isClipHeld = (tx: ReadTx, id: number) => holdsOnClip(tx, id).length > 0 || isRedactedCopyHeld(tx, id)

/** The redacted copies of a clip go with it: they show the same people. */
const copiesOf = (tx: ReadTx, id: number) =>
  redactedFilesOf(tx, id).map(({ media_kind, sha256, file }) => ({ media_kind, sha256, path: join('clips', file) }))

/** Removes clips and photos from the disk once a minute, by age and by free space, a few at a time. */
export class Retention {
  readonly #needs: RetentionNeeds
  readonly #unlinker: Unlinker
  #cancel: (() => void) | undefined
  #underWay: Promise<void> | undefined
  #isStopping = false
  #shortfall: Shortfall | null | undefined
  /** Whether the newest look gave clips up for room. */
  #gaveUp = false
  #lastPhoto = 0

  constructor(needs: RetentionNeeds) {
    this.#needs = needs
    this.#unlinker = new Unlinker(needs)
  }

  /**
   * Returns the held clips when the last look could not free enough. Null when it could, or while the first look is under way;
   * undefined before that.
   */
  get shortfall(): Shortfall | null | undefined {
    return this.#shortfall
  }

  start(): void {
    this.#isStopping = false
    this.#shortfall ??= null
    this.#cancel ??= this.#needs.clock.after(0, () => this.#round())
  }

  #round(): void {
    void this.look().catch((err: unknown) => this.#needs.logger.error({ err }, 'retention failed; it is tried again'))
    this.#cancel = this.#needs.clock.after(everyMs, () => this.#round())
  }

  /**
   * Looks now when the disk has too little room: a clip could not be made. After a look that gave clips up it waits for the next
   * one. Their room comes a moment later, so no further clips must go for it.
   */
  async clipWaits(): Promise<void> {
    await this.#underWay?.catch(() => {})
    if (!this.#cancel || this.#isStopping || this.#gaveUp || !this.#isShort()) return
    this.#cancel()
    this.#round()
  }

  /** A disk that does not answer is no reason to look. */
  #isShort(): boolean {
    try {
      return this.#needs.freeBytes() < this.#needs.settings().minFreeBytes
    } catch {
      return false
    }
  }

  /** A look under way ends after its next write. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#cancel?.()
    this.#cancel = undefined
    await this.#underWay?.catch(() => {})
  }

  /** Looks once, or waits for the look under way. Rejects when the database or the disk fails. */
  look(): Promise<void> {
    this.#underWay ??= this.#look().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  async #look(): Promise<void> {
    await this.#unlinker.run()
    await this.#oldClips()
    await this.#forRoom()
    await this.#photos()
  }

  async #oldClips(): Promise<void> {
    const { work, clock, clockIsTrusted, settings } = this.#needs
    if (!clockIsTrusted()) return
    const nowMs = clock.now()
    for (const cctvId of work.read(camerasWithClips)) {
      const untilMs = Math.floor(nowMs - settings().clipDays(cctvId).days * dayMs)
      const next = (tx: ReadTx, place: ClipPlace) => clipsOfCamera(tx, cctvId, { place, untilMs, limit: lookedAt })
      for await (const files of this.#clips(next)) {
        await this.#remove(whatToRemove(files, { nowMs, freeBytes: 0, minFreeBytes: 0 }))
      }
    }
    this.#giveUp({ nowMs, freeBytes: 0, minFreeBytes: 0 })
  }

  /** Lets clips go that could not be made yet. Returns how many: their video goes a little later. */
  #giveUp(policy: RetentionPolicy): number {
    const { waiting, settings } = this.#needs
    const clips = waiting.list()
    const files = clips.map(({ id, cctvId, firedAtMs: takenAtMs, sizeBytes, isHeld }) => {
      return { ...{ id, takenAtMs, sizeBytes, isHeld }, maxAgeMs: settings().clipDays(cctvId).days * dayMs }
    })
    const choices = whatToRemove(files, policy)
    for (const { file, cause } of choices) {
      const { cctvId = null, isRefused = false } = clips.find(({ id }) => id === file.id) ?? {}
      const words = isRefused ? refusedWords : unmadeWords
      waiting.giveUp(file.id, `${words[cause]} (${this.#policyOf(cause, cctvId)}).`)
    }
    return choices.length
  }

  /** Removes the oldest clips while the disk has too little room. */
  async #forRoom(): Promise<void> {
    const { freeBytes, settings } = this.#needs
    const isShort = () => freeBytes() < settings().minFreeBytes
    const held = { heldClips: 0, heldBytes: 0 }
    if (isShort()) {
      for await (const files of this.#clips((tx, place) => clipsAfter(tx, place, lookedAt))) {
        const room = { freeBytes: freeBytes(), minFreeBytes: settings().minFreeBytes }
        await this.#remove(whatToRemove(files, { nowMs: null, ...room }))
        const kept = files.filter(({ isHeld }) => isHeld)
        held.heldClips += kept.length
        held.heldBytes += sizeOf(kept)
        if (!isShort()) break
      }
    }
    // A look that was ended has not let all go that goes first.
    if (this.#isStopping) return
    // No one has seen these, and there is no copy of them: they go last.
    const room = { freeBytes: freeBytes(), minFreeBytes: settings().minFreeBytes }
    const gaveUp = isShort() && this.#giveUp({ nowMs: null, ...room }) > 0
    // Their room comes a moment later. When the disk is short again at the next look, that did not help.
    const mayHelp = gaveUp && !this.#gaveUp
    this.#gaveUp = gaveUp
    if (!mayHelp) this.#shortfall = isShort() ? held : null
  }

  /** Reads clips slice by slice, with a turn of the event loop for everything else in between. */
  async *#clips(next: (tx: ReadTx, place: ClipPlace) => ClipFile[]): AsyncGenerator<KeptFile[]> {
    let place = beginning
    while (!this.#isStopping) {
      const from = place
      const { rows, files } = this.#needs.work.read((tx) => {
        const found = next(tx, from)
        return { rows: found, files: found.map((row) => this.#kept(tx, row)) }
      })
      const last = rows.at(-1)
      if (!last) return
      yield files
      place = last
      await nextTurn()
    }
  }

  #kept(tx: ReadTx, { detection_id, cctv_id, timestamp_ms, size_bytes }: ClipFile): KeptFile {
    return {
      id: detection_id,
      takenAtMs: timestamp_ms,
      sizeBytes: size_bytes,
      maxAgeMs: this.#needs.settings().clipDays(cctv_id).days * dayMs,
      isHeld: isClipHeld(tx, detection_id),
    }
  }

  /** Removes clips, a few in each write. A clip that is held since it was chosen stays. */
  async #remove(choices: readonly Choice[]): Promise<void> {
    for (let at = 0; at < choices.length && !this.#isStopping; at += atOnce) {
      const some = choices.slice(at, at + atOnce)
      await this.#needs.work.write((tx) => {
        for (const choice of some) this.#removeClip(tx, choice)
      })
      await this.#unlinker.run()
    }
  }

  #removeClip(tx: Tx, { file: { id }, cause }: Choice): void {
    if (isClipHeld(tx, id)) return
    const { cctvId, files: own } = takeClipOff(tx, id)
    const files = own.length === 0 ? [] : [...own, ...copiesOf(tx, id)]
    const policy = this.#policyOf(cause, cctvId)
    for (const file of files) this.#append(tx, { ...file, detection_id: id, cause, policy })
    if (files.length === 0) return
    const changes = { cause, policy }
    this.#needs.audit.write(tx, undefined, {
      action: 'media.removed',
      entity: 'detection_event',
      entityId: id,
      changes,
    })
  }

  #append(tx: Tx, removal: Removal): void {
    const { log, makeId, clock } = this.#needs
    removeMedia(tx, removal, { log, makeId, nowMs: clock.now() })
  }

  #policyOf(cause: Choice['cause'], cctvId: number | null): string {
    const { clipDays, minFreeBytes } = this.#needs.settings()
    if (cause === 'free-space') return `retention.minFreeBytes: ${minFreeBytes}`
    const { key, days } = clipDays(cctvId)
    return `${key}: ${days}`
  }

  /** Removes photos that were uploaded long enough ago. Without uploads the photo here is the only one, and stays. */
  async #photos(): Promise<void> {
    const { work, clock, clockIsTrusted } = this.#needs
    if (!this.#needs.uploadedAtMs || !clockIsTrusted()) return
    for (let slice = 0; slice < photoSlices && !this.#isStopping; slice += 1) {
      const { rows, files } = work.read((tx) => {
        const found = photosAfter(tx, this.#lastPhoto, lookedAt)
        return { rows: found, files: found.flatMap((photo) => this.#keptPhoto(tx, photo) ?? []) }
      })
      const chosen = whatToRemove(files, { nowMs: clock.now(), freeBytes: 0, minFreeBytes: 0 })
      await this.#removePhotos(rows.filter(({ id }) => chosen.some(({ file }) => file.id === id)))
      this.#lastPhoto = rows.length < lookedAt ? 0 : (rows.at(-1)?.id ?? 0)
      if (rows.length < lookedAt) return
      await nextTurn()
    }
  }

  /** Undefined for a photo that is not uploaded, or not here any more. */
  #keptPhoto(tx: ReadTx, { id, sha256, sizeBytes }: ReturnType<typeof photosAfter>[number]): KeptFile | undefined {
    const takenAtMs = removalOf(tx, sha256) ? undefined : this.#needs.uploadedAtMs?.(tx, sha256)
    if (takenAtMs === undefined) return undefined
    const maxAgeMs = this.#needs.settings().keepLocalDays * dayMs
    return { id, takenAtMs, sizeBytes, maxAgeMs, isHeld: holdsOn(tx, sha256).length > 0 }
  }

  async #removePhotos(photos: readonly PhotoFile[]): Promise<void> {
    if (photos.length === 0) return
    const { work, audit, settings } = this.#needs
    const why = { cause: 'age', policy: `retention.photos.keepLocalDays: ${settings().keepLocalDays}` } as const
    await work.write((tx) => {
      for (const photo of photos) {
        const { sha256 } = photo
        if (holdsOn(tx, sha256).length > 0) continue
        this.#append(tx, { sha256, media_kind: 'photo', detection_id: null, ...why, path: photoPath(photo) })
        audit.write(tx, undefined, { action: 'media.removed', entity: 'photo', entityId: sha256, changes: why })
      }
    })
    await this.#unlinker.run()
  }
}
