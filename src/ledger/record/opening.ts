import { built, integer, maybe, type ReadTx, statement, statements, text } from '../../database/index.ts'
import { slots } from '../../warehouse/index.ts'
import { sql } from '../tables.ts'

const eventOfLine = built({ opening_list: text, opening_line: integer }, ({ opening_list, opening_line }) =>
  sql
    .selectFrom('placement_event')
    .select('id')
    .where('opening_list', '=', opening_list)
    .where('opening_line', '=', opening_line),
)
const nextLines = statement({
  columns: { lines: integer, last: maybe(integer), uncounted: integer },
  sql: `SELECT count(*) AS lines, max(opening_line) AS last, count(CASE WHEN NOT EXISTS (
      SELECT 1 FROM main.placement_event c
      WHERE c.count_id IS NOT NULL AND c.asset_key = e.asset_key AND c.id > e.id) THEN 1 END) AS uncounted
    FROM (SELECT id, asset_key, opening_line FROM main.placement_event
      WHERE opening_list = +? AND opening_line > +? ORDER BY opening_line LIMIT ?) e`,
})
const inWarehouses = statements({
  columns: { found: integer },
  sql: (
    warehouses: readonly number[],
  ) => `SELECT 1 AS found FROM main.placement_event e JOIN ${slots} s ON s.id = e.slot_id
    WHERE e.opening_list = +? AND s.warehouse_id IN (${warehouses.map(() => '?').join(', ')}) LIMIT 1`,
  samples: [[[1, 2]]],
})

/** Returns the event that a line of a list of opening stock has become; undefined when it has become none yet. */
export function eventOfOpeningLine(tx: ReadTx, list: string, line: number): number | undefined {
  return tx.get(eventOfLine, { opening_list: list, opening_line: line })?.id
}

/** Counts those of the next `looked` lines of a list that no count has seen yet, and returns the line to continue behind. */
export function uncountedOpenings(
  tx: ReadTx,
  list: string,
  afterLine: number,
  looked: number,
): { uncounted: number; next: number | undefined } {
  const { lines = 0, last = null, uncounted = 0 } = tx.get(nextLines, [list, afterLine, looked]) ?? {}
  return { uncounted, next: lines < looked || last === null ? undefined : last }
}

/** Returns whether a list of opening stock has put anything into one of these warehouses. */
export function holdsOpeningIn(tx: ReadTx, list: string, warehouses: readonly number[]): boolean {
  return tx.get(inWarehouses(warehouses), [list, ...warehouses]) !== undefined
}
