import type { UnitOfWork } from '../database/index.ts'
import type { ErrorCode } from '../errors/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import type { Clock } from '../world/index.ts'
import { networkOf } from './network-of.ts'

type Origin = Omit<RequestOrigin, 'caller'>
type Counted = { more: number; last: Origin; readonly cancel: () => void; readonly write: () => Promise<void> }

const togetherMs = 10 * 60_000
/** Addresses and names kept apart at once; what comes beyond is counted together. */
const keptApart = 1000

/**
 * Refused sign-ins in the audit trail. The first of an address stands there at once; those that follow within ten
 * minutes become one row with their count, so that nobody can fill the ledger's disk by guessing.
 */
export class Refusals {
  readonly #work: UnitOfWork
  readonly #audit: AuditTrail
  readonly #clock: Pick<Clock, 'after'>
  readonly #counted = new Map<string, Counted>()

  constructor(options: { work: UnitOfWork; audit: AuditTrail; clock: Pick<Clock, 'after'> }) {
    this.#work = options.work
    this.#audit = options.audit
    this.#clock = options.clock
  }

  /** @param username of an account that exists; a name of nobody is not kept */
  async note(code: ErrorCode, from: Origin, username?: string): Promise<void> {
    const own = JSON.stringify([networkOf(from.address), code, username])
    const key = this.#counted.has(own) || this.#counted.size < keptApart ? own : 'more'
    const known = this.#counted.get(key)
    if (known) {
      known.more += 1
      known.last = from
      return
    }
    const write = (origin: Origin, count: number) =>
      this.#work
        .write((tx) =>
          this.#audit.write(tx, origin, {
            action: 'caller.refused',
            entity: 'caller',
            operator: key === own ? username : undefined,
            changes: { code, count },
          }),
        )
        .catch(() => {})
    const counted: Counted = {
      more: 0,
      last: from,
      cancel: this.#clock.after(togetherMs, () => this.#tell(key)),
      write: async () => {
        if (counted.more > 0) await write(counted.last, counted.more)
      },
    }
    this.#counted.set(key, counted)
    await write(from, 1)
  }

  /** Writes what has been counted so far; before the last commit of the process. */
  flush(): void {
    for (const key of this.#counted.keys()) this.#tell(key)
  }

  #tell(key: string): void {
    const counted = this.#counted.get(key)
    this.#counted.delete(key)
    counted?.cancel()
    void counted?.write()
  }
}
