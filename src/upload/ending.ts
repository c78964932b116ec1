import type { Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { removalOf } from '../log/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import { alertOfChanged, alertOfLost, alertOfMissing, alertOfParked, type UploadAlert } from './alerts.ts'
import { endCheck, postponeCheck, scheduleCheck } from './copies/check-store.ts'
import { besidePath } from './dav/paths.ts'
import { releaseUploaded, uploadAgain } from './queue.ts'
import * as store from './store.ts'
import type { UploadKind, UploadRow } from './tables.ts'
import type { Compared, Outcome } from './transfer.ts'
import { fileDelayMs } from './verdict.ts'

export type UploadEndingNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly log: Logger
  readonly raise: (tx: Tx, alert: UploadAlert) => void
  /** As `raise`, unless an alert with the same kind and subject is not acknowledged yet. */
  readonly raiseOnce: (tx: Tx, alert: UploadAlert) => void
  readonly onUploaded: (kind: UploadKind, bytes: number) => void
}

/** Delay before the next try after a failure of the gateway itself, such as a full disk. */
export const troubleMs = 5000

/** Decides the next state of a queued file when an attempt has ended. */
export class UploadEnding {
  readonly #needs: UploadEndingNeeds

  constructor(needs: UploadEndingNeeds) {
    this.#needs = needs
  }

  /**
   * Stores the result and says it. Tries until it is stored: what is uploaded is not sent again because the disk was full. Rejects
   * when the gateway ends meanwhile.
   */
  async record(row: UploadRow, outcome: Outcome, isRunning: () => boolean): Promise<void> {
    await this.#store(row, outcome, isRunning)
    this.#tell(row, outcome)
  }

  async #store(row: UploadRow, outcome: Outcome, isRunning: () => boolean): Promise<void> {
    for (;;) {
      try {
        await this.#needs.work.write((tx) => this.#write(tx, row, outcome))
        return
      } catch (error) {
        if (!isRunning() || isClosed(error)) throw error
        this.#needs.log.error({ err: error, upload: row.id }, 'an upload could not be written down; trying again')
        await new Promise<void>((resolve) => {
          this.#needs.clock.after(troubleMs, resolve)
        })
      }
    }
  }

  #write(tx: Tx, row: UploadRow, outcome: Outcome): void {
    const nowMs = this.#needs.clock.now()
    const attempts = row.attempts + 1
    switch (outcome.kind) {
      case 'uploaded':
        store.finish(tx, row.id, { verified: outcome.verified, url: outcome.url, nowMs })
        releaseUploaded(tx, row)
        scheduleCheck(tx, row, nowMs)
        store.retryWhatFits(tx, row.size_bytes)
        if (row.last_error !== null) store.retryRefusedAlike(tx, row.last_error)
        break
      case 'pause':
      case 'refused':
        store.postpone(tx, row.id, { attempts: row.attempts, atMs: 0, error: outcome.error })
        break
      case 'wait':
      case 'unauthorized':
        store.postpone(tx, row.id, { attempts, atMs: nowMs + fileDelayMs(attempts), error: outcome.error })
        break
      case 'park': {
        const { why, error } = outcome
        const alike = why === 'refused' ? store.countRefusedAlike(tx, error) : store.countParkedFor(tx, why)
        store.park(tx, row.id, error, why)
        // The same again, after the gateway has tried by itself, is no news.
        const isNews = alike === 0 && !(why === 'quota' && row.last_error === error)
        const alert = alertOfParked(row, outcome, isNews, nowMs)
        if (alert) this.#needs.raise(tx, alert)
      }
    }
  }

  /**
   * Stores how the copy of an uploaded file is now. One that is missing is uploaded again while the file is on this box; beside one with
   * other bytes, because nothing there is overwritten.
   */
  async recordCompared(row: UploadRow, compared: Compared): Promise<void> {
    const { work, clock, log } = this.#needs
    const nowMs = clock.now()
    await work.write((tx) => {
      switch (compared.kind) {
        case 'same':
          return scheduleCheck(tx, row, nowMs)
        case 'missing':
          return this.#noteLost(tx, row, nowMs, {
            error: 'the copy is missing on the storage server',
            path: row.path,
            alert: alertOfMissing(row, nowMs),
          })
        case 'different': {
          const path = besidePath(row.path)
          return this.#noteLost(tx, row, nowMs, {
            error: compared.error,
            path,
            alert: alertOfChanged(row, path, nowMs),
          })
        }
        default:
          return postponeCheck(tx, row.id, nowMs)
      }
    })
    if (compared.kind === 'missing' || compared.kind === 'different') {
      const facts = { upload: row.id, kind: row.kind, ref: row.ref, path: row.path }
      log.error({ ...facts, problem: compared.kind }, 'the copy of a file on the storage server is not what it was')
    }
  }

  /** `path`: where the file is uploaded again; `alert` says so. */
  #noteLost(
    tx: Tx,
    row: UploadRow,
    nowMs: number,
    { error, path, alert }: { error: string; path: string; alert: UploadAlert },
  ): void {
    if (!removalOf(tx, row.sha256)) {
      if (uploadAgain(tx, { ...row, path }, error, nowMs)) this.#needs.raiseOnce(tx, alert)
      return
    }
    const gone = `${error}, and the file is not on this box`
    if (!store.copyIsLost(tx, row, { parkedFor: 'lost', error: gone, nowMs })) return
    endCheck(tx, row.id)
    this.#needs.raiseOnce(tx, alertOfLost(row, gone, store.countParkedFor(tx, 'lost'), nowMs))
  }

  #tell(row: UploadRow, outcome: Outcome): void {
    const { log, onUploaded } = this.#needs
    const facts = { upload: row.id, kind: row.kind, ref: row.ref, bytes: row.size_bytes }
    switch (outcome.kind) {
      case 'uploaded':
        onUploaded(row.kind, row.size_bytes)
        log.debug({ ...facts, verified: outcome.verified }, 'a file was uploaded')
        break
      case 'park':
        log.error({ ...facts, problem: outcome.error }, 'a file is parked: it is not tried again by itself')
        break
      case 'wait':
      case 'pause':
      case 'refused':
      case 'unauthorized':
        log.warn({ ...facts, problem: outcome.error }, 'a file could not be uploaded; it is tried again')
    }
  }
}

/** The database is closed: the process ends. */
export function isClosed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'NOT_READY'
}
