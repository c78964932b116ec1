import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { Problems } from './problems.ts'

/** One line of the list by its columns; empty cells are absent. */
export type Row = { readonly line: number; readonly cells: ReadonlyMap<string, string> }

export type Sheet = {
  /** The columns, named as in the API. */
  readonly columns: readonly string[]
  /** Header cells that name no known column. */
  readonly unknown: readonly { readonly line: number; readonly written: string }[]
  readonly headerLine: number
  readonly rows: readonly Row[]
  /** Whether commas do not separate cells, so that a number may have a decimal comma. */
  readonly commaIsFree: boolean
}

const chunkBytes = 64 * 1024
/** Lines of any list. */
export const mostLines = 200_000
/** Columns of a list. Spreadsheets export some that no one needs, and each is looked at. */
const mostColumns = 1000
/** Characters of a line: a record is in memory before it can be judged. */
const mostCharacters = 65_536
const delimiters = [',', ';', '\t'] as const
type Delimiter = (typeof delimiters)[number]

/**
 * Reads what spreadsheets save as CSV: UTF-8 with or without a byte order mark, comma, semicolon or tab, CRLF, LF or CR, quoted
 * cells, `sep=;` as the first line. Unreadable parts are added to `problems`; the result is undefined when nothing after one can be
 * read. It reads in small pieces, and other requests run in between.
 * @param nameOf returns the column that a header cell means
 * @param mostRows the lines that it may have; a longer list is a problem
 */
export async function readSheet(
  bytes: Buffer,
  problems: Problems,
  nameOf: (written: string) => string | undefined,
  mostRows = mostLines,
): Promise<Sheet | undefined> {
  if (!isReadable(bytes, problems)) return undefined
  const text = bytes.subarray(0, 3).equals(Buffer.from('\ufeff')) ? bytes.subarray(3) : bytes
  const declared = text
    .subarray(0, 8)
    .toString('latin1')
    .match(/^sep=(.)\r?\n/i)
  const body = declared ? text.subarray(declared[0].length) : text
  const firstLine = declared ? 2 : 1
  const head = firstLineOf(body)
  const delimiter = (delimiters.find((d) => d === declared?.[1]) ?? delimiterOf(head, nameOf)) satisfies Delimiter
  return sheetOf(records(body, delimiter, firstLine), { problems, nameOf, commaIsFree: delimiter !== ',', mostRows })
}

function isReadable(bytes: Buffer, problems: Problems): boolean {
  const mark = bytes.subarray(0, 2).toString('hex')
  if (mark === 'fffe' || mark === 'feff') {
    problems.add(1, null, 'the list is UTF-16; save it as "CSV UTF-8"')
    return false
  }
  if (isUtf8(bytes)) {
    const line = firstLongLine(bytes)
    if (line !== undefined) problems.add(line, null, tooLong)
    return line === undefined
  }
  problems.add(firstBadLine(bytes), null, 'is not UTF-8; save the list as "CSV UTF-8"')
  return false
}

function firstBadLine(bytes: Buffer): number {
  let line = 1
  for (let from = 0; from < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, from)
    const next = end < 0 ? bytes.length : end + 1
    if (!isUtf8(bytes.subarray(from, next))) return line
    from = next
  }
  return line
}

function firstLineOf(bytes: Buffer): string {
  const text = bytes.subarray(0, chunkBytes).toString('utf8')
  return text.slice(0, text.search(/[\r\n]|$/))
}

/** Returns the number of the first line that is too long. The parser counts no empty cells. */
function firstLongLine(bytes: Buffer): number | undefined {
  const lineEnd = lineEndOf(bytes)
  for (let from = 0, line = 1; from < bytes.length; line += 1) {
    const found = bytes.indexOf(lineEnd, from)
    const end = found < 0 ? bytes.length : found
    if (end - from > mostCharacters) return line
    from = end + 1
  }
  return undefined
}

const lineEndOf = (bytes: Buffer) => (bytes.includes(0x0a) ? 0x0a : 0x0d)

/** Returns the separator that gives the most known names in the header; of equal ones the most frequent. */
function delimiterOf(head: string, nameOf: (written: string) => string | undefined): Delimiter {
  const scored = delimiters.map((delimiter) => {
    const cells = head.split(delimiter).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'))
    return { delimiter, known: cells.filter((cell) => nameOf(cell) !== undefined).length, cells: cells.length }
  })
  const [best] = scored.toSorted((a, b) => b.known - a.known || b.cells - a.cells)
  return best?.delimiter ?? ','
}

type Records = AsyncGenerator<{ line: number; cells: string[] } | { line: number; fault: string }>

/** Yields the records with the line on which each begins; a fault comes last. */
async function* records(bytes: Buffer, delimiter: Delimiter, firstLine: number): Records {
  const lineEnd = lineEndOf(bytes)
  let line = firstLine
  let counted = 0
  // The parser counts lines wrongly after a CRLF in a cell; its count of bytes is right.
  const countTo = (end: number) => {
    for (let at = bytes.indexOf(lineEnd, counted); at >= 0 && at < end; at = bytes.indexOf(lineEnd, at + 1)) line += 1
    counted = Math.max(counted, end)
  }
  const limits = { relax_column_count: true, max_record_size: mostCharacters }
  const parser = Readable.from(chunksOf(bytes)).pipe(parse({ delimiter, info: true, ...limits }))
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { bytes: number } }>) {
      yield { line, cells: record }
      countTo(info.bytes)
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    // The records of the same piece are lost with it; the fault comes after the last complete one.
    countTo(Number(error['bytes'] ?? 0))
    yield { line, fault: faultOf(error) }
  }
}

/** Yields pieces of 64 KiB; other requests run between two of them. */
async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    yield bytes.subarray(from, from + chunkBytes)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const count = (n: number) => n.toLocaleString('en')
const tooLong = `a line has more than ${count(mostCharacters)} characters`

function faultOf(error: CsvError): string {
  if (error.code === 'CSV_MAX_RECORD_SIZE') return tooLong
  const what =
    error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'a quote is opened and never closed' : 'a quote is inside of a cell'
  return `${what}; nothing from here on can be read`
}

type Reading = {
  problems: Problems
  nameOf: (written: string) => string | undefined
  commaIsFree: boolean
  mostRows: number
}

const atTheBox = 'split it, or import it at the box with gatehouse import'

async function sheetOf(
  from: Records,
  { problems, nameOf, commaIsFree, mostRows }: Reading,
): Promise<Sheet | undefined> {
  let written: string[] | undefined
  let columns: (string | undefined)[] = []
  let headerLine = 0
  let isBroken = false
  const rows: Row[] = []
  for await (const record of from) {
    if ('fault' in record) {
      problems.add(record.line, null, record.fault)
      isBroken = true
      break
    }
    const { line, cells } = record
    if (cells.every((cell) => cell.trim() === '')) continue
    if (!written) {
      if (cells.length > mostColumns) {
        problems.add(line, null, `the list has ${count(cells.length)} columns; at most ${count(mostColumns)} are read`)
        return undefined
      }
      written = cells.map((cell) => cell.trim())
      columns = written.map(nameOf)
      headerLine = line
      findTwins(line, columns, problems)
      continue
    }
    if (rows.length === mostRows) {
      problems.add(
        line,
        null,
        `the list has more than ${mostRows} lines; ${mostRows < mostLines ? atTheBox : 'split it'}`,
      )
      return undefined
    }
    const beyond = cells.slice(columns.length).filter((cell) => cell.trim() !== '').length
    if (beyond > 0) problems.add(line, null, `has ${cells.length} cells under ${columns.length} columns`)
    rows.push({ line, cells: rowOf(columns, cells) })
  }
  if (!written) {
    // A short list is parsed as one: with a fault in it not even its first line comes.
    if (!isBroken) problems.add(1, null, 'the list is empty; its first line names the columns')
    return undefined
  }
  // Columns without a name are ignored: spreadsheets often export some.
  const unknown = written.filter((text, i) => text !== '' && columns[i] === undefined)
  return {
    columns: columns.filter((name) => name !== undefined),
    unknown: unknown.map((text) => ({ line: headerLine, written: text })),
    headerLine,
    rows,
    commaIsFree,
  }
}

/** Before what a spreadsheet would run as a formula, exports of the gateway put an apostrophe (OWASP, CSV injection). */
const guard = /^'('*[=+\-@])/

function rowOf(columns: readonly (string | undefined)[], cells: readonly string[]): Map<string, string> {
  return new Map(
    columns.flatMap((name, i) => {
      const value = (cells[i]?.trim() ?? '').replace(guard, '$1')
      return name === undefined || value === '' ? [] : [[name, value] as const]
    }),
  )
}

function findTwins(line: number, columns: readonly (string | undefined)[], problems: Problems): void {
  columns.forEach((name, i) => {
    if (name !== undefined && columns.indexOf(name) !== i) problems.add(line, name, 'this column is there twice')
  })
}
