import { z } from 'zod'
import type { Cell } from '../../database/index.ts'
import { SealedFileFault } from '../sealing/pieces.ts'

export const segmentFormat = 'gatehouse-segment/1'

const count = z.int().min(0)
const time = z.iso.datetime()

/** Header of a segment, in front of its members. */
export const headerSchema = z.object({
  format: z.literal(segmentFormat),
  siteId: z.string().min(1),
  /** The log that grew. */
  logId: z.string().min(1),
  series: z.string(),
  number: z.int().min(1),
  /** Leaves of that log in front of the segment, and with it. */
  from: count,
  to: count,
  /** Name of the segment before; null for the first of a series. */
  previous: z.string().nullable(),
  /** Name of the file with the keys and settings of that time. */
  keysFile: z.string(),
  /** Whether a restore may end with this segment: it is the last one of its moment. */
  isWhole: z.boolean(),
  madeAt: time,
  version: z.string(),
  schema: count,
  /** When the newest event was received; null: there is none. */
  lastEventAt: time.nullable(),
  /** Verifier keys of the log. */
  keys: z.array(z.string()).min(1).max(16),
  /** People who were erased until then, by mark or commitment: a restore of anything older erases them again. */
  erased: z.array(z.object({ mark: z.string().nullable(), commitment: z.string().nullable(), erasedAtMs: z.number() })),
  /** Series before this one that are still at the target. */
  earlier: z.array(z.object({ logId: z.string(), series: z.string(), endedAt: time })),
  /** Columns of each table in `rows`. */
  columns: z.record(z.string(), z.array(z.string())),
  members: z.array(z.object({ name: z.string(), sizeBytes: count })),
})
export type SegmentHeader = z.infer<typeof headerSchema>

/**
 * A member.
 * - `LOG/identity`: the row of a log.
 * - `LOG/tile/entries/000.p/57`, `LOG/tile/0/000`: as in c2sp.org/tlog-tiles, up to the checkpoint, for each log that grew.
 * - `LOG/checkpoint`: that checkpoint.
 * - `LOG/tail/57`: leaves behind it, as an entry bundle.
 * - `LOG/refs/57`: the rows that the leaves from 57 on state.
 * - `rows`: rows of tables.
 * - `files/reports/…`: documents that rows name.
 */
export type Member = { readonly name: string; readonly bytes: Buffer }

/** One line of the member `rows`: rows of a table; of one that changes, all of a chunk. */
export type RowsLine = {
  readonly table: string
  readonly chunk?: string
  readonly rows: readonly (readonly Cell[])[]
}

/** Returns the bytes of a segment: length of the header (uint32, big-endian), header, members one behind the other. */
export function packSegment(header: Omit<SegmentHeader, 'members'>, members: readonly Member[]): Buffer {
  const list = members.map(({ name, bytes }) => ({ name, sizeBytes: bytes.length }))
  const head = Buffer.from(JSON.stringify({ ...header, members: list } satisfies SegmentHeader))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, ...members.map(({ bytes }) => bytes)])
}

/** Reads the bytes of a segment. Throws SealedFileFault when they are not one that this version knows. */
export function unpackSegment(bytes: Buffer): { header: SegmentHeader; members: Map<string, Buffer> } {
  const length = bytes.length >= 4 ? bytes.readUInt32BE() : bytes.length
  const head = parsed(bytes.subarray(4, 4 + length).toString('utf8'))
  const format = (head as { format?: unknown } | undefined)?.format
  if (typeof format === 'string' && /^gatehouse-segment\/\d+$/.test(format) && format !== segmentFormat) {
    throw new SealedFileFault(`has the format ${format}, which a newer gatehouse wrote; restore it with that one`)
  }
  const read = headerSchema.safeParse(head)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new SealedFileFault(`is not a segment of gatehouse (${issue?.path.join('.')}: ${issue?.message})`)
  }
  const members = new Map<string, Buffer>()
  let at = 4 + length
  for (const { name, sizeBytes } of read.data.members) {
    members.set(name, bytes.subarray(at, at + sizeBytes))
    at += sizeBytes
  }
  if (at !== bytes.length) throw new SealedFileFault('does not have the members that its header lists')
  return { header: read.data, members }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Formats a line of `rows`; bytes become `{"b": base64}`. */
export function rowsLine({ table, chunk, rows }: RowsLine): string {
  const cells = rows.map((row) => row.map((cell) => (Buffer.isBuffer(cell) ? { b: cell.toString('base64') } : cell)))
  return `${JSON.stringify({ t: table, ...(chunk !== undefined && { c: chunk }), r: cells })}\n`
}

type CoveredCell = string | number | null | { readonly b: string }

/** Reads the lines of `rows`. The bytes were authenticated, so a gateway wrote their contents. */
export function* readRowsLines(bytes: Buffer): Generator<RowsLine> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at)
    const { t, c, r } = JSON.parse(bytes.toString('utf8', at, end)) as { t: string; c?: string; r: CoveredCell[][] }
    const rows = r.map((row) => row.map(uncovered))
    yield { table: t, ...(c !== undefined && { chunk: c }), rows }
    at = end + 1
  }
}

const uncovered = (cell: CoveredCell): Cell =>
  cell !== null && typeof cell === 'object' ? Buffer.from(cell.b, 'base64') : cell
