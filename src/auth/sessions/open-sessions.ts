import { built, integer, type ReadTx } from '../../database/index.ts'
import { sql } from '../tables.ts'

/** An open session of the console, without its secrets. */
export type OpenSession = {
  readonly token_sha256: Buffer
  readonly username: string
  readonly instance: string
  readonly created_at_ms: number
  readonly expires_at_ms: number
  /** Network address of the sign-in; null for a session from before schema 18. */
  readonly address: string | null
}

const open = built({ nowMs: integer }, ({ nowMs }) =>
  sql
    .selectFrom('console_session as s')
    .leftJoin('console_session_facts as f', 'f.token_sha256', 's.token_sha256')
    .select(['s.token_sha256', 's.username', 's.instance', 's.created_at_ms', 's.expires_at_ms', 'f.address'])
    .where('s.expires_at_ms', '>', nowMs),
)

/** Lists the stored sessions that have not expired. */
export const openSessions = (tx: ReadTx, nowMs: number): OpenSession[] => tx.all(open, { nowMs })
