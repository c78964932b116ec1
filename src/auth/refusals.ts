import type { ErrorCode } from '../errors/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import { networkOf } from '../platform/index.ts'
import type { Tally } from './rates/tally.ts'

type Origin = Omit<RequestOrigin, 'caller'>

/** Counts refused sign-ins in the audit trail: one row for each network, code and account in ten minutes. */
export class Refusals {
  readonly #tally: Tally

  constructor(needs: { tally: Tally }) {
    this.#tally = needs.tally
  }

  /** Counts one refusal. @param named a user who exists; an unknown name is not stored */
  note(code: ErrorCode, from: Origin, named?: Pick<Caller, 'username' | 'instance'>): void {
    const facts = { action: 'caller.refused', entity: 'caller' } as const
    this.#tally.note(
      [networkOf(from.address), code, named?.username, named?.instance],
      from,
      { ...facts, operator: named?.username, changes: { code, ...(named && { instance: named.instance }) } },
      {
        ...facts,
        changes: { code: 'various' },
      },
    )
  }
}
