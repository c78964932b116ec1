import { byteOrderMark, toCsv } from '../exchange/index.ts'
import type { AuditEntry } from './schema.ts'

/** Columns of the trail as a file. Add new ones at the end only: spreadsheets refer to them by position. */
const columns = [
  ...['id', 'timestamp', 'operator', 'actor', 'instance', 'action', 'entity', 'entityId', 'changes', 'requestId'],
  ...['address', 'authMode'],
] as readonly (keyof AuditEntry)[]

/** Yields the trail as CSV, a piece for each step. A cell that a spreadsheet would run as a formula begins with an apostrophe. */
export async function* auditCsv(
  steps: AsyncIterable<readonly AuditEntry[]>,
  withMark: boolean,
): AsyncGenerator<string> {
  yield `${withMark ? byteOrderMark : ''}${toCsv([[...columns]])}`
  for await (const entries of steps) yield toCsv(entries.map((entry) => columns.map((column) => cell(entry[column]))))
}

const cell = (value: AuditEntry[keyof AuditEntry]): string | number | null =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value
