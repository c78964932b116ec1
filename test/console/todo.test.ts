import BetterSqlite3 from 'better-sqlite3'
import type { Browser } from 'playwright-core'
import t from 'tap'
import type { Discrepancy, SignedIn, TransportUnit } from '../../src/console/page/data/shapes.ts'
import { stillMs, tasksOf } from '../../src/console/page/data/todo-list.ts'
import { databaseFile } from '../../src/database/index.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { until } from '../support/cloud.ts'
import { furnish, heldPhoto, people } from '../support/gateway.ts'
import { pictureOf, screens, themes } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const cameras = [{ id: 1, name: 'Dock door 1', url: 'rtsp://127.0.0.1:9/main', viewers: ['sven', 'vera'] }]

/** A hall with something of every kind to do. */
async function trouble(t: Parameters<typeof place>[0]): Promise<Place> {
  const made = await place(t, { cameras })
  const { gateway } = made
  await furnish(gateway, ['A-01-01', 'A-01-02', 'A-02-01', 'A-02-02', 'A-03-01'])
  for (const asset_id of ['P-1', 'P-2', 'P-3'])
    await gateway.ask('POST', '/api/whms/assets', {
      by: people.ada,
      body: { asset_id, type: 'pallet', weight_kg: 400 },
    })
  let photos = 0
  const put = async (slot_code: string, asset_barcode: string) => {
    photos += 1
    const photo_url = await heldPhoto(gateway, photos)
    await record(gateway, { event_type: 'PLACED', slot_code, asset_barcode, photo_url })
  }
  await put('A-01-01', 'P-1')
  await put('A-01-02', 'P-1')
  await put('A-02-01', 'P-2')
  await put('A-02-02', 'P-3')
  const disputed = { event_type: 'DISPUTED', slot_code: 'A-02-02', asset_barcode: 'P-3' }
  await record(gateway, { ...disputed, verification_notes: 'torn wrap' }, people.sven)
  const units = '/api/whms/transport-units'
  const unit = { reference: 'T-77', direction: 'inbound', warehouseId: 1 }
  const { body } = await gateway.ask('POST', units, { by: people.olga, body: unit })
  await gateway.ask('POST', `${units}/${body.id}/hold`, { by: people.olga, body: { reason: 'papers' } })
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  db.exec(
    `INSERT INTO alert (kind, subject, message, created_at_ms) VALUES ('disk.low', 'x', 'The disk is nearly full', 1)`,
  )
  return made
}

t.test('what waits is listed by urgency in plain words, and its remedy is one tap away', inBrowser, async (t) => {
  const { gateway, url } = await trouble(t)
  for (const [screen, context] of Object.entries(screens)) {
    const { page, faults } = await open(t, browser, `${url}todo`, { ...context, reducedMotion: 'reduce' })
    await signIn(page, 'ada')
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      const now = page.getByRole('region', { name: /^Now/ })
      await now.getByText('The disk is nearly full').waitFor()
      await now.getByText(/Slot A-01-01, Pallet P-1/).waitFor()
      await now.getByText('Camera Dock door 1 does not watch').waitFor()
      const today = page.getByRole('region', { name: /^Today/ })
      t.match(await today.innerText(), /Slot A-02-02, Pallet P-3: a supervisor disputes[^“]*“torn wrap”/)
      t.match(await today.innerText(), /Unit T-77 is on hold/)
      await page.getByText('3 placements are not yet verified').waitFor()
      t.same(await violations(page), [], `${screen}, ${colorScheme}`)
      t.equal(
        await page.evaluate('document.documentElement.scrollWidth'),
        context.viewport.width,
        `${screen}: not sideways`,
      )
      const path = pictureOf(`todo ${screen} ${colorScheme}`)
      if (path !== undefined) await page.screenshot({ path, fullPage: true })
      t.same(faults, [])
    }
    await page.context().close()
  }
  // A closed page's connection ends when the server hears of it.
  await until(() => gateway.streamHub.size === 0)
})

t.test('a remedy is done here, and a second screen knows at once', inBrowser, async (t) => {
  const { gateway, url } = await trouble(t)
  const { page } = await open(t, browser, `${url}todo`)
  await signIn(page, 'ada')
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('The disk is nearly full').waitFor({ state: 'detached' })
  const line = page.getByRole('listitem').filter({ hasText: 'Slot A-01-01, Pallet P-1' })
  await line.getByRole('button', { name: 'It is not in A-01-01' }).click()
  await line.getByRole('button', { name: 'Record it as taken out of A-01-01' }).click()
  await page.getByRole('status').getByText('Recorded: taken out of A-01-01.').waitFor()
  await line.waitFor({ state: 'detached' })
  const { body } = await gateway.ask('GET', '/api/whms/slots/A-01-01', { by: people.ada })
  t.match(body, { isOccupied: false })
  await page.getByRole('link', { name: 'Look and decide' }).click()
  await page.getByRole('heading', { name: 'Verify' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'To do' }).waitFor()
})

t.test(
  'of a pallet in two slots the ledger has it afterwards where it is, and no new contradiction',
  inBrowser,
  async (t) => {
    for (const [wrong, right, sure, done] of [
      ['A-01-01', 'A-01-02', 'Record it as taken out of A-01-01', 'Recorded: taken out of A-01-01.'],
      ['A-01-02', 'A-01-01', 'Take back its placement in A-01-02', 'Taken back: its placement in A-01-02.'],
    ] as const) {
      const { gateway, url } = await trouble(t)
      const { page } = await open(t, browser, `${url}todo`)
      await signIn(page, 'olga')
      const line = page.getByRole('listitem').filter({ hasText: 'Slot A-01-01, Pallet P-1' })
      await line.getByRole('button', { name: `It is not in ${wrong}` }).click()
      await line.getByRole('button', { name: sure }).click()
      await page.getByRole('status').getByText(done).waitFor()
      const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by: people.ada })).body
      t.match(await get('assets/P-1/location'), { slot: { slot_id: right } }, `the ledger has it in ${right}`)
      t.match(await get(`slots/${wrong}`), { isOccupied: false })
      t.match(await get(`slots/${right}`), { isOccupied: true, assetBarcode: 'P-1' })
      const { data } = await get('discrepancies')
      t.strictSame(
        data.filter(({ assetBarcode }: { assetBarcode: string }) => assetBarcode === 'P-1'),
        [],
      )
      await page.context().close()
    }
  },
)

/**
 * A-1 shows a pallet that was removed from another slot. Each case has its events, and that slot if the pallet's place is still
 *
 */
const waysElsewhere = [
  [
    'in which another one stood',
    [
      ['PLACED', 'A-2', 'P-2'],
      ['PLACED', 'A-1', 'P-1'],
      ['REMOVED', 'A-2', 'P-1'],
    ],
    'A-2',
  ],
  [
    'in which it was placed since',
    [
      ['PLACED', 'A-1', 'P-1'],
      ['PLACED', 'A-2', 'P-1'],
      ['REMOVED', 'A-2', 'P-1'],
    ],
    null,
  ],
  [
    'and of a third one',
    [
      ['PLACED', 'A-1', 'P-1'],
      ['PLACED', 'A-2', 'P-1'],
      ['PLACED', 'A-3', 'P-1'],
      ['REMOVED', 'A-3', 'P-1'],
    ],
    null,
  ],
  [
    'twice',
    [
      ['PLACED', 'A-1', 'P-1'],
      ['REMOVED', 'A-2', 'P-1'],
      ['REMOVED', 'A-3', 'P-1'],
    ],
    'A-3',
  ],
] as const

/** Slots with these moves. */
async function takenOutElsewhere(
  t: Parameters<typeof place>[0],
  moves: readonly (readonly string[])[],
): Promise<Place> {
  const made = await place(t)
  await furnish(made.gateway, ['A-1', 'A-2', 'A-3'])
  await made.gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: { asset_id: 'P-1', type: 'pallet' } })
  for (const [n, [event_type, slot_code, asset_barcode]] of moves.entries())
    await record(made.gateway, {
      ...{ event_type, slot_code, asset_barcode, photo_url: await heldPhoto(made.gateway, n + 1) },
    })
  return made
}

for (const [how, moves, takenFrom] of waysElsewhere)
  t.test(
    `a pallet that was taken out of another slot ${how} is afterwards where the page says it is`,
    inBrowser,
    async (t) => {
      const { gateway, url } = await takenOutElsewhere(t, moves)
      const { page } = await open(t, browser, `${url}todo`)
      await signIn(page, 'olga')
      const line = page.getByRole('listitem').filter({ hasText: 'Slot A-1, Pallet P-1' })
      await line.getByRole('button', { name: 'It is not in A-1' }).waitFor()
      const isHere = line.getByRole('button', { name: 'It is in A-1', exact: true })
      t.equal(await isHere.count(), takenFrom === null ? 0 : 1)
      if (takenFrom !== null) {
        await isHere.click()
        await line.getByRole('button', { name: `Take back its removal from ${takenFrom}` }).click()
        await page.getByRole('status').getByText(`Taken back: its removal from ${takenFrom}. It is in A-1.`).waitFor()
        const { body } = await gateway.ask('GET', '/api/whms/slots/A-2', { by: people.ada })
        const other = moves[0][2] === 'P-2' ? { isOccupied: true, assetBarcode: 'P-2' } : { isOccupied: false }
        t.match(body, other, 'the other pallet is back too')
      } else {
        await line.getByText('If it is, place it here again at /scan').waitFor()
        await line.getByRole('link', { name: 'Show A-1' }).waitFor()
        await record(gateway, {
          event_type: 'PLACED',
          slot_code: 'A-1',
          asset_barcode: 'P-1',
          photo_url: await heldPhoto(gateway, 9),
        })
        await line.waitFor({ state: 'detached' })
      }
      const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by: people.ada })).body
      t.match(await get('assets/P-1/location'), { slot: { slot_id: 'A-1' } })
      t.match(await get('slots/A-1'), { isOccupied: true, assetBarcode: 'P-1' })
      const ofIt = (await get('discrepancies')).data.filter(
        (one: { assetBarcode: string; slot: { slot_id: string } }) =>
          one.assetBarcode === 'P-1' && one.slot.slot_id === 'A-1',
      )
      t.strictSame(ofIt, [])
    },
  )

t.test(
  'a pallet that was taken out of another slot and is not here either is nowhere afterwards',
  inBrowser,
  async (t) => {
    const { gateway, url } = await takenOutElsewhere(t, waysElsewhere[0][1])
    const { page } = await open(t, browser, `${url}todo`)
    await signIn(page, 'olga')
    const line = page.getByRole('listitem').filter({ hasText: 'Slot A-1, Pallet P-1' })
    await line.getByRole('button', { name: 'It is not in A-1' }).click()
    await line.getByRole('button', { name: 'Record it as taken out of A-1' }).click()
    await page.getByRole('status').getByText('Recorded: taken out of A-1.').waitFor()
    const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by: people.ada })).body
    t.match(await get('slots/A-1'), { isOccupied: false })
    t.match(await get('assets/P-1/location'), { slot: null })
    t.notOk(
      (await get('discrepancies')).data.some(({ assetBarcode }: { assetBarcode: string }) => assetBarcode === 'P-1'),
    )
  },
)

t.test('of a pallet that was placed elsewhere meanwhile no removal is taken back', inBrowser, async (t) => {
  const { gateway, url } = await takenOutElsewhere(t, waysElsewhere[0][1])
  const { page } = await open(t, browser, `${url}todo`)
  await signIn(page, 'olga')
  const line = page.getByRole('listitem').filter({ hasText: 'Slot A-1, Pallet P-1' })
  await line.waitFor()
  // The list is not read anew meanwhile.
  await page.route('**/api/whms/discrepancies', (route) => route.abort())
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-3', asset_barcode: 'P-1' })
  await line.getByRole('button', { name: 'It is in A-1', exact: true }).click()
  await line.getByRole('button', { name: 'Take back its removal from A-2' }).click()
  await page.getByRole('status').getByText('Nothing is recorded: it was placed in A-3 meanwhile.').waitFor()
  const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by: people.ada })).body
  t.match(await get('assets/P-1/location'), { slot: { slot_id: 'A-3' } })
  t.equal((await get('events')).data.length, 4)
})

t.test(
  'a removal of a pallet whose slot holds another one by now is refused, and the list is read anew',
  inBrowser,
  async (t) => {
    const { gateway, url } = await takenOutElsewhere(t, waysElsewhere[0][1])
    const { page } = await open(t, browser, `${url}todo`)
    await signIn(page, 'olga')
    const line = page.getByRole('listitem').filter({ hasText: 'Slot A-1, Pallet P-1' })
    await line.waitFor()
    // The list is not read anew before the refusal.
    let isRefused = false
    await page.route('**/api/whms/discrepancies', (route) => (isRefused ? route.continue() : route.abort()))
    await page.route('**/api/whms/events', async (route) => {
      const response = await route.fetch()
      isRefused = response.status() === 400
      await route.fulfill({ response })
    })
    const other = { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-99' }
    await record(gateway, { ...other, photo_url: await heldPhoto(gateway, 9) })
    await line.getByRole('button', { name: 'It is not in A-1' }).click()
    await line.getByRole('button', { name: 'Record it as taken out of A-1' }).click()
    await page
      .getByRole('alert')
      .getByText(/The slot holds placement \d+, not placement \d+/)
      .waitFor()
    await line.waitFor({ state: 'detached' })
    t.match((await gateway.ask('GET', '/api/whms/slots/A-1', { by: people.ada })).body, { assetBarcode: 'P-99' })
  },
)

/** A pallet that was placed in A-1, then in A-2, both with this time if there is one. */
async function inTwoSlots(t: Parameters<typeof place>[0], ledger: object, timestamp?: string): Promise<Place> {
  const made = await place(t, { ledger })
  await furnish(made.gateway, ['A-1', 'A-2'])
  for (const [n, slot_code] of ['A-1', 'A-2'].entries())
    await record(made.gateway, {
      ...{ event_type: 'PLACED', slot_code, asset_barcode: 'P-1', photo_url: await heldPhoto(made.gateway, n + 1) },
      ...(timestamp !== undefined && { timestamp }),
    })
  return made
}

for (const [why, ledger, ageMs, timestamp] of [
  ['lies further back than the gateway takes events', { maxAge: '7d' }, 8 * 86_400_000, undefined],
  ['would be late where late events are refused', { enforce: ['LATE_EVENT'] }, 3_600_000, undefined],
  ['is not between placements of the same second', {}, 0, new Date(Math.floor(Date.now() / 1000) * 1000).toISOString()],
] as const)
  t.test(`a pallet is taken out of the older of two slots when its removal ${why}`, inBrowser, async (t) => {
    const { gateway, url } = await inTwoSlots(t, ledger, timestamp)
    gateway.clock.advance(ageMs)
    const { page } = await open(t, browser, `${url}todo`)
    await signIn(page, 'olga')
    const line = page.getByRole('listitem').filter({ hasText: 'Slot A-1, Pallet P-1' })
    await line.getByRole('button', { name: 'It is not in A-1' }).click()
    await line.getByRole('button', { name: 'Record it as taken out of A-1' }).click()
    await page.getByText('Recorded: taken out of A-1, at the time of its placement.').waitFor()
    const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by: people.ada })).body
    t.match(await get('assets/P-1/location'), { slot: { slot_id: 'A-2' } })
    t.match(await get('slots/A-1'), { isOccupied: false })
    const { data } = await get('discrepancies')
    t.strictSame(data, [])
    const removed: { corrects_event_id: number; verification_notes: string }[] = (
      await get('events?event_type=REMOVED')
    ).data
    t.match(
      removed,
      [{ corrects_event_id: 1, verification_notes: 'It is not in A-1. When it was taken out was not recorded.' }],
      'no stray removal',
    )
    t.equal(removed.length, 1)
  })

t.test('a second tap, and another try after an answer that got lost, record nothing twice', inBrowser, async (t) => {
  const { gateway, url } = await trouble(t)
  const { page } = await open(t, browser, `${url}todo`)
  await signIn(page, 'ada')
  const line = page.getByRole('listitem').filter({ hasText: 'Slot A-01-01, Pallet P-1' })
  const sure = line.getByRole('button', { name: 'Record it as taken out of A-01-01' })
  const twice = () =>
    sure.evaluate((button: { click(): void }) => {
      button.click()
      button.click()
    })
  const removed = async () =>
    (await gateway.ask('GET', '/api/whms/events?event_type=REMOVED', { by: people.ada })).body.data.length
  await line.waitFor()
  // The list is not read anew meanwhile: there the task would be gone.
  await page.route('**/api/whms/discrepancies', (route) => route.abort())
  // The gateway records it, and its answer does not come through.
  await page.route('**/api/whms/events', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await line.getByRole('button', { name: 'It is not in A-01-01' }).click()
  await twice()
  await page
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .waitFor()
  t.equal(await removed(), 1)
  await page.unroute('**/api/whms/events')
  await line.getByRole('button', { name: 'It is not in A-01-01' }).click()
  await twice()
  await page.getByRole('status').getByText('Recorded: taken out of A-01-01.').waitFor()
  t.equal(await removed(), 1)
})

t.test('whose sign-in has ended is asked to sign in again, also by an act', inBrowser, async (t) => {
  const { gateway, url } = await trouble(t)
  const { page } = await open(t, browser, `${url}todo`)
  await signIn(page, 'ada')
  await page.getByRole('button', { name: 'Acknowledge' }).waitFor()
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('You were signed out. Sign in again to go on.').waitFor()
  await signIn(page, 'ada')
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('status').getByText('Acknowledged.').waitFor()
  t.match(await gateway.ask('GET', '/api/alerts?acknowledged=false', { by: people.ada }), {
    body: { data: { length: 0 } },
  })
})

t.test('a viewer sees what is wrong, and no button for what a viewer may not do', inBrowser, async (t) => {
  const { url } = await trouble(t)
  const { page } = await open(t, browser, `${url}todo`)
  await signIn(page, 'vera')
  await page.getByText(/Slot A-01-01, Pallet P-1/).waitFor()
  t.equal(await page.getByRole('button', { name: /Acknowledge|It is not in/ }).count(), 0)
  t.equal(await page.getByRole('link', { name: /Verify|Look and decide/ }).count(), 0)
  t.equal(await page.getByText('The disk is nearly full').count(), 0, 'alerts are for admins')
})

t.test(
  'where nothing waits the page says so, and what comes next; then it hears of the first thing',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    await furnish(gateway, ['A-1'])
    const { page } = await open(t, browser, `${url}todo`)
    await signIn(page, 'sven')
    await page.getByText('The floor and the ledger agree').waitFor()
    t.same(await violations(page), [])
    await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-1' })
    await page.getByText('1 placement is not yet verified').waitFor()
    t.ok(await heldPhoto(gateway))
  },
)

t.test('who only reads gets no button', (t) => {
  const permissions = ['whms:read', 'alerts:read'] as const
  const alert = { id: 7, message: 'The disk is full', createdAt: '2026-03-02T06:00:00.000Z' }
  const known = { discrepancies: [], pending: 0, units: [], cameras: [], alerts: [alert] }
  const [task] = tasksOf(known, { username: 'ann', role: 'auditor', permissions }, 0)
  t.strictSame(task?.remedies, [], 'an auditor sees the alert and acknowledges nothing')
  t.end()
})

t.test('what a count found leads to the count, which settles it', (t) => {
  const found = {
    ...{ id: 'count_difference-3-7', kind: 'count_difference', since: '2026-03-02T06:00:00.000Z', countId: 3 },
    ...{ slot: { id: 7, slot_id: 'A-1' }, otherSlot: null, assetBarcode: 'P-9', otherAssetBarcode: null },
    ...{ what: '', todo: '', lastPlacedHere: null, eventIds: [] },
  } as unknown as Discrepancy
  const known = { discrepancies: [found], pending: 0, units: [], cameras: [], alerts: [] }
  const [task] = tasksOf(known, { username: 'ann', role: 'supervisor', permissions: ['whms:read'] }, 0)
  t.match(task?.remedies[0], { act: 'open', words: 'Show count 3', to: '/counts/3' })
  t.end()
})

t.test('a unit of which nothing is recorded for four hours stands still', (t) => {
  const caller: SignedIn = { username: 'olga', role: 'operator', permissions: ['whms:read'] }
  const updatedAt = '2026-03-02T06:00:00.000Z'
  const unit = { id: 'u', reference: 'T-77', stage: 'receiving', status: 'active', updatedAt } as TransportUnit
  const known = { discrepancies: [], pending: 0, units: [unit], cameras: [], alerts: [] }
  const at = (ms: number) => tasksOf(known, caller, Date.parse(updatedAt) + ms).map(({ what }) => what)
  t.strictSame(at(stillMs), [])
  t.strictSame(at(stillMs + 1), ['Unit T-77 stands still at “receiving”'])
  t.equal(stillMs, 4 * 60 * 60 * 1000)
  t.end()
})
