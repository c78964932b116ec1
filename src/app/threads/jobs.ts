import { Worker } from 'node:worker_threads'
import type {
  BackupMade,
  BackupOrder,
  RehearsalOrder,
  Rehearsed,
  SegmentsMade,
  SegmentsOrder,
  SegmentsRehearsal,
  SegmentsRehearsed,
} from '../../backup/index.ts'
import type { Replays } from '../../cameras/index.ts'
import { AppError } from '../../errors/index.ts'
import {
  type FullVerification,
  type KnownOutsiders,
  type VerifyPart,
  verifyInTwoThreads,
} from '../../evidence/index.ts'
import type { ComposedReport, ReportSpec } from '../../governance/index.ts'
import { workerEntry } from '../../platform/bundle.ts'
import { type Clock, heldFolders, type Logger } from '../../platform/index.ts'
import type { RecordedMotion, Replayed, ReplaySpec } from '../../video/index.ts'

/** Input (besides the data folder) and result of each kind of job. */
type JobKinds = {
  verify: { readonly order: VerifyAsked & { readonly part: VerifyPart }; readonly result: FullVerification }
  report: { readonly order: ReportSpec; readonly result: ComposedReport }
  scores: { readonly order: ReplaySpec; readonly result: Replayed }
  whatIf: { readonly order: WhatIfSpec; readonly result: Awaited<ReturnType<Replays['whatIf']>> }
  backup: { readonly order: BackupOrder; readonly result: BackupMade }
  segments: { readonly order: SegmentsOrder; readonly result: SegmentsMade | undefined }
  rehearseSegments: { readonly order: SegmentsRehearsal; readonly result: SegmentsRehearsed }
  rehearse: { readonly order: RehearsalOrder; readonly result: Rehearsed }
}
type JobKind = keyof JobKinds
/** `mayLackFiles`: see `verifyLedger`. */
export type VerifyAsked = { readonly known: KnownOutsiders; readonly mayLackFiles?: boolean }
export type WhatIfSpec = { readonly spec: ReplaySpec; readonly recorded: readonly RecordedMotion[] }
export type JobResult = JobKinds[JobKind]['result']

export type Job = { [K in JobKind]: { readonly job: K; readonly order: JobKinds[K]['order'] } }[JobKind]
export type JobRequest = Job & { readonly id: number; readonly dataDir: string }
export type JobAnswer = { readonly id: number } & (
  | { readonly result: JobResult }
  | { readonly error: string }
  /** From 0 to 1; the job continues. */
  | { readonly share: number }
)

type Waiting = {
  resolve: (result: never) => void
  reject: (error: unknown) => void
  onShare: ((share: number) => void) | undefined
}

type JobsNeeds = { readonly log: Logger; readonly clock: Clock }

/** A verification that takes longer logs its progress, at this interval. */
const slowMs = 10_000

/**
 * Runs jobs in the jobs thread, which starts with the first job. If it dies, its jobs fail; the next job starts it
 * again.
 */
export class Jobs {
  readonly #needs: JobsNeeds
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0
  #verified: number | undefined

  constructor(needs: JobsNeeds) {
    this.#needs = needs
  }

  /**
   * Recomputes the ledger in `dataDir`; see `verifyInTwoThreads`. Rejects with INTERNAL_ERROR when it cannot be read at all, and with
   * a plain error when the second thread fails.
   */
  async verify(dataDir: string, asked: VerifyAsked): Promise<FullVerification> {
    const startedMs = this.#needs.clock.monotonic()
    let saidMs = startedMs
    const onShare = (share: number) => {
      this.#verified = share
      const nowMs = this.#needs.clock.monotonic()
      if (nowMs - saidMs < slowMs) return
      saidMs = nowMs
      this.#needs.log.info({ percent: Math.floor(share * 100) }, 'the ledger is being verified')
    }
    onShare(0)
    try {
      const result = await verifyInTwoThreads(dataDir, (part) =>
        this.#run(dataDir, { job: 'verify', order: { ...asked, part } }, onShare),
      )
      const seconds = Math.round((this.#needs.clock.monotonic() - startedMs) / 1000)
      const { ok, size } = result
      if (seconds * 1000 >= slowMs) this.#needs.log.info({ ok, leaves: size, seconds }, 'the ledger was verified')
      return result
    } finally {
      this.#verified = undefined
    }
  }

  /** Progress of the verification under way, from 0 to 1; undefined when there is none. */
  get verified(): number | undefined {
    return this.#verified
  }

  /** Composes a report on the ledger in `dataDir`; see `composeReport`. Rejects with INTERNAL_ERROR. */
  report(dataDir: string, spec: ReportSpec): Promise<ComposedReport> {
    return this.#run(dataDir, { job: 'report', order: spec })
  }

  /** Replays the stored cells of a camera; see `replayCells`. Rejects with INTERNAL_ERROR. */
  scores(spec: ReplaySpec): Promise<Replayed> {
    return this.#run('', { job: 'scores', order: spec })
  }

  /** Replays, and compares with the recorded motion; see `compareMotion`. Rejects with INTERNAL_ERROR. */
  whatIf(spec: ReplaySpec, recorded: readonly RecordedMotion[]): ReturnType<Replays['whatIf']> {
    return this.#run('', { job: 'whatIf', order: { spec, recorded } })
  }

  /** Makes a backup; see `makeBackup`. Rejects with INTERNAL_ERROR and a sentence for the admin. */
  backup(order: BackupOrder): Promise<BackupMade> {
    return this.#run(order.dataDir, { job: 'backup', order })
  }

  /** Writes what is new; see `writeSegments`. Rejects with INTERNAL_ERROR and a sentence for the admin. */
  segments(order: SegmentsOrder): Promise<SegmentsMade | undefined> {
    return this.#run(order.dataDir, { job: 'segments', order })
  }

  /** Restores a backup beside the ledger; see `rehearse`. Rejects with INTERNAL_ERROR and the fault. */
  rehearse(order: RehearsalOrder): Promise<Rehearsed> {
    return this.#run(order.dataDir, { job: 'rehearse', order })
  }

  /** Restores segments beside the ledger; see `rehearseSegments`. */
  rehearseSegments(order: SegmentsRehearsal): Promise<SegmentsRehearsed> {
    return this.#run(order.dataDir, { job: 'rehearseSegments', order })
  }

  async stop(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#failAll('the gateway is stopping')
    await worker?.terminate()
  }

  #run<J extends Job>(
    dataDir: string,
    job: J,
    onShare?: (share: number) => void,
  ): Promise<JobKinds[J['job']]['result']> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject, onShare })
      const worker = this.#start()
      // Only a thread at work keeps the process alive.
      worker.ref()
      worker.postMessage({ ...job, id, dataDir } satisfies JobRequest)
    })
  }

  #start(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(workerEntry('jobs'), { workerData: heldFolders() })
    worker.on('message', (answer: JobAnswer) => this.#settle(answer))
    worker.on('error', (err) => this.#needs.log.error({ err }, 'the jobs thread failed'))
    worker.on('exit', () => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#failAll('the jobs thread ended')
    })
    this.#worker = worker
    return worker
  }

  #settle(answer: JobAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    if ('share' in answer) {
      waiting?.onShare?.(answer.share)
      return
    }
    this.#waiting.delete(answer.id)
    if (this.#waiting.size === 0) this.#worker?.unref()
    // The id ties an answer to its order; the type of a message cannot express that.
    if ('result' in answer) waiting?.resolve(answer.result as never)
    else waiting?.reject(new AppError('INTERNAL_ERROR', answer.error))
  }

  #failAll(why: string): void {
    for (const { reject } of this.#waiting.values()) reject(new AppError('INTERNAL_ERROR', why))
    this.#waiting.clear()
  }
}
