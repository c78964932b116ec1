import t from 'tap'
import { formatAddCheckpoint } from '../support/evidence/checkpoint.ts'
import { type TestLog, testLog } from '../support/evidence/forge.ts'
import { askAs, continuation, headOffice } from '../support/head-office.ts'
import { feedOf, feedPathOf, type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const [siteId, logId] = ['dc-9', '0190a5c4-3c00-7000-8000-000000000099']
const minuteMs = 60_000

/** As a box that was restored asks: where to go on, under a checkpoint over all that it has. */
const ask = (hub: TestHub, token: string, log: TestLog, size: number) =>
  hub.ask('POST', feedPathOf(log), { token, body: { checkpoint: log.checkpoint(size), from: size, leaves: [] } })

const send = (hub: TestHub, token: string, log: TestLog, from: number, end: number) =>
  hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end) })

const alertsOf = async (hub: TestHub) =>
  (await askAs(hub, '/api/hub/alerts')).body.data.filter(({ type }: { type: string }) => type === 'log.ahead')

/** A site with so many leaves at the head office. */
async function fed(t: Parameters<typeof headOffice>[0], size: number) {
  const hub = await headOffice(t, postgres)
  const log = testLog({ siteId, logId, size: 40 })
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, size)
  return { hub, log, token }
}

t.test('a box that was restored behind what the head office has seen raises an alert there', async (t) => {
  const { hub, log, token } = await fed(t, 30)
  hub.clock.advance(minuteMs)
  t.match(await ask(hub, token, log, 20), { status: 200, body: { size: 30 } })
  t.match(await alertsOf(hub), [
    { siteId, severity: 'critical', closedAt: null, detail: { siteId, size: 20, seen: 30 } },
  ])
  hub.clock.advance(60 * minuteMs)
  await ask(hub, token, log, 21)
  t.equal((await alertsOf(hub)).length, 1, 'the next attempts tell nothing new')
  const site = (await askAs(hub, '/api/hub/sites')).body.data.find((one: { siteId: string }) => one.siteId === siteId)
  t.equal(site.openAlerts, 1)
})

const hours = (n: number) => n * 60 * minuteMs

t.test('two boxes that feed one log, one of them behind, are one alert that stays open', async (t) => {
  const { hub, log, token } = await fed(t, 30)
  hub.clock.advance(minuteMs)
  await ask(hub, token, log, 20)
  const [{ openedAt }] = await alertsOf(hub)
  for (const end of [31, 32, 33, 34]) {
    hub.clock.advance(hours(1))
    t.equal((await send(hub, token, log, end - 1, end)).status, 200, 'the box that goes on')
    t.match(await alertsOf(hub), [{ closedAt: null, openedAt }])
    t.equal((await ask(hub, token, log, 20)).status, 200, 'and then the other one again')
    t.match(await alertsOf(hub), [{ id: 'log.ahead', closedAt: null, openedAt, detail: { size: 20, seen: end } }])
  }
  hub.clock.advance(hours(2))
  await send(hub, token, log, 34, 35)
  t.match(await alertsOf(hub), [{ closedAt: null }], 'two hours ago there still were both')
  hub.clock.advance(11 * minuteMs)
  await send(hub, token, log, 35, 36)
  t.match(await alertsOf(hub), [{ closedBy: 'head office' }], 'nobody has asked from behind since')
  await ask(hub, token, log, 20)
  hub.clock.advance(minuteMs)
  await ask(hub, token, log, 20)
  t.match(await alertsOf(hub), [{ closedAt: null, closedBy: null }], 'the other box is back')
})

t.test('a box that feeds all the time does not hide another one that is behind', async (t) => {
  const { hub, log, token } = await fed(t, 30)
  for (let end = 31; end <= 35; end += 1) {
    hub.clock.advance(minuteMs / 3)
    await send(hub, token, log, end - 1, end)
    await ask(hub, token, log, 20)
  }
  t.match(await alertsOf(hub), [{ closedAt: null, detail: { size: 20, seen: 35 } }])
})

t.test(
  'an alert that a person closed stays closed while the box asks on, and opens when one is behind again',
  async (t) => {
    const { hub, log, token } = await fed(t, 30)
    hub.clock.advance(minuteMs)
    await ask(hub, token, log, 20)
    const [{ id }] = await alertsOf(hub)
    t.equal((await askAs(hub, `/api/hub/alerts/${logId}/${id}/close`, 'adam', 'POST')).status, 204)
    for (let i = 0; i < 3; i += 1) {
      hub.clock.advance(hours(1))
      await ask(hub, token, log, 20)
      t.match(await alertsOf(hub), [{ closedBy: 'adam@https://hub.example' }])
    }
    hub.clock.advance(hours(3))
    await ask(hub, token, log, 20)
    t.match(await alertsOf(hub), [{ closedAt: null, closedBy: null }])
  },
)

t.test('the alert of a box that has all again ends though the head office was started anew meanwhile', async (t) => {
  const { hub, log, token } = await fed(t, 30)
  hub.clock.advance(minuteMs)
  await ask(hub, token, log, 20)
  await hub.rows(`UPDATE alert SET alert_id = 'log.ahead.30', detail = '{"size":20,"seen":30}'`)
  const next = await testHub(t, postgres, { database: hub.database })
  next.clock.advance(2 * minuteMs + hours(2))
  await ask(next, token, log, 30)
  t.match(await alertsOf(hub), [{ id: 'log.ahead.30', closedBy: 'head office' }], 'one of the version before, too')
})

t.test('alerts that are open come first, page by page', async (t) => {
  const { hub, log, token } = await fed(t, 30)
  hub.clock.advance(minuteMs)
  await ask(hub, token, log, 20)
  await hub.rows(
    `INSERT INTO alert (log_id, alert_id, source, type, severity, opened_at, closed_at, closed_by)
     SELECT $1, 'log.retired.' || n, 'hub', 'log.retired', 'info', $2, CASE WHEN n % 100 > 0 THEN $2::timestamptz END, 'ada'
     FROM generate_series(1, 600) n`,
    [logId, new Date('2027-01-01T00:00:00Z')],
  )
  const first = (await askAs(hub, '/api/hub/alerts')).body
  const second = (await askAs(hub, `/api/hub/alerts?cursor=${first.nextCursor}`)).body
  const all = [...first.data, ...second.data]
  t.same([all.length, new Set(all.map(({ id }) => id)).size], [601, 601], 'each once')
  t.ok(all.slice(0, 7).every(({ closedAt }) => closedAt === null))
  t.equal(all[6]?.type, 'log.ahead', 'though later ones are closed')
  t.ok(all.slice(7).every(({ closedAt }) => closedAt !== null))
})

t.test('what the head office has confirmed as a witness counts, too', async (t) => {
  const { hub, log, token } = await fed(t, 10)
  const body = formatAddCheckpoint({ old: 10, proof: log.tree.proof(10, 40), note: log.checkpoint(40) })
  const headers = { 'Content-Encoding': 'identity' }
  t.equal((await hub.ask('POST', '/witness/add-checkpoint', { bytes: Buffer.from(body), headers })).status, 200)
  await ask(hub, token, log, 10)
  t.same(await alertsOf(hub), [], 'a moment ago it was on its way')
  hub.clock.advance(minuteMs)
  await ask(hub, token, log, 10)
  t.match(await alertsOf(hub), [{ detail: { size: 10, seen: 40 } }])
})

t.test('a box that catches up, sends something again, or says that it was restored, raises no alert', async (t) => {
  const { hub, log, token } = await fed(t, 30)
  t.equal((await ask(hub, token, log, 20)).status, 200, 'it was on its way for long')
  t.same(await alertsOf(hub), [])
  hub.clock.advance(minuteMs)
  await send(hub, token, log, 10, 20)
  t.same(await alertsOf(hub), [], 'leaves that came before')
  await ask(hub, token, log, 20)
  t.equal((await alertsOf(hub)).length, 1)
  const child = await continuation(hub, log, 20, '0190a5c4-3c00-7000-8000-00000000009a', [
    ['09:00', 'PLACED', 1, 'P-1'],
  ])
  t.equal((await send(hub, token, child, 0, 2)).status, 200)
  t.match(await alertsOf(hub), [{ closedBy: 'head office' }], 'it goes on with a new log')
})
