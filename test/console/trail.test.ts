import { globSync, readFileSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import type { Browser } from 'playwright-core'
import t from 'tap'
import { permissionsOf } from '../../src/config/index.ts'
import {
  type AuditEntry,
  actionWords,
  changesOf,
  queryOf,
  whoWords,
} from '../../src/console/page/evidence/audit-words.ts'
import { trailTexts } from '../../src/console/page/evidence/trail-texts.ts'
import { viewsFor } from '../../src/console/page/kit/views.ts'
import { databaseFile } from '../../src/database/index.ts'
import { auditEntities } from '../../src/governance/sight.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, signIn } from '../support/browser.ts'
import { cheapHash, furnish, people } from '../support/gateway.ts'
import { lookAt } from '../support/look.ts'
import { screens } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const hash = '4f'.repeat(32)
const noRoom = 'HTTP 507 to sending the file: the storage server has no room'
const account = ({ username, role }: { username: string; role: string }) => ({
  ...{ username, role },
  secretHash: cheapHash(`${username}-secret`),
})

/** A hall with 55 slots, a queue with two parked files, one that waits and one that was copied, and an open alert. */
async function box(t: Parameters<typeof place>[0]): Promise<Place> {
  const users = [...Object.values(people), { username: 'rita', role: 'auditor' }].map(account)
  const made = await place(t, { auth: { users } })
  const { gateway } = made
  const labels = Array.from({ length: 55 }, (_, n) => `A-${n + 1}`)
  await furnish(gateway, labels)
  const now = gateway.clock.now()
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  const add = db.prepare(`INSERT INTO upload (kind, ref, root, path, file, sha256, size_bytes, urgent, status, attempts,
    next_attempt_at_ms, last_error, parked_for, verified, url, queued_at_ms, uploaded_at_ms)
    VALUES (?, ?, '/gatehouse', ?, 'f', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const at = now - 3_600_000
  const lost = 'HTTP 423 to sending the file'
  add.run('clip', '1', 'dc-7/clips/1.mp4', hash, 5_242_880, 1, 'parked', 3, 0, noRoom, 'quota', null, null, at, null)
  add.run(
    'photo',
    hash,
    'p.jpg',
    hash,
    120_000,
    0,
    'parked',
    1,
    0,
    'other bytes are there',
    'hash',
    null,
    null,
    at,
    null,
  )
  add.run('clip', '2', 'dc-7/clips/2.mp4', hash, 900, 0, 'pending', 2, now + 60_000, lost, null, null, null, at, null)
  const url = 'https://cloud.example.com/r.json'
  add.run('report', '4', 'r.json', hash, 2000, 0, 'uploaded', 1, 0, null, null, 'size', url, at, now)
  db.prepare('INSERT INTO alert (kind, subject, message, created_at_ms) VALUES (?, ?, ?, ?)').run(
    ...['upload.no_room', 'uploads', 'The storage server has no room for the clip 1.', at],
  )
  return made
}

t.test('uploads and the audit trail can be read on every screen', inBrowser, async (t) => {
  const { url } = await box(t)
  await lookAt(t, { browser, url, as: 'ada' }, [
    { path: 'uploads', ready: (page) => page.getByText(noRoom).waitFor() },
    { path: 'audit?entity=zone', ready: (page) => page.getByText('ada · Zone 1').waitFor() },
  ])
})

t.test('a parked file says why and what to do, and who retries it is in the trail', inBrowser, async (t) => {
  const { gateway, url } = await box(t)
  const reader = await open(t, browser, `${url}uploads`)
  await signIn(reader.page, 'rita')
  await reader.page.getByText('1 file waits, 2 files are parked.').waitFor()
  t.equal(await reader.page.getByRole('button', { name: /^Retry/ }).count(), 0, 'an auditor changes nothing')
  await reader.page.context().close()
  const { page, faults } = await open(t, browser, `${url}uploads`)
  await signIn(page, 'ada')
  const clip = page.getByRole('listitem').filter({ hasText: 'Clip of event 1' })
  await clip.getByText(noRoom).waitFor()
  await clip.getByText('Make room there, raise the quota, or check its disk.').waitFor()
  await clip.getByText('3 attempts.').waitFor()
  const waiting = page.getByRole('region', { name: 'Waiting' })
  await waiting.getByText(/2 attempts\. Next attempt \d/).waitFor()
  await page.getByText('compared by size alone').waitFor()
  await page.getByRole('button', { name: 'Retry: Clip of event 1' }).click()
  await page.getByText('Clip of event 1 is tried again now.').waitFor()
  await page.getByText('2 files wait, 1 file is parked.').waitFor()
  const { body } = await gateway.ask('GET', '/api/uploads?status=pending', { by: people.ada })
  t.match(body.data, [{ ref: '2' }, { ref: '1', parkedFor: null }])
  await page.goto(`${url}audit?action=upload.retried`)
  const entry = page.getByRole('listitem').filter({ hasText: 'Upload retried' })
  await entry.getByText('before: parked · after: pending').waitFor()
  await entry.getByText('ada · Upload 1').waitFor()
  t.same(faults, [])
})

t.test('the trail is narrowed in the address, goes on by pages, and keeps what was typed', inBrowser, async (t) => {
  const { url } = await box(t)
  const { page } = await open(t, browser, `${url}audit`)
  await signIn(page, 'sven')
  await page.getByText(/The newest 50 of \d+ entries\./).waitFor()
  await page.getByLabel('Kind of thing').selectOption('slot')
  await page.getByLabel('Person').fill('ada')
  await page.getByLabel('From the day').fill('2026-02-01')
  await page.getByLabel('To the day').fill('2026-01-31')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText('The first day is after the last one.').waitFor()
  t.equal(await page.getByLabel('Person').inputValue(), 'ada')
  await page.getByLabel('From the day').fill('')
  await page.getByLabel('To the day').fill('')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText('The newest 50 of 55 entries.').waitFor()
  t.equal(new URL(page.url()).search, '?operator=ada&entity=slot')
  t.equal(await page.getByText('ada · Slot 1', { exact: true }).count(), 0, 'the oldest is on the next page')
  await page.getByRole('button', { name: 'Show older ones' }).click()
  await page.getByText('ada · Slot 1', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('The newest 50 of 55 entries.').waitFor()
  t.equal(await page.getByLabel('Person').inputValue(), 'ada', 'a link to it shows the same')
  const newest = page.getByRole('listitem').filter({ hasText: 'ada · Slot 55' })
  await newest.getByText('More about it').click()
  await newest.getByRole('link', { name: 'Only Slot 55', exact: true }).click()
  await page.getByText('1 entry, newest first.').waitFor()
  await page.getByLabel('Person').fill('nobody')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText('No entry matches.').waitFor()
  await page.getByRole('link', { name: 'Show everything' }).click()
  await page.getByText(/The newest 50 of \d+ entries\./).waitFor()
  await page.goto(`${url}audit?operator=ada&entity=pallet`)
  await page.getByText(/Not up to date: /).waitFor()
  t.equal(await page.getByLabel('Person').inputValue(), 'ada')
})

t.test(
  'on a phone the newest entry is on the first screen, and the filter says what it hides',
  inBrowser,
  async (t) => {
    const { url } = await box(t)
    const { page } = await open(t, browser, `${url}audit`, screens.handheld)
    await signIn(page, 'sven')
    await page.getByText(/The newest 50 of \d+ entries\./).waitFor()
    const { height } = screens.handheld.viewport
    const newest = await page.locator('.box-list > li').first().boundingBox()
    t.ok(newest && newest.y + newest.height < height, `it ends above the edge: ${JSON.stringify(newest)}`)
    t.equal(await page.getByLabel('Person').isVisible(), false)
    await page.getByRole('heading', { name: 'Narrow it down' }).click()
    await page.getByLabel('Person').fill('ada')
    await page.getByLabel('Kind of thing').selectOption('slot')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('The newest 50 of 55 entries.').waitFor()
    await page.getByText('2 filters are set').waitFor()
    t.equal(await page.getByLabel('Person').isVisible(), false, 'what was found is on the screen')
    t.same(await violations(page), [])
    await page.getByRole('heading', { name: 'Narrow it down' }).click()
    t.equal(await page.getByLabel('Person').inputValue(), 'ada')
    t.same(await violations(page), [])
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, 'not sideways')
  },
)

t.test('on a German page what the gateway wrote is marked as English', inBrowser, async (t) => {
  const { url } = await box(t)
  const { page } = await open(t, browser, `${url}uploads`, { locale: 'de-DE' })
  await signIn(page, 'ada')
  const marked = (text: string) => page.locator('[lang=en]', { hasText: text }).first().waitFor()
  await marked(noRoom)
  await page.getByRole('button', { name: 'Noch einmal: Clip zu Ereignis 1' }).waitFor()
  await page.goto(`${url}alerts`)
  await marked('The storage server has no room for the clip 1.')
  await page.goto(`${url}audit?entity=pallet`)
  await page.locator('.trouble [lang=en]').waitFor()
  await page.goto(`${url}audit?entity=slot`)
  await page.getByText('Stellplatz angelegt').nth(1).waitFor()
})

t.test('uploads and the trail are shown to those who may read them', (t) => {
  const seenBy = (role: 'auditor' | 'viewer' | 'operator' | 'supervisor' | 'admin') =>
    viewsFor({ username: 'x', role, permissions: [...permissionsOf(role)] }).filter((view) =>
      ['uploads', 'audit'].includes(view),
    )
  t.same(seenBy('operator'), [])
  t.same(seenBy('supervisor'), ['audit'])
  for (const role of ['auditor', 'admin'] as const) t.same(seenBy(role), ['audit', 'uploads'], role)
  t.end()
})

const entry: AuditEntry = {
  ...{ id: 1, timestamp: '2026-03-02T08:00:00.000Z', operator: null, actor: null, instance: null },
  ...{ action: 'slot.updated', entity: 'slot', entityId: '7', changes: null, requestId: null },
  ...{ address: null, authMode: null },
}

t.test('an entry says who, and what was before and after', (t) => {
  const zone = 'Europe/Berlin'
  const said = (action: string, changes: Record<string, unknown>) => changesOf({ ...entry, action, changes }, zone)
  t.strictSame(said('webhook.updated', { active: { from: true, to: false } }), [
    { name: 'Switched on', before: 'yes', after: 'no' },
  ])
  t.strictSame(said('caller.role_changed', { from: 'viewer', to: 'admin' }), [
    { name: 'Role', before: 'viewer', after: 'admin' },
  ])
  const span = { from: '2026-03-02T23:30:00.000Z', to: '2026-03-03T23:30:00.000Z' }
  t.strictSame(said('report.generated', { type: 'compliance', ...span }).at(-1), {
    ...{ name: 'To', before: undefined, after: '4 Mar 2026, 00:30:00' },
  })
  t.strictSame(said('zone.updated', { name: 'S', limits: { a: 1, b: [] } }), [
    { name: 'Name', before: undefined, after: 'S' },
    { name: 'limits', before: undefined, after: 'a: 1; b: none' },
  ])
  t.equal(whoWords(entry), 'The gateway itself')
  t.equal(whoWords({ ...entry, authMode: 'signal' }), 'Somebody at the box')
  t.equal(whoWords({ ...entry, actor: 'olga', operator: 'otto' }), 'olga for otto')
  t.equal(whoWords({ ...entry, address: '10.0.0.1', operator: 'otto' }), 'Somebody who was not signed in, about otto')
  t.end()
})

t.test('days of the trail are days of the hall, also when its clocks change', (t) => {
  const filter = { operator: ' ada ', entity: '', entity_id: '', action: '', from: '2026-03-29', to: '2026-03-29' }
  const query = new URLSearchParams(queryOf(filter, 'Europe/Berlin'))
  t.equal(query.get('operator'), 'ada')
  t.equal(query.get('from'), '2026-03-28T23:00:00.000Z')
  t.equal(query.get('to'), '2026-03-29T22:00:00.000Z', '23 hours')
  t.equal(new URLSearchParams(queryOf({ ...filter, from: 'soon' }, 'UTC')).get('from'), 'soon', 'the gateway says it')
  t.end()
})

t.test('everything that the gateway writes into the trail has words', (t) => {
  const root = new URL('../../src/', import.meta.url).pathname
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !/^(console|hub)\//.test(file))
  const lines = files.flatMap((file) => readFileSync(`${root}${file}`, 'utf8').split('\n'))
  const written = lines
    .filter((line) => line.includes('action'))
    // Columns have an alias of one letter.
    .flatMap((line) => [...line.matchAll(/'([a-z_]{2,}\.[a-z_]+)'/g)].map(([, name = '']) => name))
  t.ok(new Set(written).size > 45, 'they were found')
  for (const name of written) t.not(actionWords(name), name, name)
  t.same(Object.keys(trailTexts.entities), auditEntities)
  t.end()
})
