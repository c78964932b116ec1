import { integer } from './columns.ts'
import { type Statement, statements } from './statement.ts'
import type { ReadTx } from './transaction.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export type Condition = { readonly sql: string; readonly values: readonly (string | number)[] }

/** Rows of a table in the order of a unique key of one or two columns, by default the newest first. */
type Order = {
  /** `main.report r`. */
  readonly from: string
  /** Columns of the key, the unique one last. */
  readonly key: readonly string[]
  readonly isOldestFirst?: boolean
  /** Only rows behind this key. A condition on the key instead would be checked row by row from the newest one on. */
  readonly behind?: readonly number[] | undefined
  /** Conditions that an index of this order serves. */
  readonly within: readonly Condition[]
  /** Conditions that are checked row by row. */
  readonly passing: readonly Condition[]
}

type SliceRow = { k0: number; k1: number; passes: number }
export type Listing = Order & { readonly slice: Statement<SliceRow> }

/** Makes a listing. `samples`: arguments that use every condition once. */
export function listings<Args extends readonly unknown[]>(
  orderOf: (...args: Args) => Order,
  samples: readonly NoInfer<Args>[],
): (...args: Args) => Listing {
  const slice = statements({
    columns: { k0: integer, k1: integer, passes: integer },
    sql: (...args: Args) => sliceSql(orderOf(...args)),
    samples,
  })
  return (...args) => ({ ...orderOf(...args), slice: slice(...args) })
}

type KeyPage = {
  readonly limit: number
  readonly offset: number
  /** Rows behind this key. */
  readonly before?: readonly number[] | undefined
}

type Key = readonly number[]
type Slice = { readonly keys: Key[]; readonly next: Key | undefined }

/** Some 40 steps of SQLite a row make this a slice of a few milliseconds. */
const looked = 1000

/**
 * Returns the keys of one page, and the number of rows in all up to `countLimit` (beyond it null). Looks at a bounded number of
 * rows in one turn of the event loop; see `readInSlices`.
 */
export async function keysOfPage(
  work: Pick<UnitOfWork, 'readInSlices'>,
  listing: Listing,
  page: KeyPage,
  countLimit: number,
  signal?: AbortSignal,
): Promise<{ keys: Key[]; hasMore: boolean; total: number | null }> {
  const found: Key[] = []
  for await (const keys of slices(work, listing, page.before, signal)) {
    found.push(...keys)
    if (found.length > page.offset + page.limit) break
  }
  let total = 0
  for await (const keys of slices(work, listing, undefined, signal)) {
    total += keys.length
    if (total > countLimit) break
  }
  const { offset, limit } = page
  return {
    keys: found.slice(offset, offset + limit),
    hasMore: found.length > offset + limit,
    total: total > countLimit ? null : total,
  }
}

function slices(
  work: Pick<UnitOfWork, 'readInSlices'>,
  listing: Listing,
  before: Key | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Key[], void> {
  const isOldestFirst = listing.isOldestFirst === true
  const end = isOldestFirst ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER
  const ends = [before, listing.behind, listing.key.map(() => end)].filter((key) => key !== undefined)
  const first = ends.reduce((a, b) => (isBefore(b, a) === isOldestFirst ? a : b))
  return work.readInSlices<Key[], Key>(
    first,
    (tx, place) => {
      const { keys, next } = sliceOf(tx, listing, place)
      return { found: keys, next }
    },
    signal,
  )
}

function isBefore(a: Key, b: Key): boolean {
  const at = a.findIndex((value, i) => value !== b[i])
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0)
}

function sliceSql({ from, key, isOldestFirst, within, passing }: Order): string {
  const [first, second] = key
  const [sign, direction] = isOldestFirst ? ['>', 'ASC'] : ['<', 'DESC']
  const behind = `(${key.join(', ')}) ${sign} (${key.map(() => '+?').join(', ')})`
  return `SELECT ${first} AS k0, ${second ?? '0'} AS k1, ${sqlOf(passing) || '1'} AS passes FROM ${from}
    WHERE ${[behind, ...within.map(({ sql }) => sql)].join(' AND ')}
    ORDER BY ${key.map((column) => `${column} ${direction}`).join(', ')} LIMIT ${looked}`
}

function sliceOf(tx: ReadTx, { slice, key, within, passing }: Listing, place: Key): Slice {
  const values = [...passing, { values: place }, ...within].flatMap((one) => one.values)
  const rows = tx.all(slice, values)
  const keyOf = ({ k0, k1 }: SliceRow): Key => [k0, k1].slice(0, key.length)
  const last = rows.at(-1)
  return {
    keys: rows.filter(({ passes }) => passes === 1).map(keyOf),
    next: last && rows.length === looked ? keyOf(last) : undefined,
  }
}

const sqlOf = (conditions: readonly Condition[]) => conditions.map(({ sql }) => `(${sql})`).join(' AND ')
