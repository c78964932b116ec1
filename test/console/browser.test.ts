import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Browser } from 'playwright-core'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { inBrowser, launchBrowser, open, place, record, signIn, slot } from '../support/browser.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { screens } from '../support/screens.ts'

// A busy machine takes its time to start a browser.
t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** Two zones with three slots each, in a row. */
async function furnish({ ask }: TestGateway): Promise<void> {
  const by = people.ada
  await ask('POST', '/api/whms/warehouses', { by, body: { name: 'North hall', timezone: 'Europe/Berlin' } })
  for (const [row, zone] of ['A', 'B'].entries()) {
    const color = row === 0 ? '#2f6fab' : '#b7791f'
    await ask('POST', '/api/whms/zones', { by, body: { name: zone, zone_type: 'storage', warehouseId: 1, color } })
    for (const n of [0, 1, 2]) {
      const corners = [
        [0, 0],
        [1.4, 0],
        [1.4, 1],
        [0, 1],
      ] as const
      const floor_plan_polygon = corners.map(([x, y]) => ({ x: n * 2 + x, y: row * 3 + y }))
      await ask('POST', '/api/whms/slots', { by, body: { slot_id: `${zone}-${n + 1}`, zone, floor_plan_polygon } })
    }
  }
}

const disputeB2 = (gateway: TestGateway) =>
  record(
    gateway,
    { event_type: 'DISPUTED', slot_code: 'B-2', asset_barcode: '<b>P-2</b>', verification_notes: 'wrong & wet' },
    people.sven,
  )

t.test('somebody signs in, sees the hall, and what happens in it meanwhile', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-1' })
  const { page, faults } = await open(t, browser, url)
  await signIn(page, 'vera')
  await page.getByRole('heading', { name: 'North hall' }).waitFor()
  await page.getByRole('button', { name: 'Slot A-1, zone A: not yet verified, pallet P-1' }).waitFor()
  await page.getByRole('button', { name: 'Slot B-3, zone B: empty' }).waitFor()
  t.equal(await page.locator('.slot').count(), 6)
  const tile = (name: string) => page.locator('.tile', { has: page.getByRole('heading', { name }) })
  t.match(await tile('Slots in use').innerText(), /1 of 6/)
  t.equal(await page.getByRole('heading', { name: 'Webhooks' }).count(), 0, 'a viewer has no business with webhooks')

  await record(gateway, { event_type: 'VERIFIED', slot_code: 'A-1', asset_barcode: 'P-1' }, people.sven)
  await record(gateway, {
    event_type: 'PLACED',
    slot_code: 'B-2',
    asset_barcode: '<b>P-2</b>',
    operator: '<img src=x>',
  })
  await disputeB2(gateway)
  await page.getByRole('button', { name: 'Slot B-2, zone B: disputed, pallet <b>P-2</b>' }).waitFor()
  await page.getByRole('button', { name: 'Slot A-1, zone A: verified, pallet P-1' }).waitFor()
  const events = page.locator('.events .event')
  t.equal(await events.count(), 4)
  t.match(await events.nth(0).innerText(), /Disputed[\s\S]*B-2[\s\S]*<b>P-2<\/b>[\s\S]*sven[\s\S]*wrong & wet/)
  t.match(
    await events.nth(1).innerText(),
    /<img src=x>[\s\S]*the operator is not the signed-in user/,
    'with its warnings',
  )
  t.equal(await page.locator('#app b, #app img').count(), 0, 'what others wrote is text, never markup')
  await tile('Slots in use').getByText('2').waitFor()
  t.match(await tile('Disputed').innerText(), /1/)
  t.match(await tile('Not yet verified').innerText(), /\b1\b/, 'what is disputed waits for a look')
  const legend = page.getByRole('list', { name: 'Legend' })
  t.match(await legend.innerText(), /Not yet verified\s+1\b/, 'and the plan counts it in the same way')

  t.same(faults, [], 'no error, and nothing that the content security policy had to stop')
})

t.test('a slot tells what happened in it with the photo, and who signs out leaves nothing', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  await record(gateway, { event_type: 'PLACED', slot_code: 'B-2', asset_barcode: '<b>P-2</b>' })
  await disputeB2(gateway)
  const { page, faults } = await open(t, browser, url)
  await signIn(page, 'vera')
  await slot(page, 'B-2').click()
  const panel = page.locator('.slot-panel')
  await panel.getByText('wrong & wet').waitFor()
  t.match(await panel.innerText(), /B-2[\s\S]*Disputed[\s\S]*<b>P-2<\/b>[\s\S]*by sven/)
  const photo = panel.getByRole('img', { name: /Taken when pallet/ })
  await photo.waitFor()
  t.ok(
    await photo.evaluate((image: { naturalWidth: number }) => image.naturalWidth > 0),
    'the photo that the gateway holds is shown',
  )
  await page.getByRole('button', { name: 'Close the slot' }).click()
  await panel.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  t.equal((await page.context().cookies()).length, 0, 'nothing is left in the browser')
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.same(faults, [], 'no error, and nothing that the content security policy had to stop')
})

t.test('a wrong secret and an ended session are told in plain words', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  const { page, faults } = await open(t, browser, url)
  await signIn(page, 'ada', 'guess')
  await page.getByRole('alert').getByText('User name or secret is wrong.').waitFor()
  t.equal(
    await page
      .getByLabel('Secret', { exact: true })
      .evaluate(
        (field: unknown) =>
          field === (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement,
      ),
    true,
    'the next attempt can be typed at once',
  )
  await signIn(page, 'ada')
  await slot(page, 'A-1').waitFor()
  await page.reload()
  await slot(page, 'A-1').waitFor()
  const { config } = gateway.live
  gateway.live.config = { ...config, auth: { ...config.auth, users: [] } }
  await page.getByText('You were signed out. Sign in again to go on.').waitFor()
  t.same(
    faults.filter((fault) => !/status of 401/.test(fault)),
    [],
  )
})

t.test('a lost connection is said, and the page goes on by itself when it is back', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  const { page } = await open(t, browser, url)
  await signIn(page, 'ada')
  await page.getByText('Live').waitFor()
  await page.context().setOffline(true)
  await page.getByRole('alert').getByText('No connection to the gateway.').waitFor()
  t.equal(await slot(page, 'A-1').count(), 1, 'what was known stays')
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-1' })
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Slot A-1, zone A: not yet verified, pallet P-1' }).waitFor()
  await page.getByText('Live').waitFor()
  t.equal(await page.getByText('No connection').count(), 0)
})

t.test('everything can be done with the keyboard alone', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-1' })
  const { page, faults } = await open(t, browser, url)
  const focused = () =>
    page
      .locator(':focus')
      .evaluate(
        (element: { getAttribute(name: string): string | null; textContent: string }) =>
          element.getAttribute('aria-label') ?? element.textContent,
      )
  await page.locator('#username:focus').waitFor()
  await page.keyboard.type('ada')
  await page.keyboard.press('Tab')
  await page.keyboard.type('ada-secret')
  await page.keyboard.press('Enter')
  await slot(page, 'A-1').waitFor()
  for (let presses = 0; presses < 20 && !/^A-1 on the plan/.test((await focused()) ?? ''); presses += 1)
    await page.keyboard.press('Tab')
  t.match(await focused(), /^A-1 on the plan: not yet verified/, 'the plan is one stop')
  const walk: [string, RegExp][] = [
    ['ArrowRight', /^A-2 on/],
    ['ArrowDown', /^B-2 on/],
    ['ArrowLeft', /^B-1 on/],
    ['ArrowLeft', /^B-1 on/],
    ['ArrowUp', /^A-1 on/],
  ]
  for (const [key, expected] of walk) {
    await page.keyboard.press(key)
    t.match(await focused(), expected, key)
  }
  await page.keyboard.press('Enter')
  await page.locator('.slot-panel').getByText('P-1').first().waitFor()
  t.equal(await slot(page, 'A-1').getAttribute('aria-pressed'), 'true')
  await page.keyboard.press('Escape')
  await page.locator('.slot-panel').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Sign out' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.same(faults, [])
})

t.test('an admin sees webhooks and alerts, and says that an alert was seen', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  const secret = 'a secret of sixteen or more'
  const register = (body: object) =>
    gateway.ask('POST', '/api/webhooks', { by: people.ada, body: { secret, events: ['whms.placement'], ...body } })
  await register({ url: 'https://erp.example.com/hooks' })
  await register({ url: 'https://old.example.com/hooks', active: false })
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  db.exec(
    `INSERT INTO alert (kind, subject, message, created_at_ms) VALUES ('webhook.failing', 'x', 'erp.example.com does not answer', 1)`,
  )
  const { page, faults } = await open(t, browser, url, { colorScheme: 'dark', viewport: { width: 820, height: 1180 } })
  await signIn(page, 'ada')
  const webhooks = page.locator('.webhooks')
  await webhooks.getByText('delivering').waitFor()
  t.match(await webhooks.innerText(), /erp\.example\.com[\s\S]*delivering[\s\S]*old\.example\.com[\s\S]*switched off/)
  const alerts = page.locator('.alerts')
  await alerts.getByText('erp.example.com does not answer').waitFor()
  await alerts.getByRole('button', { name: 'Acknowledge' }).click()
  await alerts.waitFor({ state: 'detached' })
  t.same(faults, [])
})

t.test('many alerts leave the hall in view: two are above it, and the way to all of them', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  const add = db.prepare('INSERT INTO alert (kind, subject, message, created_at_ms) VALUES (?, ?, ?, ?)')
  for (const n of [1, 2, 3, 4, 5, 6, 7])
    add.run('upload.refused', `${n}`, `Upload ${n} is refused. ${'Why. '.repeat(40)}`, n)
  for (const screen of Object.values(screens)) {
    const { page } = await open(t, browser, url, screen)
    await signIn(page, 'ada')
    await page.getByText('Upload 7 is refused.').waitFor()
    t.equal(await page.locator('.alerts li').count(), 2)
    const hall = await page.locator('#floor').boundingBox()
    t.ok(hall && hall.y < screen.viewport.height - 48, `the hall begins at ${hall?.y} of ${screen.viewport.height} px`)
    await page.getByRole('link', { name: 'All alerts, with their next steps' }).click()
    await page.getByText('Upload 1 is refused.').waitFor()
    await page.context().close()
  }
})

/** A clip of two seconds, as bytes of an MP4. */
function clipOfTwoSeconds(t: { teardown(end: () => void): void }): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-clip-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'clip.mp4')
  const picture = ['-f', 'lavfi', '-i', 'testsrc=size=320x180:rate=10:duration=2']
  execFileSync(
    locateFfmpeg().path,
    [...picture, '-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-movflags', '+faststart', file],
    { stdio: 'ignore' },
  )
  return readFileSync(file)
}

t.test('cameras are shown with their state, and the last clip plays', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  const clip = clipOfTwoSeconds(t)
  const { page, faults } = await open(t, browser, 'about:blank')
  const json = (body: unknown) => ({ contentType: 'application/json', body: JSON.stringify(body) })
  const camera = { enabled: true, problem: null }
  const detection = { id: 7, cctvId: 1, timestamp: new Date().toISOString(), duration: 2, clipStatus: 'recorded' }
  const clipUrls = { playback: 'https://gatehouse.example/api/iot/detection-events/7/clip', snapshot: null }
  await page.route('**/api/iot/cctv', (route) =>
    route.fulfill(
      json({
        data: [
          { ...camera, id: 1, name: 'Dock door 1', state: 'live', online: true, lastFrameAt: new Date().toISOString() },
          {
            ...camera,
            id: 2,
            name: 'Gate',
            state: 'backing-off',
            problem: 'nobody answers',
            online: false,
            lastFrameAt: null,
          },
        ],
      }),
    ),
  )
  await page.route('**/api/iot/detection-events?*', (route) =>
    route.fulfill(json({ data: [{ ...detection, clipUrls }] })),
  )
  await page.route('**/api/iot/detection-events/7/clip', (route) =>
    route.fulfill({ contentType: 'video/mp4', body: clip }),
  )
  await page.goto(url)
  await signIn(page, 'vera')
  const cameras = page.locator('.cameras')
  await cameras.getByText('Gate').waitFor()
  t.match(
    await cameras.innerText(),
    /Dock door 1 live[\s\S]*last picture[\s\S]*Gate cannot be reached, trying again[\s\S]*nobody answers[\s\S]*no picture yet/,
  )
  const video = cameras.locator('video')
  await video.waitFor()
  const playedSeconds = await video.evaluate(
    (element: { play(): Promise<void>; currentTime: number; addEventListener(type: string, work: () => void): void }) =>
      new Promise<number>((ended) => {
        element.addEventListener('ended', () => ended(element.currentTime))
        void element.play()
      }),
  )
  t.ok(playedSeconds > 1.5, `${playedSeconds} s were played, from this gateway whatever its address says`)
  t.same(faults, [])
})

t.test('without cameras the page says so', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  const { page } = await open(t, browser, url)
  await signIn(page, 'vera')
  await page.getByText('No cameras here yet.').waitFor()
})

t.test('neither a large nor a small screen has to be moved sideways', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway)
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P'.repeat(256) })
  for (const [width, height] of [
    [390, 844],
    [820, 1180],
    [1180, 820],
    [1920, 1080],
  ] as const) {
    const { page } = await open(t, browser, url, { viewport: { width, height } })
    await signIn(page, 'ada')
    await slot(page, 'A-1').click()
    await page.locator('.slot-panel .event').first().waitFor()
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    t.equal(wide, width, `${width} × ${height}`)
    await page.context().close()
  }
})
