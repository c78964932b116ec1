import { type Figure, millis } from './figure.ts'
import { askAll, onHub, questions, serviceOf, timesOf } from './hub.ts'
import type { Postgres } from './postgres.ts'
import { quantile, timedUntilDone } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const logs = 240
const leavesEach = 25_260
const leaves = logs * leavesEach
/** Every tenth pallet has been at so many sites. */
const sharedBy = 4
/** So many leaves of each log are written at once, then those of the next, as feeds come. */
const slice = 1024

/** `l.i` is the number of the site, `n` that of the leaf: placed, verified, removed and placed again, 10,000 slots a site. */
const of = {
  at: `timestamptz '2026-01-05' + n * interval '17 seconds' + l.i * interval '1 millisecond'`,
  slot: '1 + (n * 7) % 10000',
  letter: `(ARRAY['P', 'V', 'R', 'P'])[1 + (n & 3)]::"char"`,
  asset: `CASE (n >> 2) % 10 WHEN 0 THEN 'g' || l.i / ${sharedBy} ELSE 's' || l.i END || '-' || lpad((n >> 2)::text, 12, '0')`,
}

/** As `of.asset`. */
function assetOf(i: number, n: number): string {
  const pallet = n >> 2
  const site = pallet % 10 === 0 ? `g${Math.floor(i / sharedBy)}` : `s${i}`
  return `${site}-${String(pallet).padStart(12, '0')}`
}

/** A barcode over 240 logs and six million leaves, which are written by SQL into the tables that the question reads. */
export function measureHubLarge(workshop: Workshop): Promise<Figure[]> {
  return onHub(workshop, async ({ hub, db, postgres }) => {
    const ms = await timedUntilDone(() => fill(postgres))
    const codes = Array.from({ length: questions }, (_, k) =>
      assetOf((k * 37) % logs, 4 + ((k * 7919) % (leavesEach - 8))),
    )
    // The first round reads old codes from the disk. The second round asks for them again.
    const firstP95Ms = quantile(await timesOf(codes, (code) => serviceOf(hub, db).search(code, null, null)), 0.95)
    const again = await askAll(hub, db, codes, { logs, leaves })
    const filled = `by SQL in ${Math.round(ms / 1000)} s, without their bytes, which the question does not read`
    return again.map((figure) => ({
      ...figure,
      id: `${figure.id}-large`,
      raw: `${figure.raw} (${filled}); asked for the first time, in SQL, ${millis(firstP95Ms)}`,
      numbers: { ...figure.numbers, firstP95Ms },
    }))
  })
}

async function fill({ client }: Postgres): Promise<void> {
  await client.query(`SET synchronous_commit = off`)
  await client.query(`CREATE TABLE l AS SELECT i, ('0190a5c4-3c00-7000-8000-' || lpad(i::text, 12, '0'))::uuid AS log_id
    FROM generate_series(0, ${logs - 1}) AS i`)
  await client.query(`INSERT INTO site (site_id, name) SELECT 'dc-' || i, 'dc-' || i FROM l`)
  await client.query(`INSERT INTO log (log_id, site_id, origin, vkeys, enrolled_at)
    SELECT log_id, 'dc-' || i, 'gatehouse/dc-' || i, '{}', '2026-01-01' FROM l`)
  await client.query(`INSERT INTO log_head (log_id, size) SELECT log_id, ${leavesEach} FROM l`)
  for (let from = 1; from <= leavesEach; from += slice) {
    await client.query(`INSERT INTO placement (log_id, seq, at, slot_id, slot_code, event_type, asset_key)
      SELECT l.log_id, n, ${of.at}, ${of.slot}, 'A-' || (${of.slot}), ${of.letter}, ${of.asset}
      FROM l, generate_series(${from}::bigint, ${Math.min(from + slice - 1, leavesEach)}) AS n`)
  }
  await registers(client)
  await client.query('DROP TABLE l')
  await client.query('VACUUM ANALYZE')
}

/** Fills the registers: the newest event of each slot, asset and judgement, and the labels of the assets. */
async function registers(client: Postgres['client']): Promise<void> {
  const newest = (key: string, letters: string, first = '') =>
    `DISTINCT ON (log_id, ${key}) * FROM placement WHERE event_type IN (${letters}) ORDER BY log_id, ${key}, ${first}at DESC, seq DESC`
  await client.query(`INSERT INTO slot_state (log_id, slot_id, slot_code, at, seq, event_type, asset_key)
    SELECT log_id, slot_id, slot_code, at, seq, event_type, asset_key FROM (SELECT ${newest('slot_id', `'P', 'R'`)}) p`)
  await client.query(`INSERT INTO asset_position (log_id, asset_key, at, seq, event_type, slot_id, slot_code)
    SELECT log_id, asset_key, at, seq, event_type, slot_id, slot_code FROM (SELECT ${newest('asset_key', `'P', 'R'`, `event_type = 'P' DESC, `)}) p`)
  await client.query(`INSERT INTO judgement (log_id, slot_id, asset_key, at, seq, verdict)
    SELECT log_id, slot_id, asset_key, at, seq, event_type FROM placement WHERE event_type IN ('V', 'D')`)
  await client.query(`INSERT INTO asset (log_id, asset_key, sscc, gtin, lot, version)
    SELECT log_id, asset_key, lpad(abs(hashtext(asset_key))::text, 18, '0'), '09521234543213', 'L-' || seq / 400, 1 FROM asset_position`)
}
