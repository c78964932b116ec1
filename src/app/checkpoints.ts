import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { databaseFile, type UnitOfWork, type WalState } from '../database/index.ts'
import { workerEntry } from '../world/bundle.ts'
import type { Logger } from '../world/index.ts'

/** So long a write-ahead log is worth copying: fewer pages would be written again and again, and flash wears out. */
const worthItPages = 4000

/** The writer copies by itself from here on, in the middle of a commit: the thread has not kept up, or is gone. */
const writerHelpsPages = 4 * worthItPages

/** What the writer may copy between two commits: a few milliseconds. */
const restPages = 1000

/**
 * Has a thread copy the write-ahead log into the database file. Left to the writer, one commit in twenty waits for it,
 * and all requests with that. The writer itself copies only what was appended meanwhile, so that it can begin the log
 * anew; a log that is used again is faster than one that grows.
 */
export class Checkpoints {
  readonly #work: UnitOfWork
  readonly #dataDir: string
  readonly #log: Logger
  #worker: Worker | undefined
  #underWay = false

  constructor(options: { work: UnitOfWork; dataDir: string; log: Logger }) {
    this.#work = options.work
    this.#dataDir = options.dataDir
    this.#log = options.log
    this.#work.onCommit(() => this.#look())
  }

  start(): void {
    const worker = new Worker(workerEntry('checkpoint'), { workerData: databaseFile(this.#dataDir) })
    worker.unref()
    worker.on('message', (state: WalState) => this.#copied(state))
    worker.on('error', (err) => this.#log.error({ err }, 'the checkpoint thread failed; the writer does its work'))
    worker.once('exit', () => this.#gone(worker))
    this.#worker = worker
    this.#work.checkpointEvery(writerHelpsPages)
  }

  /** The thread's connection is closed when this resolves. */
  async stop(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    this.#gone(worker)
    const exited = once(worker, 'exit')
    worker.postMessage('close')
    await exited
  }

  #look(): void {
    if (!this.#worker || this.#underWay || this.#work.walState().pages < worthItPages) return
    this.#underWay = true
    this.#worker.postMessage('run')
  }

  #copied({ copied }: WalState): void {
    this.#underWay = false
    if (this.#worker && this.#work.walState().pages - copied <= restPages) this.#work.checkpoint()
  }

  #gone(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#underWay = false
    this.#work.checkpointEvery(worthItPages)
  }
}
