import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openRooms, siteId } from '../../scripts/bench/rooms.ts'
import { furnish, History, keepPhoto } from '../../scripts/bench/seed.ts'
import { databaseFile } from '../../src/database/index.ts'
import { bulkCamera, makeBulkRows } from '../support/bulk-rows.ts'
import { everyRead, type Span } from '../support/every-read.ts'
import { people, signedIn, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { noteReads, stepsOf } from '../support/statements.ts'

const events = 20_000
const slots = 3500
const pallets = 3000
/** Number of rows of every other kind: units, readings, detections, deliveries, incidents, reports, alerts. */
const others = 25_000

/**
 * Limit of SQLite steps for one turn of the event loop: some 5 ms. A row takes 5 to 40 steps. A read of the whole ledger,
 * all slots or all assets of this hall at once is far above the limit. Slices are far below.
 */
const mostSteps = 100_000

/** A hall with a history takes a busy machine a while. */
t.setTimeout(450_000)

/** A hall with a history, in two warehouses. */
async function makeHall(folder: string): Promise<Span> {
  const fromMs = Date.UTC(2026, 2, 1)
  const clock = new SimulatedClock(fromMs)
  const rooms = openRooms(join(folder, 'state'), clock)
  rooms.db.pragma('synchronous = OFF')
  await furnish(rooms, slots, pallets, 2)
  const history = new History({ rooms, clock, slots, pallets, photoUrl: await keepPhoto(rooms) })
  await history.growTo(500)
  history.fillTo(rooms, events)
  rooms.close()
  return { fromMs, toMs: clock.now(), events }
}

/** Returns the headers of a handheld that may see only the first warehouse. */
async function deviceHeaders(gateway: TestGateway): Promise<Record<string, string>> {
  const device = { name: 'handheld-7', kind: 'handheld', role: 'operator', warehouseIds: [1] }
  const made = await gateway.ask('POST', '/api/devices', { by: people.ada, body: device })
  const { body } = await gateway.ask('POST', '/api/devices/enrol', { body: { code: made.body.enrolment.code } })
  return {
    Authorization: `Bearer ${body.secret}`,
    'X-Storage-Instance': siteUrl,
    'X-Storage-Username': 'handheld-7',
  }
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-slices-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const span = await makeHall(folder)
const options = {
  folder,
  clock: new SimulatedClock(span.toMs + 3_600_000),
  config: {
    site: { id: siteId, url: siteUrl },
    warehouses: [{ id: 2, viewers: ['ada'] }],
    cameras: [bulkCamera],
  },
}
const before = await testGateway(options)
await before.checkpoints.make()
await before.jobs.stop()
await makeBulkRows(before, others, span)
before.close()
const reads = noteReads()
const gateway = await testGateway(options)
t.teardown(() => {
  gateway.close()
  reads.stop()
})
const { body: description } = await gateway.ask('GET', '/api/openapi', { by: people.ada })
const paths = everyRead(description, span)
const admin = ['admin', signedIn(people.ada)] as const
const ofOneWarehouse = [
  ['supervisor of one warehouse', signedIn(people.sven)],
  ['device of one warehouse', await deviceHeaders(gateway)],
] as const
const withSqlite = needs('sqlite3')
/** Steps of each statement, once they are counted. */
const known = new Map<string, number>()

/** Returns the turns over the limit, with their longest statement. */
function tooLong(turns: readonly { what: string; statements: readonly string[] }[]): Record<string, string> {
  const fresh = [...new Set(turns.flatMap(({ statements }) => statements))].filter((sql) => !known.has(sql))
  const counted = stepsOf(databaseFile(join(folder, 'state')), fresh)
  for (const [i, sql] of fresh.entries()) known.set(sql, counted[i] ?? 0)
  const steps = (sql: string) => known.get(sql) ?? 0
  return Object.fromEntries(
    turns.flatMap(({ what, statements }): [string, string][] => {
      const all = statements.reduce((sum, sql) => sum + steps(sql), 0)
      const longest = statements.toSorted((a, b) => steps(b) - steps(a))[0] ?? ''
      const words = `${all} steps, ${statements.length} statements, the longest ${steps(longest)}: ${longest}`
      return all > mostSteps ? [[what, words]] : []
    }),
  )
}

/** Asks for each path as an admin and as somebody of one warehouse. */
const bothWays = (area: string) =>
  paths.flatMap((path, i) =>
    areaOf(path) === area
      ? [admin, ofOneWarehouse[i % 2] ?? admin].map(([who, headers]) => ({ path, who, headers }))
      : [],
  )

let looked = 0
const areaOf = (path: string) =>
  path
    .split(/[/?]/)
    .slice(0, path.startsWith('/api/whms') ? 4 : 3)
    .join('/')
for (const area of new Set(paths.map(areaOf)))
  t.test(
    `no read of ${area} looks at more rows in one turn than a slice has, whoever asks and however`,
    withSqlite,
    async (t) => {
      const turns: { what: string; statements: readonly string[] }[] = []
      for (const [i, path] of paths.entries()) {
        if (areaOf(path) !== area) continue
        // The same statements restrict both to their warehouse.
        for (const [who, headers] of [admin, ofOneWarehouse[i % 2] ?? admin]) {
          reads.taken()
          const answer = await gateway.ask('GET', path, { headers })
          const isAway = answer.status === 503 && /\/cctv\/\d+\/snapshot/.test(path) // the camera of the hall gives no picture
          t.ok(isAway || answer.status < 500, `${path} (${who}): ${answer.status}`)
          for (const { statements } of reads.taken()) turns.push({ what: `${path} (${who})`, statements })
        }
      }
      looked += turns.length
      t.strictSame(tooLong(turns), {}, `no turn takes more than ${mostSteps} steps`)
    },
  )

for (const area of new Set(paths.map(areaOf)))
  t.test(`all reads of ${area} at once take one slice in a turn`, withSqlite, async (t) => {
    const asked = bothWays(area)
    reads.taken()
    const answers = asked.map(({ path, headers }) => gateway.ask('GET', path, { headers }))
    for (const [i, { status }] of (await Promise.all(answers)).entries())
      t.ok(status < 500 || status === 503, `${asked[i]?.path}: ${status}`)
    const turns = reads.taken().map(({ statements }) => ({ what: `${asked.length} reads`, statements }))
    t.strictSame(tooLong(turns), {}, `no turn takes more than ${mostSteps} steps`)
  })

t.test('neither does the list of all slots that is kept packed, the first time and the next', withSqlite, async (t) => {
  const turns: { what: string; statements: readonly string[] }[] = []
  for (const [who, headers] of [admin, ...ofOneWarehouse, admin]) {
    // The change makes the cached answer stale.
    await gateway.ask('PUT', '/api/whms/slots/1', {
      by: people.ada,
      body: { constraints: { max_weight: 1 + turns.length } },
    })
    reads.taken()
    const answer = await gateway.api.request('/api/whms/slots', { headers: { ...headers, 'Accept-Encoding': 'gzip' } })
    t.equal(answer.headers.get('content-encoding'), 'gzip')
    for (const { statements } of reads.taken()) turns.push({ what: who, statements })
  }
  t.ok(turns.length > 20, `${turns.length} turns`)
  t.strictSame(tooLong(turns), {}, `no turn takes more than ${mostSteps} steps`)
})

t.test('all of these reads were noted', withSqlite, (t) => {
  t.ok(looked > paths.length, `${looked} turns of ${paths.length} reads`)
  t.end()
})

for (const list of ['/api/iot/detection-events', '/api/webhooks/17/deliveries'])
  t.test(`a page of ${list} over many slices is whole`, async (t) => {
    const page = async (query: string) => {
      const { body } = await gateway.ask('GET', `${list}?limit=3&offset=5000${query}`, { by: people.ada })
      t.match(body.pagination, { hasMore: true, total: null }, query)
      return body.data.map(({ seq }: { seq: number }) => seq)
    }
    const [first = 0] = await page('&after_seq=0')
    t.strictSame(await page('&after_seq=0'), [first, first + 1, first + 2])
    const [newest = 0] = await page('')
    t.strictSame(await page(''), [newest, newest - 1, newest - 2], 'newest first')
  })
