import type { Tx } from '../database/index.ts'
import { unlinkFromTrail } from '../journal/index.ts'
import { unlinkPerson } from '../log/index.ts'
import { forgetBringer } from '../photos/index.ts'
import { forgetAccount } from './accounts.ts'

/**
 * Removes these persons from all links but those of events, at most `limit` rows of each table.
 * @returns whether there may be more
 */
export function unlinkRest(tx: Tx, ids: readonly number[], limit: number = Number.MAX_SAFE_INTEGER): boolean {
  let most = 0
  for (const id of ids) {
    most = Math.max(most, unlinkFromTrail(tx, id, limit), unlinkPerson(tx, id, limit))
    forgetBringer(tx, id)
    forgetAccount(tx, id)
  }
  return most >= limit
}
