import type { UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import { afterAttempt, isDue, longestDelayMs, type PrintOutcome } from './print-state.ts'
import { sendRaw } from './raw-port.ts'
import type { LabelSettings } from './settings.ts'
import { claimJob, heads, recordOutcome, requeueCut } from './store.ts'
import type { PrintJobRow } from './tables.ts'

/** Delay before the next try after a failure of the gateway itself, such as a full disk. */
const troubleMs = 5000
const dayMs = 24 * 60 * 60 * 1000

type PrintWorkerNeeds = { work: UnitOfWork; clock: Clock; log: Logger; settings: () => LabelSettings }

/**
 * Sends jobs to the printers. One printer gets its jobs one after the other, in the order of their requests; all printers work at
 * the same time. An attempt is claimed by a short write, sent outside of any transaction, and recorded by another write. A crash
 * between sending and recording prints a label twice; the other order would lose one.
 */
export class PrintWorker {
  readonly #needs: PrintWorkerNeeds
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  #running = false
  #cancelDue = () => {}

  constructor(needs: PrintWorkerNeeds) {
    this.#needs = needs
  }

  /** Puts interrupted jobs back into the queue, then works until `stop`. May be called once. */
  start(): void {
    this.#running = true
    this.#begin('', async () => {
      const cut = await this.#needs.work.write(requeueCut)
      if (cut > 0) this.#needs.log.info({ jobs: cut }, 'labels under way when the gateway ended are printed again')
    })
  }

  /** Interrupts attempts under way; their jobs stay in the queue. */
  async stop(): Promise<void> {
    this.#running = false
    this.#cancelDue()
    this.#stopping.abort()
    await Promise.all(this.#underWay.values())
  }

  /** Looks for work; to be called when a job was added. */
  wake(): void {
    try {
      this.#pass()
    } catch (error) {
      this.#trouble(error)
    }
  }

  /** Looks for due jobs again, because the printers of the config may have changed. */
  onReload(): void {
    this.wake()
  }

  #pass(): void {
    if (!this.#running || this.#underWay.has('')) return
    this.#cancelDue()
    const nowMs = this.#needs.clock.now()
    let nextInMs = Number.POSITIVE_INFINITY
    for (const job of this.#needs.work.read(heads)) {
      if (job.state !== 'queued' || this.#underWay.has(job.printer)) continue
      if (isDue(job.next_attempt_at_ms, nowMs)) this.#begin(job.printer, () => this.#print(job.id))
      else nextInMs = Math.min(nextInMs, job.next_attempt_at_ms - nowMs)
    }
    if (nextInMs <= longestDelayMs) this.#cancelDue = this.#needs.clock.after(nextInMs, () => this.wake())
  }

  #begin(printer: string, work: () => Promise<void>): void {
    const done = work().then(
      () => {
        this.#underWay.delete(printer)
        this.wake()
      },
      (error: unknown) => {
        this.#underWay.delete(printer)
        this.#trouble(error)
      },
    )
    this.#underWay.set(printer, done)
  }

  async #print(id: number): Promise<void> {
    const job = await this.#needs.work.write((tx) => claimJob(tx, id))
    if (!job) return
    const outcome = await this.#send(job)
    const { printers } = this.#needs.settings()
    const giveUpAfterMs = printers.find((one) => one.name === job.printer)?.giveUpAfter ?? dayMs
    const nowMs = this.#needs.clock.now()
    const next = afterAttempt(outcome, job.attempts, nowMs - job.created_at_ms, giveUpAfterMs)
    await this.#record(job, outcome, next)
    const facts = { job: id, printer: job.printer, attempt: job.attempts, ...outcome, state: next.state }
    this.#needs.log[outcome.kind === 'printed' ? 'debug' : 'warn'](facts, 'a label was sent to its printer')
  }

  async #send(job: PrintJobRow): Promise<PrintOutcome> {
    const printer = this.#needs.settings().printers.find((one) => one.name === job.printer)
    if (!printer) return { kind: 'failed', error: 'the config has no such printer' }
    const { host, port, timeout } = printer
    return sendRaw({
      host,
      port,
      bytes: job.zpl,
      timeoutMs: timeout,
      clock: this.#needs.clock,
      signal: this.#stopping.signal,
    })
  }

  /** Tries until the result is stored: a printed label must not be printed again because the disk was full. */
  async #record(job: PrintJobRow, outcome: PrintOutcome, next: ReturnType<typeof afterAttempt>): Promise<void> {
    for (;;) {
      try {
        await this.#needs.work.write((tx) => recordOutcome(tx, job.id, outcome, next, this.#needs.clock.now()))
        return
      } catch (error) {
        if (!this.#running || isClosed(error)) throw error
        this.#needs.log.error({ err: error, job: job.id }, 'a printed label could not be written down; trying again')
        await new Promise<void>((resolve) => {
          this.#needs.clock.after(troubleMs, resolve)
        })
      }
    }
  }

  #trouble(error: unknown): void {
    if (!this.#running || isClosed(error)) return
    this.#needs.log.error({ err: error }, 'labels are not being printed')
    this.#cancelDue()
    this.#cancelDue = this.#needs.clock.after(troubleMs, () => this.wake())
  }
}

/** The database is closed: the process ends. */
function isClosed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'NOT_READY'
}
