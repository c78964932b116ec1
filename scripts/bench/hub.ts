import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { loadHubConfig } from '../../src/config/index.ts'
import { HttpListener } from '../../src/http/index.ts'
import { AskService } from '../../src/hub/ask/service.ts'
import { composeHub, type Hub } from '../../src/hub/compose.ts'
import { StoredRoots } from '../../src/hub/feed/stored-tree.ts'
import { connectionOf, HubDatabase } from '../../src/hub/store/database.ts'
import { migrateHub } from '../../src/hub/store/migrate.ts'
import { leafHash, MerkleFrontier } from '../../src/log/index.ts'
import { silentLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { checkpointText, newSigner, noteOf } from '../../test/support/evidence/forge.ts'
import { cheapHash, signedIn } from '../../test/support/gateway.ts'
import { type Figure, millis, thousands } from './figure.ts'
import { Postgres, postgresBin } from './postgres.ts'
import { median, quantile, timedUntilDone } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/** Gateways that feed at once, and the feeds of each. */
const gateways = 40
const feedsEach = 6
const leavesOfFeed = 1024
/** More logs, smaller ones, so that a barcode is searched in 240 logs. */
const quietLogs = 200
const leavesOfQuiet = 256
/** Labels of pallets: each feeding gateway sends so many feeds with so many pallets each, as they arrive over a day. */
const labelFeedsEach = 40
const palletsOfFeed = 20
const palletsOfLot = 50
/** Fewer than an account may ask in a minute. */
const timedQuestions = 250
const warmUp = 20
export const questions = timedQuestions + warmUp
const firstMs = Date.UTC(2026, 0, 5)
const site = 'https://hub.example'

type Sender = {
  readonly logId: string
  readonly token: string
  readonly bodies: readonly Buffer[]
  /** The checkpoint over all of it. */
  readonly last: { readonly checkpoint: string; readonly size: number }
}

type HeadOffice = { readonly hub: Hub; readonly db: HubDatabase; readonly postgres: Postgres }

/** The head office: leaves a second at 40 gateways, a barcode over 240 logs, and bytes of disk a leaf and a labelled pallet. */
export function measureHub(workshop: Workshop): Promise<Figure[]> {
  return onHub(workshop, async ({ hub, db, postgres }) => {
    const fed = await feedAll(hub, postgres)
    await postgres.client.query('VACUUM ANALYZE')
    const codes = Array.from({ length: questions }, (_, n) => assetAt(n % gateways, 4 + ((n * 37) % 6000)))
    const asked = await askAll(hub, db, codes, { logs: gateways + quietLogs, leaves: fed.leaves })
    const disk = await diskOf(postgres, fed.leaves)
    return [...fed.figures, ...asked, disk, await labelledDiskOf(hub, postgres, fed.senders)]
  })
}

/** Measures at a head office with an empty PostgreSQL; nothing where none is installed. */
export async function onHub(workshop: Workshop, measure: (office: HeadOffice) => Promise<Figure[]>): Promise<Figure[]> {
  const bin = postgresBin()
  if (!bin) return []
  const postgres = await Postgres.start(workshop, bin)
  try {
    return await measureOn(workshop, postgres, measure)
  } finally {
    await postgres.stop()
  }
}

async function measureOn(
  workshop: Workshop,
  postgres: Postgres,
  measure: (office: HeadOffice) => Promise<Figure[]>,
): Promise<Figure[]> {
  const folder = workshop.newFolder('hub')
  const file = join(folder, 'hub.yaml')
  const users = [{ username: 'dora', role: 'viewer', secretHash: cheapHash('dora-secret') }]
  const url = `postgres://bench@/postgres?host=${postgres.client.host}`
  const hubSection = { database: { url } }
  writeFileSync(file, stringify({ site: { id: 'hub', url: site }, dataDir: 'state', auth: { users }, hub: hubSection }))
  const { config } = loadHubConfig(file)
  const connection = connectionOf(config.hub.database, 'owner')
  await migrateHub({ connection, engine: 'postgresql', appPassword: null, grows: false })
  const hub = await composeHub(config, { clock: systemClock, random: systemRandom, log: silentLogger() })
  const db = new HubDatabase({ connection, log: silentLogger() })
  try {
    return await measure({ hub, db, postgres })
  } finally {
    await db.close()
    await hub.close()
  }
}

type AllFed = { readonly figures: Figure[]; readonly leaves: number; readonly senders: readonly Sender[] }

async function feedAll(hub: Hub, postgres: Postgres): Promise<AllFed> {
  const senders: Sender[] = []
  for (let i = 0; i < gateways; i += 1) senders.push(await senderOf(hub, i, feedsEach, leavesOfFeed))
  const [before, storedBeforeMs] = [process.cpuUsage(), postgres.cpuMs()]
  const ms = await timedUntilDone(() => Promise.all(senders.map((sender) => sendAll(hub, sender))))
  const used = process.cpuUsage(before)
  const storedMs = postgres.cpuMs() - storedBeforeMs
  for (let i = 0; i < quietLogs; i += 1) await sendAll(hub, await senderOf(hub, gateways + i, 1, leavesOfQuiet))
  const leaves = gateways * feedsEach * leavesOfFeed
  const aSecond = leaves / (ms / 1000)
  return {
    senders,
    leaves: leaves + quietLogs * leavesOfQuiet,
    figures: [
      {
        id: 'hub-feed',
        what: `Leaves a second into the head office: ${gateways} gateways at once, signatures, hashes and roots checked`,
        value: aSecond,
        unit: 'a second',
        target: { limit: 20_000, sense: 'at least' },
        raw: `${thousands(leaves)} leaves in ${millis(ms)}, ${leavesOfFeed} a transaction, fsync on; the gateways are in the same process`,
        numbers: { leaves, ms },
      },
      cpuFigure(leaves, (used.user + used.system) / 1000, storedMs),
    ],
  }
}

/** A figure that is valid even while the machine does other work. */
function cpuFigure(leaves: number, officeMs: number, databaseMs: number): Figure {
  const each = (ms: number) => (ms * 1000) / leaves
  return {
    ...{ id: 'hub-feed-cpu', value: each(officeMs + databaseMs), unit: 'µs' },
    what: 'CPU time of a leaf into the head office, with its PostgreSQL',
    raw: `head office ${each(officeMs).toFixed(1)} µs, PostgreSQL ${each(databaseMs).toFixed(1)} µs`,
    numbers: { officeMs, databaseMs, leaves },
  }
}

async function sendAll(hub: Hub, { logId, token, bodies }: Sender): Promise<void> {
  for (const body of bodies) {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
    for (;;) {
      const answer = await hub.api.request(`/api/hub/v1/logs/${logId}/feed`, { method: 'POST', headers, body })
      if (answer.status === 200) break
      // More feeds at once than it takes: as a gateway does, again.
      if (answer.status !== 503) throw new Error(`the head office answers ${answer.status}: ${await answer.text()}`)
    }
  }
}

async function senderOf(hub: Hub, i: number, feeds: number, leavesEach: number): Promise<Sender> {
  const siteId = `dc-${i}`
  const logId = `0190a5c4-3c00-7000-8000-${String(i).padStart(12, '0')}`
  const origin = `gatehouse/${siteId}/${logId}`
  const signers = [newSigner(origin, 1), newSigner(origin, 6)]
  const { code } = await hub.enrolments.makeCode({ siteId, name: siteId }, '')
  const { token } = await hub.enrolments.enrol({
    ...{ code, siteId, name: siteId, timezone: 'UTC', logId },
    vkeys: signers.map(({ vkey }) => vkey),
  })
  const tree = MerkleFrontier.from(0, Buffer.alloc(0))
  let checkpoint = ''
  const bodies = Array.from({ length: feeds }, (_, feed) => {
    const from = feed * leavesEach
    const leaves = Array.from({ length: leavesEach }, (_, n) => leafAt({ i, siteId, logId, seq: from + n + 1 }))
    for (const leaf of leaves) tree.append(leafHash(leaf))
    checkpoint = noteOf(checkpointText(origin, tree.size, tree.root()), signers)
    return gzipSync(JSON.stringify({ checkpoint, from, leaves: leaves.map((leaf) => leaf.toString('base64')) }), {
      level: 1,
    })
  })
  return { logId, token, bodies, last: { checkpoint, size: tree.size } }
}

type Place = { readonly i: number; readonly siteId: string; readonly logId: string; readonly seq: number }

/** Each pallet is placed, verified, moved and taken out; every tenth has been at the site before. */
const assetAt = (i: number, seq: number) =>
  `${(seq >> 2) % 10 === 0 ? 'shared' : `s${i}`}-${String(seq >> 2).padStart(12, '0')}`

function leafAt({ i, siteId, logId, seq }: Place): Buffer {
  const timestamp = new Date(firstMs + seq * 17_000 + i).toISOString()
  const hash = () => createHash('sha256').update(randomBytes(16)).digest('hex')
  const eventType = (['PLACED', 'VERIFIED', 'REMOVED', 'PLACED'] as const)[seq & 3] ?? 'PLACED'
  const slotId = 1 + ((seq * 7) % 10_000)
  const what = { eventType, slotId, slotCode: `A-${slotId}`, assetBarcode: assetAt(i, seq), assetKey: assetAt(i, seq) }
  return Buffer.from(
    JSON.stringify({
      ...{ v: 2, kind: 'placement', siteId, logId, seq, eventId: randomUUID(), id: seq, ...what },
      ...{ operator: hash(), actor: hash(), timestamp, deviceTimestamp: timestamp, receivedAt: timestamp },
      ...{ clockOffsetMs: 12, timeQuality: 'synced', photoUrl: `/photos/${hash()}.jpg`, photoSha256: hash() },
      ...{ photoEvidence: 'held', photoTakenAt: timestamp, warnings: [] },
    }),
  )
}

type Asked = { readonly logs: number; readonly leaves: number }

export const serviceOf = (hub: Hub, db: HubDatabase) =>
  new AskService({
    ...{ db, roots: new StoredRoots(), clock: systemClock, openings: 'never', vkey: hub.witness.vkey, regions: {} },
    offerFor: async () => undefined,
  })

/** Looks for these barcodes, by the service and over HTTP. */
export async function askAll(hub: Hub, db: HubDatabase, codes: readonly string[], of: Asked): Promise<Figure[]> {
  const asks = serviceOf(hub, db)
  const listener = new HttpListener({ host: '127.0.0.1', port: 0, tls: null }, hub.api)
  const port = await listener.start()
  const headers = signedIn({ username: 'dora', role: 'viewer' }, { 'X-Storage-Instance': site })
  const get = async (code: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/hub/search?code=${code}`, { headers })
    const { data } = (await answer.json()) as { data?: unknown[] }
    if (!data || data.length === 0) throw new Error(`the head office does not find ${code}: ${answer.status}`)
  }
  try {
    const sql = await timesOf(codes, (code) => asks.search(code, null, null))
    const http = await timesOf(codes, get)
    return [figureOf('hub-search', 'in SQL', sql, 2, of), figureOf('hub-search-http', 'over HTTP', http, 10, of)]
  } finally {
    await listener.stop()
  }
}

export async function timesOf(codes: readonly string[], ask: (code: string) => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (const code of codes) times.push(await timedUntilDone(() => ask(code)))
  return times.slice(warmUp)
}

function figureOf(id: string, how: string, times: readonly number[], limit: number, { logs, leaves }: Asked): Figure {
  const [p50, p95] = [median(times), quantile(times, 0.95)]
  return {
    ...{ id, value: p95, unit: 'ms', target: { limit, sense: 'at most' } },
    what: `A barcode over ${logs} logs, where and its trail, ${how}, 95th percentile`,
    raw: `${thousands(leaves)} leaves; half within ${millis(p50)}`,
    numbers: { p50Ms: p50, p95Ms: p95, leaves },
  }
}

/** Sends the labels of pallets, some of each gateway at a time, and measures the size of their table. */
async function labelledDiskOf(hub: Hub, { client }: Postgres, senders: readonly Sender[]): Promise<Figure> {
  await Promise.all(senders.map((sender, i) => sendAll(hub, { ...sender, bodies: labelsOf(sender, i) })))
  await client.query('VACUUM ANALYZE asset')
  const { rows } = await client.query<{ pallets: number; heap: number; indexes: number }>(
    `SELECT (SELECT count(*)::int FROM asset) AS pallets, pg_table_size('asset')::float8 AS heap, pg_indexes_size('asset')::float8 AS indexes`,
  )
  const { pallets = 0, heap = 0, indexes = 0 } = rows[0] ?? {}
  const [table, index] = [heap / pallets, indexes / pallets]
  return {
    ...{ id: 'hub-labels-disk', value: table + index, unit: 'bytes', target: { limit: 350, sense: 'at most' } },
    what: 'Disk of the head office for what is printed on a pallet',
    raw: `table ${Math.round(table)}, indexes ${Math.round(index)}; ${thousands(pallets)} pallets with SSCC, GTIN, lot and day, ${palletsOfFeed} of a site at a time`,
    numbers: { tableBytes: table, indexBytes: index, pallets },
  }
}

/** Feeds without leaves that bring the labels of the pallets of a gateway. */
function labelsOf({ last }: Sender, i: number): Buffer[] {
  return Array.from({ length: labelFeedsEach }, (_, feed) => {
    const assets = Array.from({ length: palletsOfFeed }, (_, n) => {
      const nth = feed * palletsOfFeed + n
      const number = String(i * labelFeedsEach * palletsOfFeed + nth).padStart(8, '0')
      return {
        ...{ key: assetAt(i, nth * 4), sscc: `0952012345${number}`, gtin: gtinOf(i % 7) },
        ...{ lot: `L-${i}-${Math.floor(nth / palletsOfLot)}`, bestBefore: '2026-09-30' },
      }
    })
    const snapshot = { version: feed + 1, assets }
    const body = { checkpoint: last.checkpoint, from: last.size, leaves: [], snapshot }
    return gzipSync(JSON.stringify(body), { level: 1 })
  })
}

/** A GTIN of 14 digits with the right check digit. */
function gtinOf(item: number): string {
  const digits = `095210000${String(item).padStart(4, '0')}`
  const sum = [...digits].reduce((all, digit, at) => all + Number(digit) * (at % 2 === 0 ? 3 : 1), 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

async function diskOf({ client }: Postgres, leaves: number): Promise<Figure> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid)::text AS bytes FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = 'public' ORDER BY 2 DESC`,
  )
  const sizes = rows.map(({ name, bytes }) => ({ name, each: Number(bytes) / leaves }))
  const each = sizes.reduce((sum, one) => sum + one.each, 0)
  const largest = sizes.filter((one) => one.each >= 1).toSorted((one, other) => other.each - one.each)
  const parts = largest.map((one) => `${one.name} ${Math.round(one.each)}`)
  return {
    ...{ id: 'hub-disk', value: each, unit: 'bytes', target: { limit: 700, sense: 'at most' } },
    what: 'Disk of the head office for a leaf, tables and indexes',
    raw: `${parts.join(', ')}; ${thousands(leaves)} leaves, without what is printed on assets`,
    numbers: { ...Object.fromEntries(largest.map((one) => [`${one.name}Bytes`, one.each])), leaves },
  }
}
