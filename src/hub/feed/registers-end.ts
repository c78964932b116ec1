import { integers, texts } from '../store/arrays.ts'
import type { HubTx } from '../store/database.ts'
import { fromHead, hubStatement } from '../store/statement.ts'
import { type PlacementFact, readLeaf } from './facts.ts'
import { leavesBehind } from './leaves-store.ts'
import { newestOf } from './registers.ts'
import { UnitsBetween } from './units-end.ts'

/** Slots, assets or judgements of one statement, so that none takes long however long the log is. */
const mostKeys = 1000

// Registers only move forward, and no right to delete is granted. Rows behind the end are marked, then the newest row before it
// takes their place. A mark that stays means that nothing is known.
const marked = {
  slots: hubStatement(
    'mark-slots-behind',
    `UPDATE slot_state SET event_type = '-' WHERE log_id = $1 AND seq > $2 AND slot_id = ANY($3::integer[])`,
  ),
  assets: hubStatement(
    'mark-assets-behind',
    `UPDATE asset_position SET event_type = '-' WHERE log_id = $1 AND seq > $2 AND asset_key = ANY($3::text[])`,
  ),
  judgements: hubStatement(
    'mark-judgements-behind',
    `UPDATE judgement j SET verdict = '-' ${fromHead('$3::integer[], $4::text[]')} (slot_id, asset_key)
     WHERE j.log_id = $1 AND h.log_id = $1 AND j.slot_id = x.slot_id AND j.asset_key = x.asset_key AND j.seq > $2`,
  ),
}
/** The newest event of one slot or asset up to the end: one look into the index for each, whatever else the log has. */
const newest = (which: string, letters: string, first = '') =>
  `CROSS JOIN LATERAL (SELECT e.slot_id, e.slot_code, e.at, e.seq, e.event_type, e.asset_key FROM placement e
     WHERE e.log_id = $1 AND ${which} AND e.seq <= $2 AND e.event_type IN (${letters}) ORDER BY ${first}e.at DESC, e.seq DESC LIMIT 1) p`
const refilled = {
  slots: hubStatement(
    'refill-slots',
    `INSERT INTO slot_state (log_id, slot_id, slot_code, at, seq, event_type, asset_key)
     SELECT s.log_id, s.slot_id, p.slot_code, p.at, p.seq, p.event_type, p.asset_key
     FROM slot_state s ${newest('e.slot_id = s.slot_id', `'P', 'R'`)}
     WHERE s.log_id = $1 AND s.slot_id = ANY($3::integer[]) AND s.event_type = '-'
     ON CONFLICT (log_id, slot_id) DO UPDATE SET slot_code = excluded.slot_code, at = excluded.at, seq = excluded.seq,
       event_type = excluded.event_type, asset_key = excluded.asset_key`,
  ),
  assets: hubStatement(
    'refill-assets',
    `INSERT INTO asset_position (log_id, asset_key, at, seq, event_type, slot_id, slot_code)
     SELECT a.log_id, a.asset_key, p.at, p.seq, p.event_type, p.slot_id, p.slot_code
     FROM asset_position a ${newest('e.asset_key = a.asset_key', `'P', 'R'`, `e.event_type = 'P' DESC, `)}
     WHERE a.log_id = $1 AND a.asset_key = ANY($3::text[]) AND a.event_type = '-'
     ON CONFLICT (log_id, asset_key) DO UPDATE SET at = excluded.at, seq = excluded.seq, event_type = excluded.event_type,
       slot_id = excluded.slot_id, slot_code = excluded.slot_code`,
  ),
  judgements: hubStatement(
    'refill-judgements',
    `INSERT INTO judgement (log_id, slot_id, asset_key, at, seq, verdict)
     SELECT j.log_id, j.slot_id, j.asset_key, p.at, p.seq, p.event_type
     ${fromHead('$3::integer[], $4::text[]')} (slot_id, asset_key)
     JOIN judgement j ON j.log_id = $1 AND j.slot_id = x.slot_id AND j.asset_key = x.asset_key
     ${newest('e.asset_key = j.asset_key AND e.slot_id = j.slot_id', `'V', 'D'`)} WHERE h.log_id = $1 AND j.verdict = '-'
     ON CONFLICT (log_id, slot_id, asset_key) DO UPDATE SET at = excluded.at, seq = excluded.seq, verdict = excluded.verdict`,
  ),
}

/**
 * Moves the end of a log from leaf `from` to leaf `to`: earlier, or later, up to the stored leaves. Touches only slots, assets,
 * judgements and transport units that leaves between the two name. Call it with the head locked.
 */
export async function endRegisters(
  tx: HubTx,
  logId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  // To come forward again, a register is read anew whatever it shows.
  const after = to < from ? to : 0
  const units = new UnitsBetween()
  for await (const leaves of leavesBehind(tx, logId, Math.min(from, to), Math.max(from, to))) {
    const facts = leaves.flatMap((leaf) => readLeaf(leaf) ?? [])
    const named = newestOf(facts.flatMap(({ placement }) => placement ?? []))
    units.add(facts.flatMap(({ unit }) => unit ?? []))
    for (const kind of ['slots', 'assets', 'judgements'] as const) {
      for (const some of slicesOf(named[kind])) {
        const keys = keysOf[kind](some)
        await tx.rows(marked[kind], [logId, after, ...keys])
        if (to > 0) await tx.rows(refilled[kind], [logId, to, ...keys])
      }
    }
  }
  await units.endAt(tx, logId, to)
}

type Facts = readonly PlacementFact[]
const slotIds = (facts: Facts) => integers(facts.map(({ slotId }) => slotId))
const assetKeys = (facts: Facts) => texts(facts.map(({ assetKey }) => assetKey))

const keysOf = {
  slots: (facts: Facts) => [slotIds(facts)],
  assets: (facts: Facts) => [assetKeys(facts)],
  judgements: (facts: Facts) => [slotIds(facts), assetKeys(facts)],
}

function slicesOf(facts: Facts): Facts[] {
  return Array.from({ length: Math.ceil(facts.length / mostKeys) }, (_, i) =>
    facts.slice(i * mostKeys, (i + 1) * mostKeys),
  )
}
