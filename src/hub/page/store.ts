import { sql as raw } from 'kysely'
import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { builtStatement, type Places, sql } from '../store/statement.ts'

const session = {
  tokenHash: 'bytea',
  instance: 'text',
  username: 'text',
  mark: 'bytea',
  sealed: 'bytea?',
  madeAt: 'timestamptz',
  expiresAt: 'timestamptz',
} as const
/** Returns the places of a session by their columns. */
const valuesOf = (to: Places<typeof session>) => ({
  token_hash: to.tokenHash,
  instance: to.instance,
  username: to.username,
  account_mark: to.mark,
  sealed: to.sealed,
  made_at: to.madeAt,
  expires_at: to.expiresAt,
})
const begun = builtStatement('begin-page-session', session, (to) => sql.insertInto('page_session').values(valuesOf(to)))
// No row is ever deleted, so a new session takes the row of one that is over.
const reusable = builtStatement('page-session-to-reuse', { at: 'timestamptz' }, ({ at }) =>
  sql
    .selectFrom('page_session')
    .select('token_hash')
    .where((is) => is.or([is('ended_at', 'is not', null), is('expires_at', '<=', at)]))
    .orderBy('expires_at')
    .orderBy('token_hash')
    .limit(raw.lit(1)),
)
const oldest = builtStatement(
  'page-session-of-many',
  { instance: 'text', username: 'text', skipped: 'integer' },
  ({ instance, username, skipped }) =>
    sql
      .selectFrom('page_session')
      .select('token_hash')
      .where('instance', '=', instance)
      .where('username', '=', username)
      .orderBy('made_at', 'desc')
      .orderBy('token_hash')
      .limit(raw.lit(1))
      .offset(skipped),
)
const reused = builtStatement('reuse-page-session', { ...session, old: 'bytea' }, (to) =>
  sql
    .updateTable('page_session')
    .set({ ...valuesOf(to), ended_at: null })
    .where('token_hash', '=', to.old)
    .returning('token_hash'),
)
const found = builtStatement('find-page-session', { tokenHash: 'bytea' }, ({ tokenHash }) =>
  sql
    .selectFrom('page_session')
    .select(['instance', 'username', 'account_mark', 'sealed', 'made_at', 'expires_at'])
    .where('token_hash', '=', tokenHash)
    .where('ended_at', 'is', null),
)
const moved = builtStatement(
  'move-page-session',
  { tokenHash: 'bytea', expiresAt: 'timestamptz' },
  ({ tokenHash, expiresAt }) =>
    sql.updateTable('page_session').set({ expires_at: expiresAt }).where('token_hash', '=', tokenHash),
)
const ended = builtStatement('end-page-session', { tokenHash: 'bytea', at: 'timestamptz' }, ({ tokenHash, at }) =>
  sql
    .updateTable('page_session')
    .set({ ended_at: at, sealed: null })
    .where('token_hash', '=', tokenHash)
    .where('ended_at', 'is', null),
)

const newestTimes = builtStatement('newest-page-time', {}, () =>
  sql.selectFrom('page_session').select(({ fn, selectFrom }) => [
    fn.max<Date | null>('made_at').as('made_at'),
    fn.max<Date | null>('expires_at').as('expires_at'),
    fn.max<Date | null>('ended_at').as('ended_at'),
    selectFrom('log_head')
      .select((head) => head.fn.max<Date | null>('fed_at').as('at'))
      .as('fed_at'),
  ]),
)

/** `mark`: of an account of the config. `sealed`: the credential of a user of a storage server. */
export type PageSession = {
  readonly instance: string
  readonly username: string
  readonly mark: Buffer
  readonly sealed: Buffer | null
  readonly madeAtMs: number
  readonly expiresAtMs: number
}

/** Stores a new session, in the row of one that is over; a name that has `most` of them loses its oldest. */
export async function beginSession(db: HubTx, tokenHash: Buffer, session: PageSession, most: number): Promise<void> {
  const { instance, username, mark, sealed, madeAtMs, expiresAtMs } = session
  const [madeAt, expiresAt] = [isoTime(madeAtMs), isoTime(expiresAtMs)]
  const values = { tokenHash, instance, username, mark, sealed, madeAt, expiresAt }
  const [old] = [
    ...(await db.rows(oldest, { instance, username, skipped: most - 1 })),
    ...(await db.rows(reusable, { at: madeAt })),
  ]
  // Another sign-in may have taken the same row meanwhile.
  const taken = old ? await db.rows(reused, { ...values, old: old.token_hash }) : []
  if (taken.length === 0) await db.rows(begun, values)
}

/** Returns a session that no one has ended; it may have expired. */
export async function findSession(db: HubTx, tokenHash: Buffer): Promise<PageSession | undefined> {
  const [row] = await db.rows(found, { tokenHash })
  if (!row) return undefined
  const times = { madeAtMs: row.made_at.getTime(), expiresAtMs: row.expires_at.getTime() }
  const { instance, username, account_mark: mark, sealed } = row
  return { instance, username, mark, sealed, ...times }
}

/**
 * Returns the newest time that is stored of a sign-in, a use, an end or a feed; 0 without any. The clock of this machine was there.
 * @param idleMs a use moves the expiry to this long after it
 */
export async function newestUseMs(db: HubTx, idleMs: number): Promise<number> {
  const [row] = await db.rows(newestTimes, {})
  const usedMs = row?.expires_at ? row.expires_at.getTime() - idleMs : 0
  const others = [row?.made_at, row?.ended_at, row?.fed_at].map((at) => at?.getTime() ?? 0)
  return Math.max(usedMs, ...others)
}

export async function moveSession(db: HubTx, tokenHash: Buffer, expiresAtMs: number): Promise<void> {
  await db.rows(moved, { tokenHash, expiresAt: isoTime(expiresAtMs) })
}

export async function endSession(db: HubTx, tokenHash: Buffer, atMs: number): Promise<void> {
  await db.rows(ended, { tokenHash, at: isoTime(atMs) })
}
