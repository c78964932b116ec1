import { stringify } from 'csv-stringify/sync'
import type { Context } from 'hono'
import type { AppEnv } from '../../http/index.ts'

/** A cell that a spreadsheet would take for a formula gets an apostrophe. */
const options = { record_delimiter: 'windows', escape_formulas: true } as const
/** So many rows are made into text at once; others are answered in between. */
const rowsAtOnce = 1000

/** Sends a list as a file, by and by: it may be longer than the memory would like. An empty one has its header. */
export function sendRows(
  c: Context<AppEnv>,
  name: string,
  columns: readonly string[],
  slices: () => AsyncIterable<readonly object[]> | Iterable<readonly object[]>,
) {
  const lines = async function* () {
    yield stringify([], { ...options, header: true, columns: [...columns] })
    for await (const rows of slices()) yield stringify([...rows], { ...options, columns: [...columns] })
  }
  return c.body(ReadableStream.from(lines()).pipeThrough(new TextEncoderStream()), 200, {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${fileNameOf(name)}.csv"`,
  })
}

/** Sends a list that is in memory already. */
export const sendCsv = <T>(
  c: Context<AppEnv>,
  name: string,
  columns: readonly string[],
  list: readonly T[],
  rowOf: (one: T) => object,
) =>
  sendRows(c, name, columns, function* () {
    for (let at = 0; at < list.length; at += rowsAtOnce) yield list.slice(at, at + rowsAtOnce).map(rowOf)
  })

/** A code or a site's name may hold characters that no header or file name can. */
const fileNameOf = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80)
