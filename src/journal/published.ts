import { built, integer, maybe, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { sql, tables } from './tables.ts'

const ends = statement({
  columns: { first: maybe(integer), last: maybe(integer) },
  // Two seeks: both ends in one SELECT would be read from every row between them.
  sql: 'SELECT (SELECT min(seq) FROM outbox) AS first, (SELECT max(seq) FROM outbox) AS last',
})
const inSpan = built({ after: integer, last: integer }, ({ after, last }) =>
  sql.selectFrom('outbox').select(['seq', 'body']).where('seq', '>', after).where('seq', '<=', last).orderBy('seq'),
)
const newBody = built(pick(tables.outbox, 'seq', 'body'), ({ seq, body }) =>
  sql.updateTable('outbox').set({ body }).where('seq', '=', seq),
)

/** A stored notification. */
export type Published = { readonly seq: number; readonly body: Buffer }

/** Returns the first and the last notification; null without one. */
export function endsOfPublished(tx: ReadTx): { first: number | null; last: number | null } {
  return tx.get(ends) ?? { first: null, last: null }
}

/** Returns the notifications behind one, up to and with another. */
export function publishedBetween(tx: ReadTx, after: number, last: number): Published[] {
  return tx.all(inSpan, { after, last })
}

/** Replaces the bytes of a notification after the erasure of a person in it. */
export function rewritePublished(tx: Tx, { seq, body }: Published): void {
  tx.run(newBody, { seq, body })
}
