import t, { type Test } from 'tap'
import { differences } from '../../src/console/page/hub/fork.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, signIn } from '../support/browser.ts'
import { openCheckpoint } from '../support/evidence/checkpoint.ts'
import { checkpointText, noteOf, testLog } from '../support/evidence/forge.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { askAs, forkOf, headOffice, placements, story } from '../support/head-office.ts'
import { feedOf, feedPathOf, type HubOptions, peaksOf, type TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { screens } from '../support/screens.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const browser = await launchBrowser()
t.teardown(() => browser?.close())
const hourMs = 3_600_000
const [siteId, logId] = ['dc-8', '0190a5c4-3c00-7000-8000-000000000098']
const path = `/api/hub/logs/${logId}`

const moves = (asset: string) =>
  placements({
    ...{ siteId, logId },
    moves: [
      ['08:00', 'PLACED', 1, 'P-1'],
      ['08:10', 'PLACED', 2, asset],
      ['08:20', 'PLACED', 3, 'P-3'],
      ['08:30', 'PLACED', 4, 'P-4'],
    ],
  })

/** A site of whose log three leaves are fed, in two hours, and the same log with another second leaf, by the same keys. */
async function fedLog(t: Test, options: HubOptions = {}) {
  const hub = await headOffice(t, postgres, options)
  const log = testLog({ siteId, logId, leaves: moves('P-2') })
  const forged = testLog({ siteId, logId, leaves: moves('P-9') })
  const token = await hub.enrol(log)
  const send = (body: object) => hub.ask('POST', feedPathOf(log), { token, body })
  for (const [from, end] of [
    [0, 1],
    [1, 3],
  ] as const) {
    t.equal((await send(feedOf(log, from, end))).status, 200)
    hub.clock.advance(hourMs)
  }
  const noteOver = (size: number) => noteOf(checkpointText(log.origin, size, forged.tree.root(size)), log.signers)
  return { hub, log, forged, send, noteOver }
}

/** Holds a signed checkpoint against the keys that the answer names, by another reader than ours. */
const opened = (note: string, { keys }: { keys: string[] }) => openCheckpoint(note, keys.map(parseVkey))

const get = (hub: TestHub, of: string, username = 'sven') => askAs(hub, `${path}/${of}`, username)

t.test('checkpoints of a log are listed page by page, each signed by its gateway and by the head office', async (t) => {
  const { hub, log } = await fedLog(t)
  const { status, body } = await get(hub, 'checkpoints?limit=2', 'lars')
  t.equal(status, 200, 'to everyone who may see the site')
  t.match(body.log, { logId, siteId, origin: log.origin, state: 'live', size: 3, continuedBy: null })
  t.match(body.data, [
    { size: 3, rootHash: log.tree.root(3).toString('base64'), timestamp: '2026-03-02T09:00:00.000Z' },
    { size: 1, rootHash: log.tree.root(1).toString('base64'), isConfirmed: true },
  ])
  t.equal(body.data.length, 2)
  for (const { note, size } of body.data) {
    const { signed } = opened(note, body.log)
    t.equal(opened(note, body.log).size, size)
    t.same(signed.map(({ vkey }) => vkey.type).toSorted(), [1, 4, 6], 'two keys of the gateway, one of the head office')
  }
  t.match((await get(hub, 'checkpoints?limit=1')).body.data, { length: 1, 0: { size: 3 } })
  t.match((await get(hub, 'checkpoints?limit=1&before=3')).body.data, [{ size: 1 }])
  t.same((await get(hub, 'checkpoints?before=1')).body.data, [])
  t.equal((await get(hub, 'checkpoints?limit=x')).status, 400)
  t.equal((await get(hub, 'checkpoints?offset=1')).status, 400)
})

t.test('both sides of a fork are given as they came, to who may read evidence of the site', async (t) => {
  const { hub, log, forged, send, noteOver } = await fedLog(t)
  t.same((await get(hub, 'forks')).body.data, [])
  t.equal((await send({ ...feedOf(forged, 0, 2), checkpoint: noteOver(2) })).status, 422)
  const { body } = await get(hub, 'forks')
  t.match(body, { log: { state: 'forked', size: 3 }, nextCursor: null })
  const [fork] = body.data
  t.match(fork, { place: 2, kind: 'leaf', seenAt: '2026-03-02T10:00:00.000Z' })
  t.equal(fork.known.leaf, log.leaves[1]?.toString('base64'))
  t.equal(fork.sent.leaf, forged.leaves[1]?.toString('base64'))
  t.equal(opened(fork.known.note, body.log).size, 3)
  t.same(opened(fork.sent.note, body.log).root, forged.tree.root(2), 'signed by the keys of the same log')
  t.equal((await get(hub, 'checkpoints')).body.data.length, 2)
  for (const [username, status] of [
    ['lars', 403],
    ['nele', 404],
    ['dora', 403],
  ] as const) {
    t.equal((await get(hub, 'forks', username)).status, status, username)
  }
})

t.test('two roots for one size are given with both checkpoints, and a list of forks has pages', async (t) => {
  const { hub, log, forged, send, noteOver } = await fedLog(t)
  t.equal((await send({ checkpoint: noteOver(2), from: 2, leaves: [] })).status, 422)
  await hub.rows(
    `INSERT INTO fork_evidence (log_id, place, sent_hash, kind, known, known_note, sent, sent_note, seen_at)
     SELECT log_id, 3, sent_hash, kind, NULL, known_note, NULL, sent_note, seen_at FROM fork_evidence`,
  )
  const first = (await get(hub, 'forks?limit=1')).body
  t.match(first.data, [{ place: 2, kind: 'root', known: { leaf: null }, sent: { leaf: null, leaves: { length: 0 } } }])
  t.equal(first.data[0].known.root, log.tree.root(2).toString('base64'))
  t.equal(first.data[0].sent.root, forged.tree.root(2).toString('base64'))
  const second = (await get(hub, `forks?limit=1&cursor=${first.nextCursor}`)).body
  t.match(second, { nextCursor: null, data: [{ place: 3 }] })
  t.equal(second.data[0].known.root, log.tree.root(3).toString('base64'), 'as its checkpoint states it')
  t.equal(second.data[0].sent.root, null, 'the sent checkpoint is of another size')
  t.equal((await get(hub, 'forks?cursor=x')).status, 400)
})

t.test('leaves that lead to another root are given with it', async (t) => {
  const { hub, log, forged, send, noteOver } = await fedLog(t)
  const before = peaksOf(forged.leaves, 3)
  t.equal((await send({ ...feedOf(forged, 3, 4), checkpoint: noteOver(4), before })).status, 422)
  const [fork] = (await get(hub, 'forks')).body.data
  t.match(fork, { place: 4, kind: 'root' })
  t.equal(fork.known.root, log.tree.root(4).toString('base64'), 'over the stored leaves and the sent one')
  t.equal(fork.sent.root, forged.tree.root(4).toString('base64'))
  t.same(fork.sent.leaves, [forged.leaves[3]?.toString('base64')])
})

t.test('whoever may not see a site learns nothing of its logs', async (t) => {
  const { hub } = await fedLog(t)
  const ofOther = '/api/hub/logs/0190a5c4-3c00-7000-8000-000000000007'
  t.equal((await askAs(hub, `${ofOther}/checkpoints`, 'lars')).status, 404)
  t.equal((await askAs(hub, `${ofOther}/forks`, 'nele')).status, 200, 'a supervisor of that site')
  for (const list of ['checkpoints', 'forks']) {
    t.equal((await askAs(hub, `/api/hub/logs/0190a5c4-3c00-7000-8000-00000000dead/${list}`, 'sven')).status, 404)
    t.equal((await askAs(hub, `/api/hub/logs/x/${list}`, 'sven')).status, 404)
    t.equal((await hub.ask('GET', `${path}/${list}`)).status, 401)
  }
})

t.test('both sides of a fork are shown beside each other, in words, one click from the site', inBrowser, async (t) => {
  const { hub, forged, send, noteOver } = await fedLog(t, { listens: true })
  t.equal((await send({ ...feedOf(forged, 0, 2), checkpoint: noteOver(2) })).status, 422)
  const { page, faults } = await open(t, browser, `${hub.url}/sites/${siteId}`, {
    ...screens.desktop,
    ignoreHTTPSErrors: true,
  })
  await signIn(page, 'sven')
  await page.getByRole('link', { name: 'Both histories, side by side' }).click()
  await page.getByRole('heading', { name: 'Log entry 2: two different entries.' }).waitFor()
  t.match(await page.getByRole('row', { name: 'Pallet' }).innerText(), /P-2\s+P-9/)
  t.equal(await page.locator('.hub-fork tbody tr').count(), 1, 'and nothing that is the same')
  await page.getByText('The two signed checkpoints').click()
  await page.getByText(noteOver(2).split('\n')[2] ?? '').waitFor()
  await page.getByRole('button', { name: 'Signed text of 3' }).click()
  t.same(await violations(page), [])
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Both sides (JSON)' }).click(),
  ])
  t.equal(download.suggestedFilename(), 'forks.json')
  t.same(faults, [])
})

t.test(
  'the page of a log shows the confirmation of the head office, with the keys to check it by',
  inBrowser,
  async (t) => {
    const { hub } = await fedLog(t, { listens: true })
    await hub.rows('UPDATE checkpoint SET cosignature = NULL WHERE log_id = $1 AND size = 1', [logId])
    const { page, faults } = await open(t, browser, `${hub.url}/logs/${logId}`, {
      ...screens.desktop,
      ignoreHTTPSErrors: true,
    })
    await signIn(page, 'sven')
    await page.getByText('Keys to check signatures with').click()
    const notes = page.locator('pre.hub-note')
    const keys = ((await notes.last().textContent()) ?? '').split('\n').map(parseVkey)
    const signersOf = async (size: number) => {
      await page.getByRole('button', { name: `Signed text of ${size}` }).click()
      await page.getByRole('button', { name: `Signed text of ${size}`, expanded: true }).waitFor()
      const checkpoint = openCheckpoint((await notes.first().textContent()) ?? '', keys)
      t.equal(checkpoint.size, size)
      return checkpoint.signed.map(({ vkey }) => vkey.type).toSorted()
    }
    t.match(await page.getByRole('row', { name: 'Signed text of 3' }).innerText(), /\byes\b/)
    t.same(await signersOf(3), [1, 4, 6], 'two keys of the gateway, one of the head office')
    t.match(await page.getByRole('row', { name: 'Signed text of 1' }).innerText(), /\bno\b/)
    t.same(await signersOf(1), [1, 6], 'the gateway alone')
    t.same(faults, [])
  },
)

t.test('who may not read evidence is told of a fork without its bytes', inBrowser, async (t) => {
  const { hub, forged, send, noteOver } = await fedLog(t, { listens: true })
  t.equal((await send({ ...feedOf(forged, 0, 2), checkpoint: noteOver(2) })).status, 422)
  const { page, faults } = await open(t, browser, `${hub.url}/logs/${logId}`, {
    ...screens.handheld,
    ignoreHTTPSErrors: true,
  })
  await signIn(page, 'lars')
  await page.getByText('Your account may not read the evidence of this site').waitFor()
  t.notMatch(await page.locator('main').innerText(), /P-2|P-9/)
  t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, 'nothing is cut off')
  t.ok(faults.length > 0 && faults.every((fault) => /403 \(Forbidden\)/.test(fault)), 'the head office has decided')
})

/** Nele is a viewer of the region north, and a supervisor of dc-7. */
t.test(
  'forks, proofs and alerts are shown by the role at each site, not by the first of an account',
  inBrowser,
  async (t) => {
    const hub = await headOffice(t, postgres, { listens: true })
    t.equal(await forkOf(hub), 422)
    const logOf = (site: string) => `${hub.url}/logs/${story[site]?.logId}`
    const { page } = await open(t, browser, `${hub.url}/find?code=P-1`, { ...screens.desktop, ignoreHTTPSErrors: true })
    await signIn(page, 'nele')
    const trail = page.getByRole('region', { name: 'From site to site' })
    await trail.getByRole('link', { name: 'log entry 5 with its proof' }).waitFor()
    t.same(await trail.getByRole('link', { name: /with its proof/ }).count(), 2, 'those of dc-7')
    await trail.getByText('log entry 1', { exact: true }).waitFor()
    const refused = page.getByText('Your account may not read the evidence of this site')
    await page.goto(logOf('dc-8'))
    await refused.waitFor()
    const answered = page.waitForResponse(/\/forks$/)
    await page.goto(logOf('dc-7'))
    t.equal((await answered).status(), 200)
    await page.getByRole('heading', { name: 'Signed states of the log' }).waitFor()
    t.equal(await refused.count(), 0)
    await page.goto(`${hub.url}/alerts`)
    await page.getByText('The log shows two histories').waitFor()
    await page.getByText('2 Mar 2026, 09:00').first().waitFor()
    t.equal(await page.getByRole('button', { name: 'Close as handled' }).count(), 0, 'which only an admin may')
  },
)

t.test('the sides of a fork differ in what their leaves say, or else in their bytes', async (t) => {
  const side = (leaf: string) => ({ leaf: Buffer.from(leaf).toString('base64'), root: null, note: null })
  t.same(differences(side('{"a":1,"b":"x","c":"ä"}'), side('{"a":1,"b":"y"}')), [
    { name: 'b', known: 'x', sent: 'y' },
    { name: 'c', known: 'ä', sent: undefined },
  ])
  t.match(differences(side('{"a":1}'), side('{"a": 1}')), [{ name: 'bytes', known: 'eyJhIjoxfQ==' }])
  t.match(differences(side('no JSON'), side('{"a":1}')), [{ name: 'bytes' }])
  t.match(differences({ leaf: null, root: 'AA==', note: null }, { leaf: null, root: null, note: 'x' }), [
    { name: 'root', known: 'AA==', sent: undefined },
  ])
})
