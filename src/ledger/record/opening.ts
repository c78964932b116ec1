import type { ReadTx } from '../../database/index.ts'

/** The event that a line of a list of opening stock has become; undefined when it has become none yet. */
export function eventOfOpeningLine(tx: ReadTx, list: string, line: number): number | undefined {
  return tx.oneOf<{ id: number }>('SELECT id FROM main.placement_event WHERE opening_list = +? AND opening_line = +?', [
    list,
    line,
  ])?.id
}
