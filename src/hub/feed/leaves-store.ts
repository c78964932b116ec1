import { bigints, byteStrings, column, integers, letters, moments, smallints, texts } from '../store/arrays.ts'
import type { HubTx, HubWrite } from '../store/database.ts'
import { fromHead, hubStatement } from '../store/statement.ts'
import { bundleWidth, unpackBundle } from './bundle.ts'
import type { PlacementFact } from './facts.ts'
import type { Newest } from './registers.ts'

const bundles = hubStatement(
  'bundles-between',
  'SELECT n, packed FROM entry_bundle WHERE log_id = $1 AND n >= $2 AND n <= $3 ORDER BY n',
)
const newBundles = hubStatement(
  'put-bundles',
  `INSERT INTO entry_bundle (log_id, n, width, packed, root) SELECT h.log_id, x.n, x.width, x.packed, x.root
   ${fromHead('$2::bigint[], $3::smallint[], $4::bytea[], $5::bytea[]')} (n, width, packed, root) WHERE h.log_id = $1
   ON CONFLICT (log_id, n) DO UPDATE SET width = excluded.width, packed = excluded.packed, root = excluded.root
   WHERE entry_bundle.width < excluded.width`,
)
const bundleWidths = hubStatement('bundle-width', 'SELECT width FROM entry_bundle WHERE log_id = $1 AND n = $2')
const grownBundle = hubStatement(
  'grow-bundle',
  'UPDATE entry_bundle SET packed = packed || $5, width = $4 WHERE log_id = $1 AND n = $2 AND width = $3',
)
const newPlacements = hubStatement(
  'put-placements',
  `INSERT INTO placement (log_id, seq, at, slot_id, slot_code, event_type, asset_key)
   SELECT h.log_id, x.seq, x.at, x.slot_id, x.slot_code, x.event_type, x.asset_key
   ${fromHead('$2::bigint[], $3::timestamptz[], $4::integer[], $5::text[], $6::"char"[], $7::text[]')}
   (seq, at, slot_id, slot_code, event_type, asset_key) WHERE h.log_id = $1`,
)
const slotStates = hubStatement(
  'put-slot-states',
  `INSERT INTO slot_state (log_id, slot_id, slot_code, at, seq, event_type, asset_key)
   SELECT h.log_id, x.slot_id, x.slot_code, x.at, x.seq, x.event_type, x.asset_key
   ${fromHead('$2::integer[], $3::text[], $4::timestamptz[], $5::bigint[], $6::"char"[], $7::text[]')}
   (slot_id, slot_code, at, seq, event_type, asset_key) WHERE h.log_id = $1
   ON CONFLICT (log_id, slot_id) DO UPDATE SET slot_code = excluded.slot_code, at = excluded.at, seq = excluded.seq,
     event_type = excluded.event_type, asset_key = excluded.asset_key
   WHERE (excluded.at, excluded.seq) > (slot_state.at, slot_state.seq)`,
)
const assetPositions = hubStatement(
  'put-asset-positions',
  `INSERT INTO asset_position (log_id, asset_key, at, seq, event_type, slot_id, slot_code)
   SELECT h.log_id, x.asset_key, x.at, x.seq, x.event_type, x.slot_id, x.slot_code
   ${fromHead('$2::text[], $3::timestamptz[], $4::bigint[], $5::"char"[], $6::integer[], $7::text[]')}
   (asset_key, at, seq, event_type, slot_id, slot_code) WHERE h.log_id = $1
   ON CONFLICT (log_id, asset_key) DO UPDATE SET at = excluded.at, seq = excluded.seq, event_type = excluded.event_type,
     slot_id = excluded.slot_id, slot_code = excluded.slot_code
   WHERE (excluded.event_type = 'P', excluded.at, excluded.seq) > (asset_position.event_type = 'P', asset_position.at, asset_position.seq)`,
)
const judgements = hubStatement(
  'put-judgements',
  `INSERT INTO judgement (log_id, slot_id, asset_key, at, seq, verdict)
   SELECT h.log_id, x.slot_id, x.asset_key, x.at, x.seq, x.verdict
   ${fromHead('$2::integer[], $3::text[], $4::timestamptz[], $5::bigint[], $6::"char"[]')}
   (slot_id, asset_key, at, seq, verdict) WHERE h.log_id = $1
   ON CONFLICT (log_id, slot_id, asset_key) DO UPDATE SET at = excluded.at, seq = excluded.seq, verdict = excluded.verdict
   WHERE (excluded.at, excluded.seq) > (judgement.at, judgement.seq)`,
)

/** Returns the stored bundles from one number to another, packed. */
export async function bundlesBetween(tx: HubTx, logId: string, first: number, last: number) {
  const rows = await tx.rows<{ n: string; packed: Buffer }>(bundles, [logId, first, last])
  return rows.map(({ n, packed }) => ({ n: Number(n), packed }))
}

/** Bundles that are unpacked at once: 4,096 leaves, which takes some 30 ms. */
const bundlesAtOnce = 16

/** Returns the stored leaves behind the first `size`, up to leaf `end`, some thousands at a time. */
export async function* leavesBehind(tx: HubTx, logId: string, size: number, end: number): AsyncGenerator<Buffer[]> {
  const last = Math.ceil(end / bundleWidth) - 1
  for (let first = Math.floor(size / bundleWidth); first <= last; first += bundlesAtOnce) {
    const packed = await bundlesBetween(tx, logId, first, Math.min(first + bundlesAtOnce - 1, last))
    const leaves = packed.flatMap((bundle) => unpackBundle(bundle.packed))
    yield leaves.slice(Math.max(0, size - first * bundleWidth), end - first * bundleWidth)
  }
}

/** Returns the stored leaves up to leaf `end`, some thousands at a time, the last ones first. */
export async function* leavesUpTo(tx: HubTx, logId: string, end: number): AsyncGenerator<Buffer[]> {
  for (let last = Math.ceil(end / bundleWidth) - 1; last >= 0; last -= bundlesAtOnce) {
    const first = Math.max(0, last - bundlesAtOnce + 1)
    const packed = await bundlesBetween(tx, logId, first, last)
    yield packed.flatMap((bundle) => unpackBundle(bundle.packed)).slice(0, end - first * bundleWidth)
  }
}

/** Returns how many leaves the bundle has; 0: it has not begun. */
export async function widthOfBundle(tx: HubTx, logId: string, n: number): Promise<number> {
  return Number((await tx.rows(bundleWidths, [logId, n]))[0]?.['width'] ?? 0)
}

/** `packed`: leaves from `start` up to `width`; those before are stored already, and stay. `root`: of the subtree over its leaves, when it is full. */
export type PackedBundle = {
  readonly n: number
  readonly start: number
  readonly width: number
  readonly packed: Buffer
  readonly root: Buffer | null
}

/** Stores new bundles and those that have grown. */
export function putBundles(tx: HubWrite, logId: string, bundles: readonly PackedBundle[]): void {
  for (const { n, start, width, packed } of bundles) {
    if (start > 0) tx.send(grownBundle, [logId, n, start, width, packed])
  }
  const all = bundles.filter(({ start }) => start === 0)
  if (all.length === 0) return
  tx.send(newBundles, [
    ...[logId, bigints(column(all, 'n')), smallints(column(all, 'width'))],
    ...[byteStrings(column(all, 'packed')), byteStrings(column(all, 'root'))],
  ])
}

/** Stores events, and moves what is true now forward to the newest of them. */
export function putPlacements(
  tx: HubWrite,
  logId: string,
  placements: readonly PlacementFact[],
  { slots, assets, judgements: judged }: Newest,
): void {
  if (placements.length === 0) return
  const of = columnsOf(placements)
  tx.send(newPlacements, [logId, of.seq, of.at, of.slotId, of.slotCode, of.letter, of.assetKey])
  if (slots.length > 0) {
    const slot = columnsOf(slots)
    tx.send(slotStates, [logId, slot.slotId, slot.slotCode, slot.at, slot.seq, slot.letter, slot.assetKey])
    const asset = columnsOf(assets)
    const place = [asset.slotId, asset.slotCode]
    tx.send(assetPositions, [logId, asset.assetKey, asset.at, asset.seq, asset.letter, ...place])
  }
  if (judged.length === 0) return
  const { slotId, assetKey, at, seq, letter } = columnsOf(judged)
  tx.send(judgements, [logId, slotId, assetKey, at, seq, letter])
}

const columnsOf = (all: readonly PlacementFact[]) => ({
  seq: bigints(column(all, 'seq')),
  at: moments(column(all, 'atMs')),
  slotId: integers(column(all, 'slotId')),
  slotCode: texts(column(all, 'slotCode')),
  letter: letters(column(all, 'letter')),
  assetKey: texts(column(all, 'assetKey')),
})
