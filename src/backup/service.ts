import { setImmediate as nextTurn } from 'node:timers/promises'
import type { UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Checkpoints } from '../evidence/index.ts'
import type { AuditOrigin, AuditTrail } from '../journal/index.ts'
import { holdMedia, mediaBehind, releaseEvery, releaseMedia } from '../log/index.ts'
import type { Clock } from '../platform/index.ts'
import type { BackupMade, BackupOrder } from './make.ts'

export type BackupsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly audit: AuditTrail
  readonly checkpoints: Pick<Checkpoints, 'make'>
  readonly dataDir: string
  readonly version: string
  readonly makeId: () => string
  readonly reserveBytes: () => number
  /** Files of the config, absolute. */
  readonly settings: () => readonly string[]
  /** Makes the file in another thread. */
  readonly run: (order: BackupOrder) => Promise<BackupMade>
}

export type BackupRequest = {
  /** Absolute path of the file to make. */
  readonly target: string
  readonly media: boolean
  /** Whether only the recovery key opens the file; default: no. */
  readonly sealed?: boolean
  /** The time that its manifest states; default: now. */
  readonly nowMs?: number
  /** The caller who requested it; null for the schedule. */
  readonly caller: Required<AuditOrigin>['caller'] | null
}

/** Files held in one write. */
const holdsAtOnce = 500
const reason = 'backup'

/** Makes backups of this gateway, one at a time. */
export class Backups {
  readonly #needs: BackupsNeeds
  #isBusy = false
  #isStarted = false

  constructor(needs: BackupsNeeds) {
    this.#needs = needs
  }

  /** Lets go of the files that a backup held when the gateway was killed. */
  async start(): Promise<void> {
    this.#isStarted = true
    await this.#needs.work.write((tx) => releaseEvery(tx, reason)).catch(() => undefined)
  }

  stop(): void {
    this.#isStarted = false
  }

  /**
   * Makes a backup. The newest leaves are signed first, and photos and clips that go along are held until they are copied.
   * Rejects with an AppError for the admin.
   */
  async make({
    target,
    media,
    sealed = false,
    nowMs = this.#needs.clock.now(),
    caller,
  }: BackupRequest): Promise<BackupMade> {
    if (this.#isBusy) throw new AppError('NOT_READY', 'Another backup is being made; wait until it is done')
    this.#isBusy = true
    const { work, audit, checkpoints, dataDir, version, makeId } = this.#needs
    const id = makeId()
    try {
      await checkpoints.make()
      if (media) await this.#hold(id)
      const order = { target, media, sealed, dataDir, version, nowMs, beside: this.#isStarted }
      const settings = this.#needs.settings()
      const made = await this.#needs.run({ ...order, settings, reserveBytes: this.#needs.reserveBytes() })
      const { logId, size, sizeBytes } = made
      const changes = { file: target, media, logId, size, sizeBytes }
      const origin = { requestId: id, address: 'local', ...(caller ? { caller } : { mode: 'schedule' }) }
      await work.write((tx) => audit.write(tx, origin, { action: 'backup.made', entity: 'config', changes }))
      return made
    } finally {
      this.#isBusy = false
      if (media) await work.write((tx) => releaseMedia(tx, reason, id))
    }
  }

  async #hold(id: string): Promise<void> {
    const { work, clock } = this.#needs
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after
      after = await work.write((tx) => {
        const found = mediaBehind(tx, from, holdsAtOnce)
        for (const { sha256 } of found) holdMedia(tx, { sha256, reason, ref: id }, clock.now())
        return found.at(-1)?.id
      })
      await nextTurn()
    }
  }
}
