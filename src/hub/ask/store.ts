import { isoTime } from '../../platform/index.ts'
import { bigints, column, integers, moments } from '../store/arrays.ts'
import type { HubTx } from '../store/database.ts'
import { builtStatement, hubStatement, sql } from '../store/statement.ts'

/** The sites that a caller may see; null: all. */
export type Sites = readonly string[] | null

const mostTrail = 1000
/** So many assets of a lot are looked for at once. */
export const lotSlice = 10_000

// A mark `-` in a register means that a restore has lost what stood there.
const visible = '($2::text[] IS NULL OR l.site_id = ANY($2))'

const positions = hubStatement(
  'positions-of-assets',
  `SELECT l.site_id, p.log_id, p.asset_key, p.at, p.seq, p.event_type, p.slot_id, p.slot_code, j.verdict,
     l.retired_at IS NOT NULL AS is_retired
   FROM asset_position p JOIN log l ON l.log_id = p.log_id
   LEFT JOIN judgement j ON j.log_id = p.log_id AND j.slot_id = p.slot_id AND j.asset_key = p.asset_key AND j.at > p.at
   WHERE p.asset_key = ANY($1::text[]) AND p.event_type <> '-' AND ${visible}`,
)
const trail = hubStatement(
  'trail-of-asset',
  `SELECT l.site_id, p.log_id, p.asset_key, p.at, p.seq, p.event_type, p.slot_id, p.slot_code,
     coalesce(p.seq > l.ends_at, false) AS is_behind
   FROM placement p JOIN log l ON l.log_id = p.log_id
   WHERE p.asset_key = ANY($1::text[]) AND p.event_type IN ('P', 'R') AND ${visible}
   ORDER BY p.at DESC, l.site_id, p.seq DESC LIMIT ${mostTrail}`,
)
const chains = builtStatement('logs-of-boxes', { sites: 'text[]' }, ({ sites }) =>
  sql
    .selectFrom('log')
    .select(['log_id', 'site_id', 'superseded_by', 'ends_at'])
    .where('site_id', '=', sql.fn.any(sites))
    .orderBy('enrolled_at'),
)
// Two index look-ups for each stay, however many moves asset and slot have: the newest move in the slot, and the move that
// followed.
const ends = hubStatement(
  'ends-of-stays',
  `SELECT x.n, e.at, e.seq FROM log_head h, unnest($2::integer[], $3::integer[], $4::timestamptz[], $5::bigint[]) AS x (n, slot_id, at, seq)
   JOIN slot_state s ON s.log_id = $1 AND s.slot_id = x.slot_id AND (s.at, s.seq) > (x.at, x.seq) AND s.event_type <> '-'
   CROSS JOIN LATERAL (SELECT e.at, e.seq FROM placement e
     WHERE e.log_id = $1 AND e.slot_id = x.slot_id AND e.event_type IN ('P', 'R') AND (e.at, e.seq) > (x.at, x.seq) AND e.seq <= $6
     ORDER BY e.at, e.seq LIMIT 1) e
   WHERE h.log_id = $1`,
)
const counts = `u.status <> '-' AND (l.ends_at IS NULL OR u.seq <= l.ends_at)`
const unitsOf = hubStatement(
  'units-of-asset',
  `SELECT DISTINCT l.site_id, u.unit_id FROM unit_state u JOIN log l ON l.log_id = u.log_id
   WHERE u.sscc = ANY($1::text[]) AND ${counts} AND ${visible}`,
)
// Only its first step names its SSCC, which is in the log before when the box was restored since.
const stepsOf = hubStatement(
  'steps-of-units',
  `SELECT l.site_id, u.unit_id, u.at, u.status, u.stage, u.direction, u.sscc, u.reference, l.enrolled_at
   FROM log l JOIN unit_state u ON u.log_id = l.log_id
   WHERE l.site_id = $1 AND u.unit_id = ANY($2::text[]) AND ${counts}`,
)
// No box states the labels and slots of a branch that a later restore cut off.
const isNoBranch = 'l.ends_at IS DISTINCT FROM 0'

const ssccsOf = hubStatement(
  'ssccs-of-asset',
  `SELECT DISTINCT a.sscc FROM asset_position p
   JOIN asset a ON a.log_id = p.log_id AND a.asset_key = p.asset_key JOIN log l ON l.log_id = p.log_id
   WHERE p.asset_key = $1 AND a.sscc IS NOT NULL AND ${isNoBranch} AND ${visible}`,
)
const assetsBySscc = hubStatement(
  'assets-by-sscc',
  `SELECT DISTINCT a.sscc, a.asset_key, a.gtin,
     coalesce(($3::text IS NULL OR a.gtin = $3) AND ($4::text IS NULL OR a.lot = $4), false) AS is_of_lot
   FROM asset a JOIN log l ON l.log_id = a.log_id WHERE a.sscc = ANY($1::text[]) AND ${isNoBranch} AND ${visible}`,
)
const withItem = hubStatement(
  'keys-with-item',
  `SELECT DISTINCT a.asset_key FROM asset a JOIN log l ON l.log_id = a.log_id
   WHERE a.asset_key = ANY($1::text[]) AND a.lot = $3 AND a.gtin IS NOT NULL AND l.ends_at IS DISTINCT FROM 0 AND ${visible}`,
)
const withoutItem = hubStatement(
  'ssccs-without-item',
  `SELECT DISTINCT a.asset_key, a.sscc FROM asset a JOIN log l ON l.log_id = a.log_id
   WHERE a.asset_key = ANY($1::text[]) AND a.lot = $3 AND a.gtin IS NULL AND a.sscc IS NOT NULL AND ${isNoBranch} AND ${visible}`,
)
/** Assets of which this is printed, behind a place in the list: `$3` is whether its item is unknown, `$4` the item, `$5` the key. */
const printed = (name: string, what: string) =>
  hubStatement(
    name,
    `SELECT DISTINCT a.gtin, a.asset_key, a.sscc, a.lot FROM asset a JOIN log l ON l.log_id = a.log_id
     WHERE ${what} AND ${isNoBranch} AND (a.gtin IS NULL, coalesce(a.gtin, ''), a.asset_key) > ($3::boolean, $4::text, $5::text) AND ${visible}
     ORDER BY a.gtin NULLS LAST, a.asset_key, a.sscc, a.lot LIMIT ${lotSlice + 1}`,
  )
const ofItem = printed('assets-of-item', 'a.gtin = $1 AND ($6::text IS NULL OR a.lot = $6)')
const ofLot = printed('assets-of-lot-of-any-item', 'a.lot = $1')
const logs = hubStatement(
  'logs-of-sites',
  `SELECT s.site_id, s.name, s.timezone, l.log_id, l.superseded_by, l.ends_at, l.enrolled_at,
     l.retired_at, h.size, h.witnessed_size, h.state, h.fed_at, h.status,
     h.config_before, h.config_changed_at
   FROM log l JOIN site s ON s.site_id = l.site_id JOIN log_head h ON h.log_id = l.log_id
   WHERE ($1::text[] IS NULL OR l.site_id = ANY($1)) ORDER BY s.site_id, l.enrolled_at`,
)
const floorNow = hubStatement(
  'floor-now',
  `SELECT s.log_id, s.slot_id, s.slot_code, s.at, s.event_type, s.asset_key, j.verdict FROM slot_state s
   LEFT JOIN judgement j ON j.log_id = s.log_id AND j.slot_id = s.slot_id AND j.asset_key = s.asset_key AND j.at > s.at
   WHERE s.log_id = ANY($1::uuid[]) AND s.event_type <> '-'`,
)
const plan = hubStatement(
  'plan-of-site',
  `SELECT s.log_id, s.slot_id, s.slot_code, s.zone, s.warehouse, s.is_retired FROM slot s WHERE s.log_id = ANY($1::uuid[])`,
)
// One look into the index for each slot, which may have years of events. It reads one log, so that on Citus one worker does it.
const floorThen = hubStatement(
  'floor-then',
  `SELECT s.log_id, s.slot_id, p.slot_code, p.at, p.event_type, p.asset_key, NULL AS verdict
   FROM slot_state s CROSS JOIN LATERAL (SELECT e.slot_code, e.at, e.event_type, e.asset_key FROM placement e
     WHERE e.log_id = $1 AND e.slot_id = s.slot_id AND e.event_type IN ('P', 'R') AND e.at <= $2 AND e.seq <= $3
     ORDER BY e.at DESC, e.seq DESC LIMIT 1) p
   WHERE s.log_id = $1`,
)
/** The end of a log that has none. */
const endless = '9223372036854775807'

/** A move of an asset, or what ended its stay. `letter`: P or R. `verdict`: V or D after it, else null. */
export type Position = {
  readonly siteId: string
  readonly assetKey: string
  readonly atMs: number
  readonly seq: number
  readonly letter: string
  readonly slotId: number
  readonly slotCode: string
  readonly verdict: string | null
  /** Its log is retired, so it says only where the asset was. */
  readonly isRetired: boolean
}

type PositionRow = {
  site_id: string
  asset_key: string
  at: Date
  seq: string
  event_type: string
  slot_id: number
  slot_code: string
  verdict: string | null
  is_retired: boolean
}

const positionOf = (row: PositionRow): Position => ({
  siteId: row.site_id,
  assetKey: row.asset_key,
  atMs: row.at.getTime(),
  seq: Number(row.seq),
  letter: row.event_type,
  slotId: row.slot_id,
  slotCode: row.slot_code,
  verdict: row.verdict,
  isRetired: row.is_retired,
})

/** The newest PLACED of an asset at one log; its newest REMOVED when it was placed nowhere there. */
export type Begun = Position & { readonly logId: string }

/** Returns the stays of these assets that began last, for each log that knows them. */
export async function begunOf(db: HubTx, keys: readonly string[], sites: Sites): Promise<Begun[]> {
  type Row = PositionRow & { log_id: string }
  return (await db.rows<Row>(positions, [keys, sites])).map((row) => ({ ...positionOf(row), logId: row.log_id }))
}

/** A log, and the one that continues it. */
export type ChainedLog = Pick<SiteLog, 'log_id' | 'site_id' | 'superseded_by' | 'ends_at'>

/** Returns the logs of sites, the oldest of each first. */
export function chainsOf(db: HubTx, sites: readonly string[]): Promise<ChainedLog[]> {
  return db.rows(chains, { sites })
}

/** A moment of a slot. An end that is known is behind it. */
export type Place = Pick<Position, 'slotId' | 'atMs' | 'seq'>

/** Returns the move of the slot directly behind each of these places, in one log; undefined where there is none. */
export async function endsIn(
  db: HubTx,
  { log_id, ends_at }: ChainedLog,
  places: readonly Place[],
): Promise<(Pick<Place, 'atMs' | 'seq'> | undefined)[]> {
  const rows = await db.rows<{ n: number; at: Date; seq: string }>(ends, [
    ...[log_id, integers(places.map((_, n) => n)), integers(column(places, 'slotId'))],
    ...[moments(column(places, 'atMs')), bigints(column(places, 'seq')), ends_at ?? endless],
  ])
  const found = new Map(rows.map(({ n, at, seq }) => [n, { atMs: at.getTime(), seq: Number(seq) }]))
  return places.map((_, n) => found.get(n))
}

/** `isBehind`: a restore lost it, so that the log that continues does not have it. It is evidence, and no part of the history. */
export type Move = Position & { readonly logId: string; readonly isBehind: boolean }

/** Returns the moves of assets over all sites, the newest 1,000 of them, oldest first. */
export async function trailOf(db: HubTx, keys: readonly string[], sites: Sites): Promise<Move[]> {
  type Row = Omit<PositionRow, 'verdict' | 'is_retired'> & { log_id: string; is_behind: boolean }
  const rows = await db.rows<Row>(trail, [keys, sites])
  return rows
    .map((row) => ({
      ...positionOf({ ...row, verdict: null, is_retired: false }),
      logId: row.log_id,
      isBehind: row.is_behind,
    }))
    .toReversed()
}

/** The newest step of a transport unit. */
export type UnitStep = {
  readonly siteId: string
  readonly unitId: string
  readonly atMs: number
  readonly status: string
  readonly stage: string
  readonly direction: string | null
  readonly sscc: string
  readonly reference: string | null
}

/** Returns the transport units with one of these SSCCs, each in its newest step, over all logs of its site. */
export async function unitStepsOf(db: HubTx, ssccs: readonly string[], sites: Sites): Promise<UnitStep[]> {
  type Row = Omit<UnitStep, 'siteId' | 'unitId' | 'atMs' | 'sscc'> & {
    site_id: string
    unit_id: string
    at: Date
    sscc: string | null
    enrolled_at: Date
  }
  const units = ssccs.length === 0 ? [] : await db.rows<Pick<Row, 'site_id' | 'unit_id'>>(unitsOf, [ssccs, sites])
  if (units.length === 0) return []
  // All units at all sites would be millions of looks in a large fleet.
  const ofSites = [...Map.groupBy(units, ({ site_id }) => site_id)].map(([siteId, ofSite]) =>
    db.rows<Row>(stepsOf, [siteId, column(ofSite, 'unit_id')]),
  )
  const rows = (await Promise.all(ofSites)).flat()
  const ofUnits = Map.groupBy(rows, ({ site_id, unit_id }) => `${site_id}\0${unit_id}`)
  return units.flatMap(({ site_id: siteId, unit_id: unitId }) => {
    const [newest, ...others] = (ofUnits.get(`${siteId}\0${unitId}`) ?? []).toSorted(
      (one, other) => other.at.getTime() - one.at.getTime() || other.enrolled_at.getTime() - one.enrolled_at.getTime(),
    )
    const said = (fact: 'direction' | 'sscc' | 'reference') =>
      newest?.[fact] ?? others.find((one) => one[fact] !== null)?.[fact] ?? null
    const sscc = said('sscc')
    if (!newest || sscc === null) return []
    const step = { atMs: newest.at.getTime(), status: newest.status, stage: newest.stage }
    return [{ siteId, unitId, ...step, sscc, direction: said('direction'), reference: said('reference') }]
  })
}

/** Returns the SSCCs that sites know as printed on an asset that was moved. */
export async function ssccsOnAsset(db: HubTx, key: string, sites: Sites): Promise<string[]> {
  return (await db.rows<{ sscc: string }>(ssccsOf, [key, sites])).map(({ sscc }) => sscc)
}

/** An item, a lot, or a lot of an item; null: any. One of them is there. */
export type Lot = { readonly gtin: string | null; readonly lot: string | null }

/** An asset with an SSCC that is printed on it. With `isOfLot`, a site knows it as of the item and lot in the question. */
export type PrintedSscc = {
  readonly sscc: string
  readonly key: string
  readonly gtin: string | null
  readonly isOfLot: boolean
}

/** Returns the assets that have one of these SSCCs printed on them, at any site. */
export async function assetsWithSscc(
  db: HubTx,
  ssccs: readonly string[],
  sites: Sites,
  { gtin, lot }: Lot = { gtin: null, lot: null },
): Promise<PrintedSscc[]> {
  type Row = { sscc: string; asset_key: string; gtin: string | null; is_of_lot: boolean }
  const rows = ssccs.length === 0 ? [] : await db.rows<Row>(assetsBySscc, [ssccs, sites, gtin, lot])
  return rows.map(({ sscc, asset_key: key, gtin, is_of_lot: isOfLot }) => ({ sscc, key, gtin, isOfLot }))
}

/** Returns which of these assets any site knows as of an item and this lot. */
export async function keysWithItem(
  db: HubTx,
  keys: readonly string[],
  { lot }: Lot,
  sites: Sites,
): Promise<ReadonlySet<string>> {
  const rows = keys.length === 0 ? [] : await db.rows<{ asset_key: string }>(withItem, [keys, sites, lot])
  return new Set(rows.map(({ asset_key }) => asset_key))
}

/** Returns the SSCCs that sites which know no item of these assets have on them, of this lot. */
export async function ssccsWithoutItem(
  db: HubTx,
  keys: readonly string[],
  { lot }: Lot,
  sites: Sites,
): Promise<{ readonly key: string; readonly sscc: string }[]> {
  type Row = { asset_key: string; sscc: string }
  const rows = keys.length === 0 ? [] : await db.rows<Row>(withoutItem, [keys, sites, lot])
  return rows.map(({ asset_key: key, sscc }) => ({ key, sscc }))
}

/**
 * An asset as sites know it: as of one item, with the lots and SSCCs that are printed on it. Its `gtin` is null when they know
 * none.
 */
export type Labelled = {
  readonly key: string
  readonly gtin: string | null
  readonly lots: readonly string[]
  readonly ssccs: readonly string[]
}
/** The place of an asset in a list by items. */
export type LotPlace = Pick<Labelled, 'key' | 'gtin'>
/** `next`: more follow behind this place. */
export type LotSlice = { readonly assets: readonly Labelled[]; readonly next: LotPlace | null }

/** Returns the next assets of an item and lot behind a place, item by item, those without one last, in the order of their keys. */
export async function assetsOfLot(
  db: HubTx,
  { gtin, lot }: Lot,
  after: LotPlace | undefined,
  sites: Sites,
): Promise<LotSlice> {
  const place = [after !== undefined && after.gtin === null, after?.gtin ?? '', after?.key ?? '']
  type Row = { gtin: string | null; asset_key: string; sscc: string | null; lot: string | null }
  const rows = await (gtin === null
    ? db.rows<Row>(ofLot, [lot, sites, ...place])
    : db.rows<Row>(ofItem, [gtin, sites, ...place, lot]))
  const nameOf = (row: Row) => `${row.gtin} ${row.asset_key}`
  const last = rows.at(-1)
  const isFull = rows.length > lotSlice && last !== undefined
  // Some SSCCs of the last asset may be behind the limit, so it comes with the next slice.
  const whole = isFull ? rows.filter((row) => nameOf(row) !== nameOf(last)) : rows
  const assets = [...Map.groupBy(whole, nameOf).values()].flatMap((ofAsset) => labelledOf(ofAsset))
  return { assets, next: isFull ? (assets.at(-1) ?? null) : null }

  function labelledOf([first, ...others]: readonly Row[]): Labelled[] {
    if (!first) return []
    const of = (name: 'sscc' | 'lot') => [...new Set([first, ...others].flatMap((row) => row[name] ?? []))]
    return [{ key: first.asset_key, gtin: first.gtin, lots: of('lot'), ssccs: of('sscc') }]
  }
}

export type SiteLog = {
  readonly site_id: string
  readonly name: string
  readonly timezone: string
  readonly log_id: string
  readonly superseded_by: string | null
  /** Number of its last leaf that counts, as text; null without an end. */
  readonly ends_at: string | null
  readonly enrolled_at: Date
  readonly retired_at: Date | null
  readonly size: string
  /** Leaves under the newest checkpoint. */
  readonly witnessed_size: string
  readonly state: string
  readonly fed_at: Date | null
  readonly status: Readonly<Record<string, unknown>>
  readonly config_before: Readonly<Record<string, string>> | null
  readonly config_changed_at: Date | null
}

/** Returns the logs of the sites, the oldest of each site first. */
export function logsOf(db: HubTx, sites: Sites): Promise<SiteLog[]> {
  return db.rows<SiteLog>(logs, [sites])
}

export type SlotRow = {
  readonly log_id: string
  readonly slot_id: number
  readonly slot_code: string
  readonly at: Date
  readonly event_type: string
  readonly asset_key: string
  readonly verdict: string | null
}

/** Returns the newest move of each slot and log; at a time, those until then. */
export async function slotsOf(
  db: HubTx,
  logs: readonly Pick<SiteLog, 'log_id' | 'ends_at'>[],
  atMs: number | undefined,
): Promise<SlotRow[]> {
  if (atMs === undefined) return db.rows<SlotRow>(floorNow, [logs.map(({ log_id }) => log_id)])
  const then = logs.map(({ log_id, ends_at }) =>
    db.rows<SlotRow>(floorThen, [log_id, isoTime(atMs), ends_at ?? endless]),
  )
  return (await Promise.all(then)).flat()
}

export type PlanRow = {
  readonly log_id: string
  readonly slot_id: number
  readonly slot_code: string
  readonly zone: string | null
  readonly warehouse: string | null
  readonly is_retired: boolean
}

/** Returns the slots of the floor plans that came with these logs. */
export function planOf(db: HubTx, logIds: readonly string[]): Promise<PlanRow[]> {
  return db.rows<PlanRow>(plan, [logIds])
}
