import type { UnitOfWork } from '../database/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { type Clock, networkOf } from '../platform/index.ts'
import { Recent } from './rates/recent.ts'

const hourMs = 3_600_000
/** Noted again after a shift; during an outage every hour. */
const againAfterMs = 12 * hourMs
const againOfflineMs = hourMs
const kept = 10_000

type FirstUsesNeeds = { work: UnitOfWork; audit: AuditTrail; clock: Pick<Clock, 'monotonic'> }

/**
 * Notes callers with headers in the audit trail, since they have no sign-in. It notes the first request of a user by each mode and
 * from each network, and again after a shift.
 */
export class FirstUses {
  readonly #needs: FirstUsesNeeds
  readonly #seen = new Recent<number>(kept)

  constructor(needs: FirstUsesNeeds) {
    this.#needs = needs
  }

  /** Notes a request, in the background. Acts of the caller have separate audit rows, with the mode too. */
  note(by: RequestOrigin): void {
    const { username, instance, role, authMode } = by.caller
    // Only a user's name may have a NUL in it, and it comes last.
    const key = `${authMode}\0${instance}\0${networkOf(by.address)}\0${username}`
    const nowMs = this.#needs.clock.monotonic()
    const againMs = authMode === 'offline-cache' ? againOfflineMs : againAfterMs
    const seenMs = this.#seen.get(key)
    if (seenMs !== undefined && nowMs - seenMs < againMs) return
    this.#seen.set(key, nowMs)
    const facts = { action: 'caller.verified', entity: 'caller', changes: { role } } as const
    void this.#needs.work.write((tx) => this.#needs.audit.write(tx, by, facts)).catch(() => this.#seen.delete(key))
  }
}
