import type { ReadTx, Tx } from '../database/index.ts'

const holes = (values: readonly unknown[]) => values.map(() => '?').join(', ')

/** Returns events linked to these persons, after `after`, up to and including `last`. */
export function linkedEvents(
  tx: ReadTx,
  ids: readonly number[],
  { after, last }: { readonly after: number; readonly last: number },
): number[] {
  if (ids.length === 0) return []
  return tx
    .allOf<{ id: number }>(
      `SELECT event_id AS id FROM placement_person
       WHERE event_id > +? AND event_id <= +? AND (+operator_id IN (${holes(ids)}) OR actor_id IN (${holes(ids)}))`,
      [after, last, ...ids, ...ids],
    )
    .map(({ id }) => id)
}

/** Removes these persons from the links of events, and deletes link rows without a person. */
export function unlinkEvents(tx: Tx, events: readonly number[], ids: readonly number[]): void {
  const without = (column: string) => `${column} = CASE WHEN ${column} IN (${holes(ids)}) THEN NULL ELSE ${column} END`
  for (const event of events) {
    tx.runOf(`UPDATE placement_person SET ${without('operator_id')}, ${without('actor_id')} WHERE event_id = +?`, [
      ...ids,
      ...ids,
      event,
    ])
    tx.runOf('DELETE FROM placement_person WHERE event_id = +? AND operator_id IS NULL AND actor_id IS NULL', [event])
  }
}

/**
 * Removes these persons from all links but those of events, at most `limit` rows of each table.
 * @returns whether there may be more
 */
export function unlinkRest(tx: Tx, ids: readonly number[], limit: number = Number.MAX_SAFE_INTEGER): boolean {
  let most = 0
  const removed = (sql: string, values: readonly number[]) => {
    most = Math.max(most, tx.runOf(sql, values).changes)
  }
  for (const id of ids) {
    for (const column of ['operator_id', 'actor_id']) {
      removed(
        `UPDATE audit_person SET ${column} = NULL
         WHERE entry_id IN (SELECT entry_id FROM audit_person WHERE ${column} = ? LIMIT ?)`,
        [id, limit],
      )
    }
    removed(
      `DELETE FROM person_link WHERE (subject, row, field) IN (
         SELECT subject, row, field FROM person_link WHERE person_id = ? LIMIT ?)`,
      [id, limit],
    )
    tx.runOf('DELETE FROM photo_bringer WHERE person_id = ?', [id])
    tx.runOf('DELETE FROM account_seen WHERE person_id = ?', [id])
  }
  return most >= limit
}
