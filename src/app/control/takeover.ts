import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { MiddlewareHandler } from 'hono'
import { AppError, ExitError } from '../../errors/index.ts'
import type { AppEnv } from '../../http/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { type Logger, readFileIfThere, writeFileDurably } from '../../platform/index.ts'

type TakeoverNeeds = {
  readonly dataDir: string
  readonly version: string
  readonly log: Logger
}

/** Checks that the new version works; rejects with the fault. */
export type Look = () => Promise<void>

const retryAfterSeconds = 5
const askedEveryMs = 1000
const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Returns the file with the version that was healthy last in this data folder. */
const noteFile = (dataDir: string): string => join(dataDir, 'version-in-use')

/**
 * A new version records nothing until it is healthy: the previous version might have to serve these records. Afterwards, or when
 * the version has not changed, it lets all writes pass.
 */
export class Takeover {
  readonly #needs: TakeoverNeeds
  readonly #before: string | undefined
  #isOver: boolean

  constructor(needs: TakeoverNeeds) {
    this.#needs = needs
    this.#before = readFileIfThere(noteFile(needs.dataDir))?.toString('utf8').trim()
    this.#isOver = this.#before === undefined || this.#before === needs.version
  }

  /** Refuses every write with NOT_READY until this version is healthy. */
  readonly gate: MiddlewareHandler<AppEnv> = (c, next) => {
    if (this.#isOver || reading.has(c.req.method)) return next()
    throw new AppError('NOT_READY', 'A new version takes over; send it again', { retryAfterSeconds })
  }

  /** Returns a command of the box that is refused with NOT_READY until this version is healthy. */
  after<Asked extends unknown[], Said>(act: (...asked: Asked) => Promise<Said>): (...asked: Asked) => Promise<Said> {
    return async (...asked) => {
      if (this.#isOver) return act(...asked)
      throw new AppError('NOT_READY', 'A new version takes over; do it again in a minute', { retryAfterSeconds })
    }
  }

  /**
   * Resolves once this version is healthy; writes are taken from then on. Throws ExitError when the time is over; the program that
   * started this version then puts the previous one back.
   */
  async settle(look: Look, limitMs: number): Promise<void> {
    const { dataDir, version, log } = this.#needs
    if (!this.#isOver) {
      log.info({ from: this.#before, to: version }, 'this version takes over; writes wait until it is healthy')
      await this.#healthy(look, limitMs)
      log.info({ from: this.#before, to: version }, 'this version is healthy and takes writes')
    }
    this.#isOver = true
    if (this.#before === version) return
    try {
      writeFileDurably(noteFile(dataDir), `${version}\n`, 0o640)
    } catch (err) {
      // A full disk keeps no gateway from starting.
      log.error({ err }, 'the version in use could not be noted')
    }
  }

  async #healthy(look: Look, limitMs: number): Promise<void> {
    const endMs = performance.now() + limitMs
    for (;;) {
      try {
        return await look()
      } catch (error) {
        const problem = errorMessage(error)
        if (performance.now() >= endMs) {
          const seconds = Math.round(limitMs / 1000)
          throw new ExitError(
            1,
            `version ${this.#needs.version} did not become healthy in ${seconds} s: ${problem}`,
            error,
          )
        }
        this.#needs.log.warn({ problem }, 'this version is not healthy yet')
        await pause(askedEveryMs)
      }
    }
  }
}
