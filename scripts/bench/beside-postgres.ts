import type pg from 'pg'
import { pageOfHistory } from '../../src/ledger/derive/history.ts'
import type { PlacementEventRow } from '../../src/ledger/index.ts'
import { slotState, slotStates } from '../../src/ledger/index.ts'
import { allOf, oneOf } from '../../test/support/plain-sql.ts'
import { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { type Figure, millis, thousands } from './figure.ts'
import { Postgres, postgresBin } from './postgres.ts'
import { openRooms, origin, type Rooms } from './rooms.ts'
import { furnish, History, keepPhoto, turn } from './seed.ts'
import { stateOf } from './site.ts'
import { median, timedUntilDone } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const slots = 10_000
const pallets = 20_000
const recorded = 10_000
const copiedAtOnce = 10_000
const rounds = 9
const commits = 300

const moves = `event_type IN ('PLACED', 'REMOVED')`
const judgements = `event_type IN ('VERIFIED', 'DISPUTED')`
const judgement = `LEFT JOIN LATERAL (SELECT event_type FROM placement_event WHERE slot_id = p.slot_id AND ${judgements}
    AND timestamp_ms > p.timestamp_ms AND asset_key = p.asset_key ORDER BY timestamp_ms DESC, id DESC LIMIT 1) j ON true`
const newestMove = `SELECT * FROM placement_event WHERE slot_id = s.id AND ${moves} ORDER BY timestamp_ms DESC, id DESC LIMIT 1`
const listSql = `SELECT s.id, p.asset_barcode, j.event_type AS judgement FROM slot s
  CROSS JOIN LATERAL (${newestMove}) p ${judgement} WHERE p.event_type = 'PLACED'`
const useSql = `SELECT s.zone_id, count(*) AS total, count(p.id) AS occupied, count(*) FILTER (WHERE j.event_type = 'VERIFIED') AS verified
  FROM slot s LEFT JOIN LATERAL (SELECT * FROM (${newestMove}) n WHERE event_type = 'PLACED') p ON true ${judgement} GROUP BY s.zone_id`

const schema = `
CREATE TABLE slot (id bigint PRIMARY KEY, zone_id bigint);
CREATE TABLE log_leaf (seq bigint PRIMARY KEY, kind text NOT NULL, ref text NOT NULL, bytes bytea NOT NULL, hash bytea NOT NULL);
CREATE TABLE audit_entry (id bigserial PRIMARY KEY, timestamp_ms bigint NOT NULL, action text NOT NULL, entity text NOT NULL, entity_id text);
CREATE INDEX ON audit_entry (timestamp_ms, id);
CREATE INDEX ON audit_entry (entity, entity_id, timestamp_ms)`
const indexes = `
ALTER TABLE placement_event ADD PRIMARY KEY (id);
CREATE UNIQUE INDEX ON placement_event (event_id);
CREATE INDEX ON placement_event (slot_id, timestamp_ms, id) INCLUDE (event_type, asset_barcode, asset_key) WHERE ${moves};
CREATE INDEX ON placement_event (slot_id, timestamp_ms, id) INCLUDE (event_type, asset_key) WHERE ${judgements};
CREATE INDEX ON placement_event (asset_key, timestamp_ms, id) INCLUDE (event_type, slot_id) WHERE ${moves};
CREATE INDEX ON placement_event (asset_key, timestamp_ms, id) INCLUDE (event_type) WHERE ${judgements};
CREATE INDEX ON placement_event (timestamp_ms, id);
CREATE INDEX ON placement_event (event_type, timestamp_ms, id);
ANALYZE`

/**
 * The same events, indexes and questions in a PostgreSQL on this machine, asked by its usual client over a socket.
 * Nothing where Debian's package `postgresql` is not installed.
 */
export async function measureBesidePostgres(workshop: Workshop, events: number): Promise<Figure[]> {
  const bin = postgresBin()
  if (!bin) return []
  const clock = new SimulatedClock(Date.now() - (events + 3600) * 1000)
  const rooms = openRooms(stateOf(workshop.newFolder('beside')), clock)
  const postgres = await Postgres.start(workshop, bin)
  try {
    rooms.db.pragma('synchronous = OFF')
    await furnish(rooms, slots, pallets)
    const photoUrl = await keepPhoto(rooms)
    const history = new History({ rooms, clock, slots, pallets, photoUrl })
    await history.growTo(Math.min(events, recorded))
    if (events > recorded) history.fillTo(rooms, events)
    await copy(rooms, postgres.client, events)
    rooms.db.pragma('synchronous = FULL')
    return await compare(rooms, postgres, events, photoUrl)
  } finally {
    await postgres.stop()
    rooms.close()
  }
}

async function copy({ work }: Rooms, client: pg.Client, events: number): Promise<void> {
  const columns = work.read((tx) => allOf<{ name: string; type: string }>(tx, 'PRAGMA table_info(placement_event)'))
  const types: Record<string, string> = { INTEGER: 'bigint', TEXT: 'text', REAL: 'double precision' }
  const declared = columns.map(({ name, type }) => `${name} ${types[type]}`).join(', ')
  await client.query(`${schema}; CREATE TABLE placement_event (${declared})`)
  const insert = (table: string, rows: object[]) =>
    client.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`, [
      JSON.stringify(rows),
    ])
  await insert(
    'slot',
    work.read((tx) => allOf<object>(tx, 'SELECT id, zone_id FROM main.slot')),
  )
  for (let after = 0; after < events; after += copiedAtOnce) {
    const rows = work.read((tx) =>
      allOf<PlacementEventRow>(tx, 'SELECT * FROM main.placement_event WHERE id > +? AND id <= +?', [
        after,
        after + copiedAtOnce,
      ]),
    )
    await insert('placement_event', rows)
  }
  await client.query(indexes)
  await client.query('VACUUM ANALYZE placement_event')
}

async function compare(
  rooms: Rooms,
  { client, version }: Postgres,
  events: number,
  photoUrl: string,
): Promise<Figure[]> {
  const { work, floor, ledger } = rooms
  const read = work.read.bind(work)
  const one = (name: string, sql: string) => (n: number) =>
    client.query({ name, text: sql, values: [1 + ((n * 7919) % slots)] })
  const page = `SELECT * FROM placement_event ORDER BY timestamp_ms DESC, id DESC LIMIT 51`
  const questions = {
    'State of all slots': [
      () => read((tx) => slotStates(tx).size),
      () => client.query({ name: 'list', text: listSql }),
      rounds,
    ],
    Utilization: [
      () => floor.utilization(origin.caller, {}),
      () => client.query({ name: 'use', text: useSql }),
      rounds,
    ],
    'State of one slot': [
      (n: number) => read((tx) => slotState(tx, 1 + ((n * 7919) % slots))),
      one('one', `${listSql} AND s.id = $1`),
      commits,
    ],
    'Fifty events of the history': [
      () => pageOfHistory(rooms.work, {}, { hiddenWarehouses: [] }, { limit: 50, offset: 0 }),
      () => client.query({ name: 'page', text: page }),
      commits,
    ],
    'One event on disk': [
      (n: number) => ledger.record(turn(n, slots, photoUrl), { by: origin, claim: undefined, deviceTimeMs: undefined }),
      appender(rooms, client, events),
      commits,
    ],
  } as const
  const [ours, theirs] = [read((tx) => slotStates(tx).size), (await client.query(listSql)).rows.length]
  if (ours !== theirs) throw new Error(`${ours} slots are occupied here and ${theirs} in PostgreSQL`)
  const figures: Figure[] = []
  for (const [what, [here, there, times]] of Object.entries(questions)) {
    const taken = { here: [] as number[], there: [] as number[] }
    for (let n = 0; n < times; n += 1) {
      taken.here.push(await timedUntilDone(() => here(n)))
      taken.there.push(await timedUntilDone(() => there(n)))
    }
    const numbers = { oursMs: median(taken.here), postgresMs: median(taken.there) }
    figures.push({
      id: `postgres-${what.toLowerCase().replaceAll(' ', '-')}-${events}`,
      what: `${what}, against PostgreSQL ${version} (${thousands(events)} events)`,
      value: numbers.oursMs / numbers.postgresMs,
      unit: '×',
      raw: `${millis(numbers.oursMs)} against ${millis(numbers.postgresMs)}`,
      numbers,
    })
  }
  return figures
}

/** Event, leaf and audit entry in one transaction, three statements, each prepared: without any decision before them. */
function appender({ work }: Rooms, client: pg.Client, events: number): (n: number) => Promise<void> {
  const sample = work.read((tx) =>
    oneOf<PlacementEventRow>(tx, 'SELECT * FROM main.placement_event WHERE id = +?', [events]),
  )
  const leaf = work.read((tx) =>
    oneOf<{ bytes: Buffer; hash: Buffer }>(tx, 'SELECT bytes, hash FROM log_leaf WHERE seq = 1'),
  )
  if (!sample || !leaf) throw new Error('the event to go by is not there')
  const columns = Object.keys(sample)
  const insertEvent = `INSERT INTO placement_event (${columns.join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})`
  const insertLeaf = `INSERT INTO log_leaf VALUES ($1, 'placement', $2, $3, $4)`
  const insertEntry = `INSERT INTO audit_entry (timestamp_ms, action, entity, entity_id) VALUES ($1, 'placement.recorded', 'event', $2)`
  return async (n) => {
    const id = events + 1 + n
    const slot = 1 + (n % slots)
    const row = {
      ...sample,
      id,
      leaf_seq: id,
      event_id: `e-${id}`,
      slot_id: slot,
      asset_key: `k-${slot}`,
      timestamp_ms: Date.now(),
    }
    await client.query('BEGIN')
    await client.query({ name: 'leaf', text: insertLeaf, values: [id, String(id), leaf.bytes, leaf.hash] })
    await client.query({ name: 'event', text: insertEvent, values: Object.values(row) })
    await client.query({ name: 'entry', text: insertEntry, values: [row.timestamp_ms, String(id)] })
    await client.query('COMMIT')
  }
}
