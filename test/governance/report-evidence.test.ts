import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { gapCauses } from '../../src/cameras/watch.ts'
import { databaseFile } from '../../src/database/index.ts'
import { contradictions } from '../../src/governance/event-tally.ts'
import { reportPageTexts } from '../../src/governance/report-page-texts.ts'
import { clockStates } from '../../src/platform/index.ts'
import { plainWords } from '../../src/video/problems.ts'
import { openCheckpoint } from '../support/evidence/checkpoint.ts'
import { newSigner } from '../support/evidence/forge.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { referenceWitness } from '../support/evidence/witness.ts'
import { startWitnessServer } from '../support/evidence/witness-server.ts'
import { furnish, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

const path = '/api/governance/reports'
/** The day of the simulated clock; it begins at 08:00. */
const day = { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' }
const generate = (gateway: TestGateway) => gateway.ask('POST', path, { by: people.sven, body: day })

/** Records removals, which need no photo, a second apart. */
async function record(gateway: TestGateway, ...barcodes: string[]): Promise<void> {
  for (const asset_barcode of barcodes) {
    const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode }
    t.equal((await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })).status, 201)
    gateway.clock.advance(1000)
  }
}

async function hall(t: Test, config: Record<string, unknown> = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  return gateway
}

t.test('a checkpoint is signed for each report, so that all that it counts is covered by a signature', async (t) => {
  const gateway = await hall(t)
  await record(gateway, 'P-1', 'P-2')
  const { status, body } = await generate(gateway)
  t.equal(status, 201)
  const { evidence } = body
  t.match(evidence, {
    events: { recorded: 0, signed: 2, witnessed: 0, timestamped: 0 },
    oldestUnsigned: null,
    asksWitnesses: false,
    logs: [{ logId: gateway.logIdentity.logId, leaves: 2, signed: 2, witnessed: 0, timestamped: 0 }],
    checkpoint: {
      size: 2,
      signedAt: '2026-03-02T08:00:02.000Z',
      matches: true,
      witnesses: { length: 0 },
      timestampedAt: null,
    },
  })
  const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  const signed = openCheckpoint(evidence.checkpoint.note, [parseVkey(logKey)])
  t.equal(signed.size, 2)
  t.equal(signed.root.toString('hex'), body.checkpoint.root)
  t.equal(evidence.checkpoint.rootHash, signed.root.toString('base64'))
  const file = (await gateway.ask('GET', `${path}/1/file`, { by: people.sven })).body
  const { witnesses: _, timestampedAt: __, ...filed } = evidence.checkpoint
  t.strictSame(file.evidence.checkpoint, filed, 'what comes later is not in the file')
  await record(gateway, 'P-3')
  t.match((await generate(gateway)).body.evidence, { events: { signed: 3 }, checkpoint: { size: 4 } })
})

t.test(
  'a report on a ledger that may not be signed says so, and names the oldest event without a signature',
  async (t) => {
    const gateway = await hall(t)
    await record(gateway, 'P-1', 'P-2')
    const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
    db.pragma('foreign_keys = OFF')
    for (const { name } of db
      .prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'log_leaf'")
      .all() as {
      name: string
    }[])
      db.exec(`DROP TRIGGER ${name}`)
    db.prepare(
      "UPDATE log_leaf SET bytes = cast(replace(cast(bytes AS TEXT), 'P-2', 'P-9') AS BLOB) WHERE seq = 2",
    ).run()
    db.close()
    const { status, body } = await generate(gateway)
    t.equal(status, 201)
    t.match(body.evidence, {
      events: { recorded: 2, signed: 0 },
      oldestUnsigned: { eventId: 1, seq: 1, timestamp: '2026-03-02T08:00:00.000Z' },
      checkpoint: null,
    })
    const { text } = await gateway.ask('GET', `${path}/1?format=html`, { by: people.sven })
    t.match(text, 'No checkpoint could be signed for this report')
    t.match(text, 'event 1 of 2 Mar 2026, 09:00:00 CET')
  },
)

t.test(
  'events that a witness has cosigned are counted as witnessed, and the report gains witnesses later',
  async (t) => {
    const signer = newSigner('witness.example/w1', 4)
    const server = await startWitnessServer(t, () => 'drop')
    const { name, vkey } = signer
    const gateway = await hall(t, { evidence: { witnesses: [{ name, vkey, url: server.url, caFile: server.caFile }] } })
    t.teardown(() => gateway.witnesses.stop())
    const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
    const witness = referenceWitness({ logs: [logKey], signers: [signer], nowSeconds: () => 1_772_438_700n })
    server.answer((body) => witness.addCheckpoint(body))
    gateway.witnesses.start()
    await record(gateway, 'P-1', 'P-2')
    await gateway.checkpoints.make()
    await gateway.witnesses.settled()
    await record(gateway, 'P-3')
    const { body } = await generate(gateway)
    t.match(body.evidence, {
      asksWitnesses: true,
      events: { recorded: 0, signed: 1, witnessed: 2, timestamped: 0 },
      logs: [{ leaves: 3, signed: 3, witnessed: 2 }],
    })
    await gateway.witnesses.settled()
    const again = (await gateway.ask('GET', `${path}/1`, { by: people.sven })).body.evidence
    t.match(again.checkpoint.witnesses, [{ name, at: '2026-03-02T08:05:00.000Z' }])
    t.match(again.events, { signed: 1, witnessed: 2 }, 'the file keeps what it said')
  },
)

const camera = { name: 'Dock', url: 'rtsp://192.0.2.7/main', owner: 'vera' }

/** Camera 7 was away for 60 s and again for 10 s; camera 8, which sven may not see, has been away for 100 s. */
async function darkHall(t: Test): Promise<TestGateway> {
  const cameras = [
    { id: 7, ...camera },
    { id: 8, ...camera, url: 'rtsp://192.0.2.8/main' },
  ]
  const gateway = await hall(t, { cameras })
  gateway.cameras.threadStarted()
  const say = async (cameraId: number, problem: 'closed' | 'frozen' | null) => {
    const words = problem && plainWords(problem)
    const state = problem ? ('backing-off' as const) : ('live' as const)
    gateway.cameras.heard({ type: 'state', cameraId, at: gateway.clock.now(), state, problem, words, pictureAgoMs: 0 })
    for (const _ of [1, 2, 3]) await gateway.audit('test.settled', {})
  }
  const steps = [
    [7, null, 0],
    [8, null, 100],
    [7, 'closed', 60],
    [7, null, 30],
    [7, 'frozen', 10],
    [7, null, 90],
    [8, 'closed', 100],
  ] as const
  for (const [id, problem, seconds] of steps) {
    await say(id, problem)
    gateway.clock.advance(seconds * 1000)
  }
  return gateway
}

t.test('a report counts the camera gaps of its period by cause, and those that go on', async (t) => {
  const gateway = await darkHall(t)
  const { body } = await generate(gateway)
  t.strictSame(body.gaps, {
    count: 3,
    seconds: 170,
    byCause: { offline: { count: 2, seconds: 160 }, stalled: { count: 1, seconds: 10 } },
    longest: { from: '2026-03-02T08:04:50.000Z', to: null, cause: 'offline', seconds: 100 },
    lasting: [{ from: '2026-03-02T08:04:50.000Z', cause: 'offline' }],
  })
  const march3 = { from: day.to, to: '2026-03-04T00:00:00Z' }
  const later = await gateway.ask('POST', path, { by: people.sven, body: march3 })
  t.match(later.body.gaps, { count: 0, longest: null }, 'time to come is no gap')
})

t.test('a page of a time of which the gateway has no record says that, and calls nothing good', async (t) => {
  const gateway = await darkHall(t)
  const pageOf = async (from: string, to: string) => {
    const { body } = await gateway.ask('POST', path, { by: people.sven, body: { from, to } })
    return (await gateway.ask('GET', `${path}/${body.id}?format=html`, { by: people.sven })).text
  }
  const [before, after] = [
    await pageOf('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'),
    await pageOf(day.to, '2026-03-04T00:00:00Z'),
  ]
  for (const page of [before, after]) {
    t.match(page, 'Nothing is known of the cameras in this period: the gateway has no record of that time.')
    t.match(page, 'Nothing is known of the clock in this period: the gateway has no record of that time.')
    t.notMatch(page, /No camera had a gap|did not run|was not set/)
    t.equal(page.split('<strong>–</strong>').length - 1, 2, 'neither gaps nor steps are counted')
  }
  await gateway.clockBook.look()
  const begun = await pageOf(day.from, day.to)
  t.match(
    begun,
    'Nothing is known of the time before 2 Mar 2026, 09:06:30 CET: there the record of the gateway begins.',
  )
  t.match(begun, '3 times a camera did not watch')
})

t.test(
  'the page of a report is in German for who wants it, with times of the hall, and the report is the same',
  async (t) => {
    const gateway = await darkHall(t)
    await record(gateway, 'P-1', 'P-2')
    await generate(gateway)
    const file = async () => (await gateway.ask('GET', `${path}/1/file`, { by: people.sven })).text
    const before = await file()
    const ask = (query: string, languages?: string) =>
      gateway.api.request(`${path}/1?format=html${query}`, {
        headers: signedIn(people.sven, languages ? { 'Accept-Language': languages } : {}),
      })
    const page = await ask('&language=de')
    t.equal(page.headers.get('content-language'), 'de')
    const text = await page.text()
    t.match(text, '<html lang="de">')
    t.match(text, 'Compliance-Bericht 1')
    t.match(text, 'Von 2. März 2026, 01:00:00 MEZ bis vor 3. März 2026, 01:00:00 MEZ')
    t.match(text, '3-mal sah eine Kamera nicht zu, zusammen 2 Min. 52 s, über alle Kameras.')
    t.match(text, '<th scope="row">Kamera offline</th>')
    t.match(text, '<td>der Stellplatz war frei</td>')
    const said = text.replaceAll(/<(style|code|pre)>[\s\S]*?<\/\1>/g, '')
    t.notMatch(said, /\b(?:the|of|with|and|recorded|placed|gateway was)\b/i, 'nothing is English')
    const texts = [await ask('', 'de-AT,en;q=0.5'), await ask('&language=en', 'de')]
    t.equal(await texts[0]?.text(), text)
    t.match(texts[0]?.headers.get('vary'), /Accept-Language/)
    t.match(await texts[1]?.text(), 'Compliance report 1')
    t.equal((await ask('&language=fr')).status, 400)
    t.equal(await file(), before)
  },
)

t.test('the page of a report has words in both languages for all that a report may name', (t) => {
  const words = Object.values(reportPageTexts)
  for (const { gaps, clock, discrepancies } of words) {
    t.same(Object.keys(gaps.causes).toSorted(), [...gapCauses].toSorted())
    t.same(Object.keys(clock.states).toSorted(), [...clockStates, 'stopped'].toSorted())
    t.same(Object.keys(discrepancies.codes).toSorted(), [...contradictions, 'DISPUTED'].toSorted())
  }
  t.end()
})

t.test('a report is a page to print, which runs and loads nothing', async (t) => {
  const gateway = await darkHall(t)
  const name = `Hall <script>alert(1)</script> & "Co"`
  await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: { name, timezone: 'America/New_York' } })
  await record(gateway, '<b>P-1</b>')
  await generate(gateway)
  const ask = (accept: string | undefined, query = '') =>
    gateway.api.request(`${path}/1${query}`, { headers: signedIn(people.sven, accept ? { Accept: accept } : {}) })
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const page = await ask(browser)
  t.match(page.headers.get('content-type'), /^text\/html/)
  t.match(page.headers.get('vary'), /Accept/)
  t.match(page.headers.get('content-security-policy'), /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}';/)
  const text = await page.text()
  t.notMatch(text, /<script|<b>P-1| style=| on\w+=|src=|href=/i)
  t.match(text, 'Hall &#60;script&#62;alert(1)&#60;/script&#62; &#38; &#34;Co&#34;')
  t.match(text, '&#60;b&#62;P-1&#60;/b&#62;')
  t.match(text, 'Times are in the zone Europe/Berlin, that of the first warehouse.')
  t.match(text, 'From 2 Mar 2026, 01:00:00 CET to before 3 Mar 2026, 01:00:00 CET')
  t.match(text, 'Every event of this period is covered by a signed checkpoint.')
  t.match(text, '3 times a camera did not watch, 2 min 51 s together, over all cameras.')
  t.equal(await (await ask(undefined, '?format=html')).text(), text)
  for (const [accept, query] of [
    [undefined, ''],
    ['application/json', ''],
    ['*/*', ''],
    [`${browser},application/json`, ''],
    [browser, '?format=json'],
  ] as const) {
    t.match((await ask(accept, query)).headers.get('content-type'), /^application\/json/, `${accept} ${query}`)
  }
})
