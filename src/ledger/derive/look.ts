import { integer, maybe, pick, type ReadTx, type RowOf, statements } from '../../database/index.ts'
import { type Meant, meantBy } from '../../log/index.ts'
import { inOrder, type Order } from '../store.ts'
import { tables } from '../tables.ts'
import { judgements, moves } from './state.ts'

/** Filter of events. All given conditions must be true. */
export type HistoryFilter = {
  readonly slotId?: number | undefined
  /** Any of them: hardly any asset has more than one key, see `warehouse/README.md`. */
  readonly assetKeys?: readonly string[] | undefined
  readonly eventType?: string | undefined
  /** A name, or `name@<instance URL>`: the operator, or the caller who sent the event. */
  readonly operator?: string | undefined
  readonly workOrderRef?: string | undefined
  readonly correctsEventId?: number | undefined
  /** When it happened: inclusive. */
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
  /** Only leaves behind this one. */
  readonly afterSeq?: number | undefined
}

/** Where a reading is: behind this event. */
export type EventPlace = { readonly timestampMs: number; readonly id: number }

const lightRow = {
  ...pick(tables.placement_event, 'id', 'timestamp_ms', 'event_type', 'slot_id', 'asset_key', 'leaf_version'),
  ...pick(tables.placement_event, 'operator_commitment', 'actor_commitment', 'work_order_ref', 'corrects_event_id'),
}
const peopleOfRow = { operator_id: maybe(integer), actor_id: maybe(integer) }

/** The columns of an event that the conditions need; the rest is read only of events that pass. */
export type LightRow = RowOf<typeof lightRow> & {
  /** Person of rows since version 2, where the filter has an operator. */
  readonly operator_id?: number | null
  readonly actor_id?: number | null
}

/** One way to rows by an index that is in the order of time. */
type Arm = {
  readonly sql: string
  readonly values: readonly (string | number)[]
  /** Its first table when that is another one, with its names of id and time. */
  readonly start?: { readonly from: string; readonly join: string; readonly id: string; readonly time: string }
}

/** A condition that an index serves: by one way or by several that have no row in common. None: the whole ledger. */
export type Source = {
  readonly arms: readonly Arm[]
  /** There is no other condition: the index alone selects the rows. */
  readonly isTheOnlyCondition: boolean
}

/** Besides id and time, which are taken where the index that is read has them: then it is read in their order. */
const lightColumns =
  'e.event_type, e.slot_id, e.asset_key, e.leaf_version, e.operator_commitment, e.actor_commitment, e.work_order_ref, e.corrects_event_id'
const linkOf = (column: string) => `(SELECT ${column} FROM main.placement_person WHERE event_id = e.id) AS ${column}`
const peopleColumns = `${linkOf('operator_id')}, ${linkOf('actor_id')}`

/** Rows that one slice reads from the table: about 2 ms. */
export const lightSliceRows = 500
/** Entries that one slice reads from an index: about 1 ms. */
export const indexSliceRows = 3500

/**
 * Returns the strongest condition that an index serves: it leaves the fewest rows in a ledger of years.
 * @param meant everyone whom the filter's operator may mean
 */
export function sourceOf(filter: HistoryFilter, meant: Meant | undefined): Source {
  const { assetKeys, slotId, correctsEventId, workOrderRef, eventType } = filter
  const conditions = [assetKeys, slotId, correctsEventId, workOrderRef, meant, eventType]
  const isTheOnlyCondition = conditions.filter((one) => one !== undefined).length <= 1
  const source = (...arms: Arm[]) => ({ arms, isTheOnlyCondition })
  const one = (sql: string, value: string | number) => source({ sql, values: [value] })
  if (assetKeys !== undefined) return source(...inHalves(ofAssets(assetKeys)))
  if (slotId !== undefined) return source(...inHalves({ sql: 'e.slot_id = +?', values: [slotId] }))
  if (correctsEventId !== undefined) return one('e.corrects_event_id = +?', correctsEventId)
  if (workOrderRef !== undefined) return one('e.work_order_ref = +?', workOrderRef)
  if (meant !== undefined) return source(...armsOf(meant))
  if (eventType !== undefined) return one('e.event_type = +?', eventType)
  return source()
}

/** Slots and assets have an index over moves and one over judgements. */
const inHalves = ({ sql, values }: Arm): Arm[] =>
  [moves, judgements].map((half) => ({ sql: `e.${half} AND ${sql}`, values }))

/**
 * Rows of version 1 have one commitment for a person; later rows are linked. A person who acted for another one is found
 * by a separate index, without the rows that the index over operators finds.
 */
function armsOf({ commitment, ids }: Meant): Arm[] {
  const start = (index: string) => ({
    from: `main.placement_person l INDEXED BY ${index}`,
    join: 'CROSS JOIN main.placement_event e ON e.id = l.event_id',
    id: 'l.event_id',
    time: 'l.timestamp_ms',
  })
  const isOther = `l.actor_id IS NOT l.operator_id AND coalesce(l.operator_id NOT IN (${ids.map(() => '?').join(', ')}), 1)`
  const named = commitment ?? ''
  return [
    { sql: 'e.leaf_version = 1 AND e.operator_commitment = +?', values: [named] },
    {
      sql: 'e.leaf_version = 1 AND e.actor_commitment <> e.operator_commitment AND e.actor_commitment = +?',
      values: [named],
    },
    ...ids.flatMap((id) => [
      { sql: 'l.operator_id = +?', values: [id], start: start('placement_person_operator') },
      { sql: `l.actor_id = +? AND ${isOther}`, values: [id, ...ids], start: start('placement_person_actor') },
    ]),
  ]
}

function ofAssets(keys: readonly string[]): Arm {
  const [key = '', ...others] = keys
  if (others.length === 0) return { sql: 'e.asset_key = +?', values: [key] }
  return { sql: `e.asset_key IN (${keys.map(() => '?').join(', ')})`, values: keys }
}

/** Returns whether a row satisfies all conditions of the filter. */
export function passes(row: LightRow, filter: HistoryFilter, meant: Meant | undefined): boolean {
  const { slotId, assetKeys, eventType, workOrderRef, correctsEventId, fromMs, toMs } = filter
  return (
    (slotId === undefined || row.slot_id === slotId) &&
    (assetKeys === undefined || assetKeys.includes(row.asset_key)) &&
    (eventType === undefined || row.event_type === eventType) &&
    (meant === undefined || isBy(row, meant)) &&
    (workOrderRef === undefined || row.work_order_ref === workOrderRef) &&
    (correctsEventId === undefined || row.corrects_event_id === correctsEventId) &&
    (fromMs === undefined || row.timestamp_ms >= fromMs) &&
    (toMs === undefined || row.timestamp_ms < toMs)
  )
}

function isBy(row: LightRow, { commitment, ids }: Meant): boolean {
  if (row.leaf_version === 1) {
    return [row.operator_commitment, row.actor_commitment].some((one) => commitment !== undefined && one === commitment)
  }
  return [row.operator_id, row.actor_id].some((id) => typeof id === 'number' && ids.includes(id))
}

/** Returns everyone whom the filter's operator may mean; undefined when it names none. */
export function operatorMeant(tx: ReadTx, { operator }: HistoryFilter): Meant | undefined {
  return operator === undefined ? undefined : meantBy(tx, operator)
}

type Slice = { readonly place: EventPlace; readonly looked: number; readonly placesOnly: boolean }

/** Returns the next `looked` rows of a source after `place`; with `placesOnly` only id and time. */
export function lookAt(
  tx: ReadTx,
  source: Source,
  order: Order,
  { fromMs, toMs, operator }: HistoryFilter,
  { place, looked, placesOnly }: Slice,
): LightRow[] {
  const { sql, values } = lookSql(source, order, { fromMs, toMs, operator }, place, placesOnly)
  const bound = [...values, looked]
  // Only places are requested then, so only they are read.
  if (placesOnly) return tx.all(places(sql), bound) as LightRow[]
  return operator === undefined ? tx.all(lightRows(sql), bound) : tx.all(lightRowsWithPeople(sql), bound)
}

function lookSql(
  source: Source,
  order: Order,
  { fromMs, toMs, operator }: HistoryFilter,
  place: EventPlace,
  placesOnly: boolean,
): { sql: string; values: (string | number)[] } {
  const isByTime = order !== 'log'
  const columns = operator === undefined ? lightColumns : `${lightColumns}, ${peopleColumns}`
  const values: (string | number)[] = []
  const selects = armsOrAll(source).map(({ sql, values: own, start }) => {
    const { id, time } = start ?? inEvents
    const behind = isByTime ? `(${time}, ${id}) ${order === 'newest first' ? '<' : '>'} (+?, +?)` : `${id} > +?`
    // The place bounds one end of the span; this bounds the other.
    const end =
      order === 'newest first' && fromMs !== undefined
        ? { sql: `${time} >= +?`, value: fromMs }
        : order === 'oldest first' && toMs !== undefined
          ? { sql: `${time} < +?`, value: toMs }
          : undefined
    values.push(...own, ...(isByTime ? [place.timestampMs, place.id] : [place.id]), ...(end ? [end.value] : []))
    const where = [sql, behind, ...(end ? [end.sql] : [])].filter((part) => part !== '').join(' AND ')
    const from = start ? `${start.from}${placesOnly ? '' : ` ${start.join}`}` : 'main.placement_event e'
    return `SELECT ${id} AS id, ${time} AS timestamp_ms${placesOnly ? '' : `, ${columns}`} FROM ${from} WHERE ${where}`
  })
  // A union names its columns without the table.
  const sorted = selects.length > 1 || placesOnly ? inOrder[order].replaceAll('e.', '') : inOrder[order]
  return { sql: `${selects.join(' UNION ALL ')} ORDER BY ${sorted} LIMIT ?`, values }
}

const inEvents = { id: 'e.id', time: 'e.timestamp_ms' }
const everything: Arm = { sql: '', values: [] }
const armsOrAll = ({ arms }: Source): readonly Arm[] => (arms.length === 0 ? [everything] : arms)

/** Returns the place before the first row that can be meant. */
export function beginning(order: Order, { fromMs, toMs }: HistoryFilter, afterId: number): EventPlace {
  if (order === 'log') return { timestampMs: 0, id: afterId }
  return order === 'newest first'
    ? { timestampMs: toMs ?? Number.MAX_SAFE_INTEGER, id: toMs === undefined ? Number.MAX_SAFE_INTEGER : 0 }
    : { timestampMs: fromMs ?? Number.MIN_SAFE_INTEGER, id: 0 }
}

/**
 * Returns the source to read in the order of the log. Most indexes are in the order of time: where they find many rows, sorting
 * them would block the thread, so the ledger itself is read.
 */
export function sourceInLogOrder(tx: ReadTx, source: Source): Source {
  if (source.arms.length === 0 || countOf(tx, source, {}, indexSliceRows) < indexSliceRows) return source
  return { arms: [], isTheOnlyCondition: false }
}

/** Returns the number of rows that a source finds in a span of time; `most` when there are that many or more. */
export function countOf(tx: ReadTx, source: Source, { fromMs, toMs }: HistoryFilter, most: number): number {
  const { sql, values } = countSql(source, { fromMs, toMs })
  return tx.get(counted(sql), [...values, most])?.n ?? 0
}

function countSql(source: Source, { fromMs, toMs }: HistoryFilter): { sql: string; values: (string | number)[] } {
  const values: (string | number)[] = []
  const selects = armsOrAll(source).map(({ sql, values: own, start }) => {
    const { id, time } = start ?? inEvents
    const span = [
      ...(fromMs === undefined ? [] : [{ sql: `${time} >= +?`, value: fromMs }]),
      ...(toMs === undefined ? [] : [{ sql: `${time} < +?`, value: toMs }]),
    ]
    values.push(...own, ...span.map(({ value }) => value))
    const where = [sql, ...span.map((part) => part.sql)].filter((part) => part !== '').join(' AND ')
    return `SELECT ${id} FROM ${start?.from ?? 'main.placement_event e'}${where === '' ? '' : ` WHERE ${where}`}`
  })
  return { sql: `SELECT count(*) AS n FROM (${selects.join(' UNION ALL ')} LIMIT ?)`, values }
}

const asIs = (sql: string) => sql
const somebody: Meant = { commitment: '', ids: [1, 2] }
const span = { fromMs: 0, toMs: 1 }
const samplePlace = { timestampMs: 0, id: 0 }
const sampleSources = (meant: Meant | undefined): Source[] => [
  sourceOf({}, undefined),
  sourceOf({ assetKeys: ['a', 'b'] }, meant),
  sourceOf({ slotId: 1 }, meant),
  sourceOf({ correctsEventId: 1 }, meant),
  sourceOf({ workOrderRef: '' }, meant),
  sourceOf({ eventType: '' }, meant),
]
const sampleLooks = (operator: string | undefined, placesOnly = false): [string][] =>
  sampleSources(operator === undefined ? undefined : somebody).flatMap((source) =>
    (['newest first', 'oldest first', 'log'] as const).map((order): [string] => [
      lookSql(source, order, { ...span, operator }, samplePlace, placesOnly).sql,
    ]),
  )
const lightRows = statements({ columns: lightRow, sql: asIs, samples: sampleLooks(undefined) })
const lightRowsWithPeople = statements({
  columns: { ...lightRow, ...peopleOfRow },
  sql: asIs,
  samples: sampleLooks('somebody'),
})
const places = statements({
  columns: pick(tables.placement_event, 'id', 'timestamp_ms'),
  sql: asIs,
  samples: [...sampleLooks(undefined, true), ...sampleLooks('somebody', true)],
})
const counted = statements({
  columns: { n: integer },
  sql: asIs,
  samples: [...sampleSources(undefined), ...sampleSources(somebody)].map((source): [string] => [
    countSql(source, span).sql,
  ]),
})
