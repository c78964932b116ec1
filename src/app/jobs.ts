import { Worker } from 'node:worker_threads'
import { AppError } from '../errors/index.ts'
import type { Verification } from '../evidence/index.ts'
import { workerEntry } from '../world/bundle.ts'
import type { Logger } from '../world/index.ts'

export type JobRequest = { readonly id: number; readonly job: 'verify'; readonly dataDir: string }
export type JobAnswer = { readonly id: number } & ({ readonly result: Verification } | { readonly error: string })

type Waiting = { resolve: (result: Verification) => void; reject: (error: unknown) => void }

/** The jobs thread. It starts with the first job; if it dies, its jobs fail and the next one starts it again. */
export class Jobs {
  readonly #log: Logger
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(options: { log: Logger }) {
    this.#log = options.log
  }

  /** Recomputes the ledger in `dataDir`. Rejects with INTERNAL_ERROR when that can't be done at all. */
  verify(dataDir: string): Promise<Verification> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject })
      this.#start().postMessage({ id, job: 'verify', dataDir } satisfies JobRequest)
    })
  }

  async stop(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#failAll('the gateway is stopping')
    await worker?.terminate()
  }

  #start(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(workerEntry('jobs'))
    worker.unref()
    worker.on('message', (answer: JobAnswer) => this.#settle(answer))
    worker.on('error', (err) => this.#log.error({ err }, 'the jobs thread failed'))
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
    this.#waiting.delete(answer.id)
    if ('result' in answer) waiting?.resolve(answer.result)
    else waiting?.reject(new AppError('INTERNAL_ERROR', answer.error))
  }

  #failAll(why: string): void {
    for (const { reject } of this.#waiting.values()) reject(new AppError('INTERNAL_ERROR', why))
    this.#waiting.clear()
  }
}
