import { change, changes, integer, type ReadTx, statements, type Tx } from '../database/index.ts'

const holes = (count: number) => Array.from({ length: count }, () => '?').join(', ')

const linked = statements({
  columns: { id: integer },
  sql: (count: number) => `SELECT event_id AS id FROM placement_person
    WHERE event_id > +? AND event_id <= +? AND (+operator_id IN (${holes(count)}) OR actor_id IN (${holes(count)}))`,
  samples: [[1], [2]],
})
const orNobody = (column: string, count: number) =>
  `${column} = CASE WHEN ${column} IN (${holes(count)}) THEN NULL ELSE ${column} END`
const without = changes({
  sql: (count: number) =>
    `UPDATE placement_person SET ${orNobody('operator_id', count)}, ${orNobody('actor_id', count)} WHERE event_id = +?`,
  samples: [[1], [2]],
})
const withoutNobody = change(
  'DELETE FROM placement_person WHERE event_id = +? AND operator_id IS NULL AND actor_id IS NULL',
)

/** Returns events that are linked to these persons, behind `after`, up to and with `last`. */
export function linkedEvents(
  tx: ReadTx,
  ids: readonly number[],
  { after, last }: { readonly after: number; readonly last: number },
): number[] {
  if (ids.length === 0) return []
  return tx.all(linked(ids.length), [after, last, ...ids, ...ids]).map(({ id }) => id)
}

/** Takes these persons out of the links of events. Rows in which no one is left are deleted. */
export function unlinkEvents(tx: Tx, events: readonly number[], ids: readonly number[]): void {
  for (const event of events) {
    tx.run(without(ids.length), [...ids, ...ids, event])
    tx.run(withoutNobody, [event])
  }
}
