import type { ErrorCode } from '../errors/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import { networkOf } from './network-of.ts'
import type { Tally } from './tally.ts'

type Origin = Omit<RequestOrigin, 'caller'>

/** Refused sign-ins in the audit trail: one row for each network, code and account in ten minutes. */
export class Refusals {
  readonly #tally: Tally

  constructor(needs: { tally: Tally }) {
    this.#tally = needs.tally
  }

  /** @param username of an account that exists; a name of nobody is not kept */
  note(code: ErrorCode, from: Origin, username?: string): void {
    const facts = { action: 'caller.refused', entity: 'caller', changes: { code } } as const
    this.#tally.note(
      [networkOf(from.address), code, username],
      from,
      { ...facts, operator: username },
      {
        ...facts,
        changes: { code: 'various' },
      },
    )
  }
}
