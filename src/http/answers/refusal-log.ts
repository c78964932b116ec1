import type { AppError } from '../../errors/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'

const togetherMs = 10 * 60_000

type Counted = { readonly sinceMs: number; more: number }

/**
 * Logs refusals with a status of 500 and more. A failure is one error line each time. A 503 is a warning: one line for each
 * code in ten minutes, and the next line has the count. So unknown callers cannot fill the disk while a storage server is
 * down.
 */
export class RefusalLog {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #counted = new Map<string, Counted>()

  constructor(options: { clock: Pick<Clock, 'monotonic'> }) {
    this.#clock = options.clock
  }

  write(log: Logger, refusal: AppError, error: unknown): void {
    const { code, message, status } = refusal
    const err = refusal.cause ?? error
    if (status !== 503) {
      log.error({ err, code }, message)
      return
    }
    const nowMs = this.#clock.monotonic()
    const counted = this.#counted.get(code)
    if (counted && nowMs - counted.sinceMs < togetherMs) {
      counted.more += 1
      return
    }
    this.#counted.set(code, { sinceMs: nowMs, more: 0 })
    log.warn({ err, code, ...(counted && counted.more > 0 && { sinceTheLastLine: counted.more }) }, message)
  }
}
