import { join } from 'node:path'
import t from 'tap'
import { inBrowser, launchBrowser, open, signIn } from '../support/browser.ts'
import { type TestLog, testLog } from '../support/evidence/forge.ts'
import { askAs, continuation, headOffice, type Move, placements } from '../support/head-office.ts'
import { feedOf, feedPathOf, type HubOptions, type TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { screens } from '../support/screens.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const browser = await launchBrowser()
t.teardown(() => browser?.close())
const siteId = 'dc-9'

function boxOf(end: string, moves: readonly Move[]): TestLog {
  const logId = `0190a5c4-3c00-7000-8000-0000000009${end}`
  return testLog({ siteId, logId, leaves: placements({ siteId, logId, moves }) })
}

const old = boxOf('01', [
  ['08:00', 'PLACED', 1, 'P-50'],
  ['08:10', 'PLACED', 2, 'P-51'],
])
const replacement = boxOf('02', [['12:00', 'PLACED', 1, 'P-50']])

const feed = async (hub: TestHub, log: TestLog, token: string) =>
  (await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 0, log.leaves.length) })).status

async function enrolWith(hub: TestHub, code: string, { siteId, logId, signers }: TestLog): Promise<number> {
  const body = { code, siteId, name: siteId, timezone: 'UTC', logId, vkeys: signers.map((one) => one.vkey) }
  return (await hub.ask('POST', '/api/hub/v1/enrol', { body })).status
}

/** A head office that knows no box of dc-9. */
async function withNobody(t: { teardown(work: () => unknown): void }, options: HubOptions = {}) {
  const hub = await headOffice(t, postgres, options)
  const run = (...args: string[]) => runToEnd(gatehouse, ['hub', ...args, '--config', join(hub.folder, 'hub.yaml')])
  return { hub, run }
}

/** A head office with a box of dc-9 that joined at 7:00, and at 11:30 the one that replaced it. */
async function withBoth(t: { teardown(work: () => unknown): void }, options: HubOptions = {}) {
  const { hub, run } = await withNobody(t, options)
  hub.clock.setWall(Date.UTC(2026, 2, 2, 7))
  const oldToken = await hub.enrol(old)
  hub.clock.setWall(Date.UTC(2026, 2, 2, 11, 30))
  const tokens = { old: oldToken, new: await hub.enrol(replacement) }
  const statuses = [await feed(hub, old, tokens.old), await feed(hub, replacement, tokens.new)]
  if (statuses.some((status) => status !== 200)) throw new Error(`the feeds were answered with ${statuses}`)
  const slots = async (query = '') =>
    (await askAs(hub, `/api/hub/sites/${siteId}/slots${query}`)).body.data.map(
      (one: { slot: string; assetBarcode: string | null }) => `${one.slot} ${one.assetBarcode}`,
    )
  const siteNow = async () =>
    (await askAs(hub, '/api/hub/sites')).body.data.find((one: { siteId: string }) => one.siteId === siteId)
  return { hub, tokens, run, slots, siteNow }
}

t.test(
  'the log of a box that was replaced is retired by a command, and its pallets are nowhere any more',
  async (t) => {
    const { hub, tokens, run, slots, siteNow } = await withBoth(t)
    t.match(await siteNow(), { unendedLogs: [old.logId], problems: [{ kind: 'older-log', amount: 1 }] })
    const { code, stdout } = await run('retire', '--log', old.logId, '--reason', 'the box broke')
    t.same([code, stdout], [0, `site:    dc-9\nretired: log ${old.logId}\n`])
    const found = (await askAs(hub, '/api/hub/search?code=P-51')).body
    t.match(found.data, [{ siteId, slot: null, state: 'left' }])
    t.match(found.trail, [{ siteId, event_type: 'PLACED' }], 'its history stays')
    t.match((await askAs(hub, '/api/hub/search?code=P-50')).body.data, [{ slot: 'A-01', state: 'here' }])
    t.same(await slots(), ['A-01 P-50'])
    t.same(await slots('?at=2026-03-02T08:30:00Z'), ['A-01 P-50', 'A-02 P-51'], 'as it was at the time of the old box')
    t.same(
      await slots('?at=2026-03-02T13:00:00Z'),
      ['A-01 P-50'],
      'the new box had joined before the old one was retired',
    )
    t.equal(await feed(hub, old, tokens.old), 404)
    t.equal(await feed(hub, replacement, tokens.old), 200, 'tokens are of the site')
    t.match(await siteNow(), {
      state: 'live',
      logId: replacement.logId,
      openAlerts: 0,
      unendedLogs: { length: 0 },
      problems: { length: 0 },
    })
    const [note] = (await askAs(hub, '/api/hub/alerts')).body.data
    t.match(note, {
      type: 'log.retired',
      logId: old.logId,
      closedAt: /./,
      detail: { reason: 'the box broke', by: /./ },
    })
    t.match(await run('retire', '--log', old.logId), { code: 0, stdout: /nothing was left to end/ })
  },
)

t.test(
  'a log that continues one of which the head office never heard leaves the older one, and that is named',
  async (t) => {
    const { hub, run } = await withNobody(t)
    const token = await hub.enrol(old)
    t.equal(await feed(hub, old, token), 200)
    const [unknown, logId] = ['03', '04'].map((end) => old.logId.replace(/01$/, end)) as [string, string]
    const fork = { parentLogId: unknown, parentSize: 2, parentRoot: 'ab'.repeat(32) }
    const first = Buffer.from(JSON.stringify({ v: 2, kind: 'log-fork', siteId, logId, seq: 1, ...fork }))
    const joined = testLog({ siteId, logId, leaves: [first] })
    hub.clock.advance(60_000)
    const newToken = await hub.enrol(joined)
    const shown = async () => (await askAs(hub, '/api/hub/sites?q=dc-9')).body.data[0]
    t.match(await shown(), { unendedLogs: { length: 0 } }, 'a box that has just joined has said nothing yet')
    t.equal(await feed(hub, joined, newToken), 200)
    t.match(await shown(), { logId, unendedLogs: [old.logId], problems: [{ kind: 'older-log' }] })
    const file = (await askAs(hub, '/api/hub/sites?q=dc-9&format=csv')).text
    t.match(file, /,older-log,/)
    t.match(await run('retire', '--log', old.logId), { code: 0 })
    t.match(await shown(), { unendedLogs: { length: 0 }, problems: { length: 0 } })
  },
)

t.test(
  'the page names a log that still fills slots beside the newest one, with the command that ends it',
  inBrowser,
  async (t) => {
    const { hub, run } = await withBoth(t, { listens: true })
    const { page, faults } = await open(t, browser, hub.url, { ...screens.desktop, ignoreHTTPSErrors: true })
    await signIn(page, 'dora')
    await page.getByText('1 earlier log still fills slots').waitFor()
    await page.goto(`${hub.url}/sites/${siteId}`)
    const command = page.getByText(`gatehouse hub retire --log ${old.logId}`)
    await command.waitFor()
    t.match(await run('retire', '--log', old.logId), { code: 0 })
    await page.reload()
    await page.getByText('P-50').waitFor()
    t.equal(await command.count(), 0)
    t.same(faults, [])
  },
)

t.test('the alert of a box that has fewer entries than were seen ends when its log is retired', async (t) => {
  const { hub, tokens, run } = await withBoth(t)
  hub.clock.advance(60_000)
  const body = { checkpoint: old.checkpoint(1), from: 1, leaves: [] }
  t.equal((await hub.ask('POST', feedPathOf(old), { token: tokens.old, body })).status, 200)
  const behind = async () =>
    (await askAs(hub, '/api/hub/alerts')).body.data.filter(({ type }: { type: string }) => type === 'log.ahead')
  t.match(await behind(), [{ closedAt: null }])
  t.match(await run('retire', '--log', old.logId), { code: 0 })
  t.match(await behind(), [{ closedBy: 'head office' }])
})

t.test('a box whose log was retired by mistake goes on after it has joined anew', async (t) => {
  const { hub, run, slots } = await withBoth(t)
  await run('retire', '--log', replacement.logId)
  t.same(await slots(), ['A-01 P-50', 'A-02 P-51'])
  t.equal(await feed(hub, replacement, await hub.enrol(replacement)), 200)
  t.match(await run('retire', '--log', old.logId), { code: 0 })
  t.same(await slots(), ['A-01 P-50'])
})

t.test('a site that is closed is retired by a command: nothing is in its slots, and nobody feeds for it', async (t) => {
  const { hub, tokens, run, slots, siteNow } = await withBoth(t)
  const code = await hub.code(siteId)
  const done = await run('retire', '--site', siteId, '--json')
  t.match(JSON.parse(done.stdout), { siteId, logs: { length: 2 }, tokens: 2, codes: 1 })
  t.same(await slots(), [])
  t.match((await askAs(hub, '/api/hub/search?code=P-50')).body.data, [{ siteId, state: 'left' }])
  t.equal((await siteNow()).state, 'retired')
  t.equal(await feed(hub, replacement, tokens.new), 401)
  t.equal(await enrolWith(hub, code, old), 403, 'an unused code has ended')
  t.match(await run('retire', '--site', 'dc-99'), { code: 1, stderr: /Site/ })
  t.match(await run('retire'), { code: 2, stderr: /--site or --log/ })
  t.match(await run('retire', '--log', 'dc-9'), { code: 2, stderr: /number of a log/ })
})

t.test('the tokens of a site are revoked by a command, and nothing else changes', async (t) => {
  const { hub, tokens, run, slots } = await withBoth(t)
  t.match(await run('revoke', '--site', siteId, '--reason', 'stolen'), { code: 0, stdout: /revoked: 2 tokens/ })
  t.equal(await feed(hub, replacement, tokens.new), 401)
  t.same((await slots()).length > 0, true)
  t.match((await askAs(hub, '/api/hub/alerts')).body.data, [{ type: 'site.revoked', detail: { reason: 'stolen' } }])
  t.equal(await feed(hub, replacement, await hub.enrol(replacement)), 200, 'a new code lets it in again')
})

t.test('the code of a site that has not joined yet is ended by a command, too', async (t) => {
  for (const command of ['revoke', 'retire']) {
    const { hub, run } = await withNobody(t)
    const code = await hub.code(siteId)
    t.match(await run(command, '--site', siteId), { code: 0, stdout: /revoked: 0 tokens, 1 unused codes/ }, command)
    t.equal(await enrolWith(hub, code, old), 403)
    t.match(await run(command, '--site', siteId), { code: 1, stderr: /Site/ }, 'nothing is left of this site')
  }
})

t.test('a box whose log was retired does not come back by a restore before it has joined anew', async (t) => {
  const { hub, tokens, run, slots } = await withBoth(t)
  const restored = await continuation(hub, old, 1, old.logId.replace(/1$/, '3'), [['13:00', 'PLACED', 3, 'P-52']])
  await run('retire', '--log', old.logId)
  t.equal(await feed(hub, restored, tokens.old), 404)
  t.equal(await feed(hub, restored, tokens.old), 404, 'and so when it asks again')
  t.same(await slots(), ['A-01 P-50'])
  t.equal(await feed(hub, restored, await hub.enrol(restored)), 200)
  t.same(await slots(), ['A-01 P-50', 'A-03 P-52'])
})
