import BetterSqlite3 from 'better-sqlite3'
import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { badgeCode, barsOf } from '../../src/console/page/system/badge-bars.ts'
import { databaseFile } from '../../src/database/index.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, signIn } from '../support/browser.ts'
import { readCode128 } from '../support/code128.ts'
import { furnish, people, siteUrl } from '../support/gateway.ts'
import { scannerAt } from '../support/scanner.ts'
import { pictureOf, screens } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** A hall, a box with an hour of figures, and three alerts. */
async function box(t: Parameters<typeof place>[0]): Promise<Place> {
  const made = await place(t, { webhooks: { allowNetworks: ['127.0.0.0/8'] } })
  const { gateway } = made
  await furnish(gateway, ['A-1'])
  const start = gateway.clock.now()
  for (let minute = 60; minute >= 0; minute -= 1) {
    gateway.clock.setWall(start - minute * 60_000)
    await gateway.lastDay.take()
  }
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  const add = db.prepare(
    'INSERT INTO alert (kind, subject, message, created_at_ms, acknowledged_at_ms) VALUES (?, ?, ?, ?, ?)',
  )
  add.run('disk.low', 'disk', 'The disk has 1.9 GB free, less than 2 GB.', start - 600_000, null)
  add.run('webhook.failing', 'w', 'erp.example.com fails: HTTP 503.', start - 300_000, null)
  add.run('clock.synced', 'clock', 'The clock is well again, after 2 hours.', start - 9_000_000, start - 8_000_000)
  await gateway.ask('POST', '/api/devices', { by: people.ada, body: { name: 'wall-1', kind: 'kiosk' } })
  return made
}

/** Each view, and what shows that it is there. */
const views: readonly (readonly [path: string, ready: (page: Page) => Promise<unknown>])[] = [
  ['alerts', (page) => page.getByText('The disk has 1.9 GB free, less than 2 GB.').waitFor()],
  ['system', (page) => page.locator('.day-chart canvas').first().waitFor()],
  ['devices', (page) => page.getByText('wall-1').first().waitFor()],
  ['webhooks', (page) => page.getByRole('checkbox').nth(5).waitFor()],
]
const looks = [
  ['desktop', 'light'],
  ['tablet', 'dark'],
  ['handheld', 'light'],
] as const

t.test('every view about the box fits every screen, and axe finds nothing', inBrowser, async (t) => {
  const { url } = await box(t)
  for (const [screen, colorScheme] of looks) {
    const context = { ...screens[screen], colorScheme, reducedMotion: 'reduce' as const }
    const { page, faults } = await open(t, browser, `${url}${views[0]?.[0]}`, context)
    await signIn(page, 'ada')
    for (const [path, ready] of views) {
      await page.goto(`${url}${path}`)
      await ready(page)
      t.same(await violations(page), [], `${path}, ${screen}, ${colorScheme}`)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      t.equal(width, context.viewport.width, `${path}, ${screen}: not sideways`)
      const picture = pictureOf(`${path} ${screen} ${colorScheme}`)
      if (picture !== undefined) await page.screenshot({ path: picture, fullPage: true })
    }
    t.same(faults, [])
    await page.context().close()
  }
})

t.test(
  'an alert says what it means and what to do, and leaves the list when somebody takes care',
  inBrowser,
  async (t) => {
    const { url } = await box(t)
    const { page } = await open(t, browser, `${url}alerts`)
    await signIn(page, 'ada')
    const disk = page.getByRole('listitem').filter({ hasText: 'The disk has 1.9 GB free' })
    await disk.getByText('Events are recorded. The gateway removes old clips first.').waitFor()
    await disk.getByText('Close incidents that hold clips').waitFor()
    await disk.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('1 alert is open.').waitFor()
    await page.getByRole('region', { name: 'Acknowledged' }).getByText('The disk has 1.9 GB free').waitFor()
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('The gateway knows of no trouble.').waitFor()
    await page.getByRole('link', { name: 'To the system' }).click()
    await page.getByRole('heading', { name: 'System' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Alerts' }).waitFor()
  },
)

t.test('a press counts for the alerts that somebody has seen, whatever comes into the list', inBrowser, async (t) => {
  const { gateway, url } = await box(t)
  const { page } = await open(t, browser, `${url}alerts`)
  await signIn(page, 'ada')
  const rows = page.getByRole('region', { name: 'Open' }).getByRole('listitem')
  const acknowledge = rows.filter({ hasText: 'erp.example.com fails' }).getByRole('button', { name: 'Acknowledge' })
  await acknowledge.focus()
  await page.getByRole('button', { name: 'Acknowledge all 2' }).click()
  await acknowledge.focus()
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  db.prepare('INSERT INTO alert (kind, subject, message, created_at_ms) VALUES (?, ?, ?, ?)').run(
    ...['disk.low', 'disk', 'The disk has 1.5 GB free, less than 2 GB.', gateway.clock.now()],
  )
  db.close()
  await rows.filter({ hasText: '1.5 GB free' }).waitFor()
  await page.getByRole('button', { name: 'Acknowledge all 3' }).waitFor()
  t.equal(await page.getByRole('button', { name: /^Yes/ }).count(), 0, 'nobody agreed to the third one')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Acknowledged' }).getByText('erp.example.com fails').waitFor()
  t.equal(await rows.count(), 2)
})

t.test('the system says of each part how it is, and draws the last day', inBrowser, async (t) => {
  const { url } = await box(t)
  const { page } = await open(t, browser, `${url}system`)
  await signIn(page, 'ada')
  await page.getByText('It can be read, and its log is signed.').waitFor()
  await page.getByText('No backup is scheduled.').waitFor()
  await page.getByRole('img', { name: /^Free disk: now [\d.]+ [GTM]B, / }).waitFor()
  t.equal(await page.getByRole('heading', { level: 3, name: 'Entries of the log a minute' }).count(), 1)
  await page.getByText('More', { exact: true }).click()
  t.equal(await page.getByRole('link', { name: 'System' }).getAttribute('aria-current'), 'page')
})

t.test('the system says how it is as a whole, and of what needs care why and where to go', inBrowser, async (t) => {
  const { url } = await box(t)
  const { page } = await open(t, browser, `${url}system`)
  let wanted: { status: string; part: string; of: string } | undefined
  await page.route('**/api/health', async (route) => {
    const answer = await route.fetch()
    const health = await answer.json()
    const well = Object.entries<{ configured?: boolean }>(health.checks).map(([name, { configured }]) => [
      name,
      { status: 'healthy', configured },
    ])
    const checks = Object.fromEntries(well)
    if (wanted) checks[wanted.part] = { status: wanted.of, reason: 'The fan stands still.' }
    await route.fulfill({
      status: wanted?.status === 'unhealthy' ? 503 : 200,
      json: { ...health, status: wanted?.status ?? 'healthy', checks },
    })
  })
  await signIn(page, 'ada')
  const whole = page.locator('main [role=status]').first()
  const toDo = page.getByRole('link', { name: 'Show the next step' })
  await page.getByText('It can be read, and its log is signed.').waitFor()
  t.equal(await whole.innerText(), 'All is well.')
  t.same([...new Set(await page.locator('.system-part .chip').allInnerTexts())], ['well', 'not set up'])
  const unused = page.locator('.system-part').filter({ hasText: 'not set up' })
  t.same(await unused.locator('p').allInnerTexts(), [
    'People sign in with accounts of this box, and files stay on it.',
    'No other system is notified.',
    'No camera watches.',
    'No one outside confirms the log.',
    'No backup is scheduled. Set backup.file.to in the config: a broken disk would take everything with it.',
    'This box reports to no head office.',
    'No one gets a message about an alert.',
  ])
  t.equal(await toDo.count(), 0)
  for (const [status, of, part, said, name, chip] of [
    ['degraded', 'degraded', 'disk', 'It works, but needs attention.', 'Disk', 'needs attention'],
    ['unhealthy', 'unhealthy', 'database', 'It does not record.', 'Ledger', 'broken'],
    ['healthy', 'degraded', 'webhooks', 'It works, but needs attention.', 'Webhooks', 'needs attention'],
  ] as const) {
    wanted = { status, part, of }
    await page.reload()
    const card = page.locator('.system-part').filter({ has: page.getByRole('heading', { name }) })
    await card.waitFor()
    t.equal(await whole.innerText(), said, status)
    t.equal(await card.getByRole('heading', { name: `${name} ${chip}`, exact: true }).count(), 1, chip)
    t.match(await card.innerText(), 'The fan stands still.')
    t.equal(await toDo.count(), 1)
  }
})

t.test('what the system says of its parts has room beside long German names', inBrowser, async (t) => {
  const made = await place(t, { backup: { file: { to: { folder: t.testdir() } } } })
  await made.gateway.lastDay.take()
  for (const context of Object.values(screens)) {
    const { page } = await open(t, browser, `${made.url}system`, { ...context, locale: 'de-DE' })
    await signIn(page, 'ada')
    await page.getByText('Letzte bei einer Probe wiederhergestellte Sicherung').waitFor()
    for (const fact of await page.locator('.box-facts dd').all())
      t.ok(((await fact.boundingBox())?.width ?? 0) > 90, `${context.viewport.width}: ${await fact.innerText()}`)
    await page.context().close()
  }
})

t.test('a chart changes its colors with the theme', inBrowser, async (t) => {
  const { url } = await box(t)
  const { page } = await open(t, browser, `${url}system`)
  await signIn(page, 'ada')
  await page
    .getByRole('img', { name: /^Free disk: / })
    .locator('canvas')
    .waitFor()
  /** Whether a pixel of the chart has this color of the theme. */
  const isDrawnIn = (name: string) =>
    page.evaluate(`(async () => {
      for (const _ of [1, 2]) await new Promise(requestAnimationFrame)
      const one = document.createElement('canvas').getContext('2d')
      one.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('${name}')
      one.fillRect(0, 0, 1, 1)
      const [r, g, b] = one.getImageData(0, 0, 1, 1).data
      const chart = document.querySelector('.day-chart canvas')
      const { data } = chart.getContext('2d').getImageData(0, 0, chart.width, chart.height)
      for (let i = 0; i < data.length; i += 4)
        if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) return true
      return false
    })()`)
  for (const colorScheme of ['light', 'dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    t.equal(await isDrawnIn('--accent'), true, colorScheme)
  }
})

t.test(
  'the box speaks German where the browser does, and hides its views from those who may not',
  inBrowser,
  async (t) => {
    const { url } = await box(t)
    const { page } = await open(t, browser, `${url}alerts`, { locale: 'de-DE' })
    await signIn(page, 'ada')
    await page.getByText('Die Platte ist fast voll. Buchungen laufen weiter').waitFor()
    const { page: other } = await open(t, browser, `${url}`)
    await signIn(other, 'olga')
    await other.getByText('More', { exact: true }).click()
    t.equal(await other.getByRole('link', { name: /^(Alerts|System)$/ }).count(), 0)
  },
)

t.test('a device is enrolled by the code that is shown once, and revoked by two presses', inBrowser, async (t) => {
  const { gateway, url } = await box(t)
  const { page, faults } = await open(t, browser, `${url}devices`)
  await signIn(page, 'ada')
  const form = page.getByRole('form', { name: 'Add a device' })
  await form.getByLabel('Name').fill('hand held 7')
  await form.getByRole('button', { name: 'Make its code' }).click()
  await form.getByRole('alert').getByText('letters, digits, dot, underscore and hyphen').waitFor()
  t.equal(await form.getByLabel('Name').inputValue(), 'hand held 7', 'nothing typed is lost')
  await form.getByLabel('Name').fill('handheld-7')
  await form.getByRole('button', { name: 'Make its code' }).click()
  const card = page.getByRole('region', { name: 'Enrol handheld-7' })
  await card.getByRole('img', { name: 'QR code that enrols handheld-7' }).waitFor()
  await card.getByText(`On the device open ${siteUrl}/scan and scan the code.`).waitFor()
  for (const viewport of Object.values(screens).map((screen) => screen.viewport)) {
    await page.setViewportSize(viewport)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, 'not sideways')
    for (const fact of await card.locator('dd').all())
      t.ok(((await fact.boundingBox())?.width ?? 0) > 200, `${viewport.width}: it can be read and typed`)
  }
  const code = await card.locator('dd').first().innerText()
  const { status } = await gateway.ask('POST', '/api/devices/enrol', { body: { code } })
  t.equal(status, 200, 'the code that is shown is the code that works')
  await page.getByRole('button', { name: 'Revoke: handheld-7' }).click()
  await page.getByRole('button', { name: 'Yes, revoke handheld-7 and sign everybody out' }).click()
  await page.getByText('handheld-7 is revoked.').waitFor()
  const { body } = await gateway.ask('GET', '/api/devices', { by: people.ada })
  t.match(
    body.data.find(({ name }: { name: string }) => name === 'handheld-7'),
    { status: 'revoked' },
  )
  t.same(
    faults.filter((fault) => !/status of 400/.test(fault)),
    [],
  )
})

t.test('a badge is registered with a PIN and its card is there to print', inBrowser, async (t) => {
  const { gateway, url } = await box(t)
  const { page } = await open(t, browser, `${url}devices`)
  await signIn(page, 'ada')
  const form = page.getByRole('form', { name: 'Register a badge' })
  await form.getByLabel('Name of the person').fill('piotr')
  await form.getByRole('button', { name: 'Make a code' }).click()
  await form.getByLabel('PIN').fill('1234')
  await form.getByRole('button', { name: 'Register' }).click()
  await form.getByRole('alert').getByText('is too easy to guess').waitFor()
  await form.getByLabel('PIN').fill('5183')
  await form.getByRole('button', { name: 'Register' }).click()
  const card = page.getByRole('region', { name: 'Card of piotr' })
  const badge = await card.locator('.code').innerText()
  await card.getByRole('img', { name: `Bar code of ${badge}` }).waitFor()
  const made = await gateway.ask('POST', '/api/devices', { by: people.ada, body: { name: 'h-1' } })
  const enrolled = await gateway.ask('POST', '/api/devices/enrol', { body: { code: made.body.enrolment.code } })
  const { username, instance, secret } = enrolled.body
  const headers = { Authorization: `Bearer ${secret}`, 'X-Storage-Instance': instance, 'X-Storage-Username': username }
  const shift = await gateway.ask('POST', '/api/devices/sign-in', { headers, body: { badge, pin: '5183' } })
  t.match(shift.body, { username: 'piotr' })
  await page.getByRole('button', { name: 'Disable: piotr' }).click()
  await page.getByRole('button', { name: 'Yes, sign piotr out and disable the badge' }).click()
  await page.getByText('piotr is disabled.').waitFor()
})

t.test('what is shown once is left only by somebody who agrees, and by no scan', inBrowser, async (t) => {
  const { url } = await box(t)
  const { page } = await open(t, browser, `${url}webhooks`)
  await signIn(page, 'ada')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    void dialog.dismiss()
  })
  const follow = (path: string) =>
    page
      .locator(`nav a[href="${path}"]`)
      .first()
      .evaluate((link: { click(): void }) => link.click())
  const hook = page.getByRole('form', { name: 'Register a webhook' })
  await hook.getByLabel('Address').fill('https://127.0.0.1:9/hook')
  await hook.getByRole('checkbox', { name: 'event.created' }).check()
  await hook.getByRole('button', { name: 'Register' }).click()
  const secret = page.getByRole('region', { name: 'Secret, shown once' })
  await secret.getByText(/^whsec_/).waitFor()
  await (await scannerAt(page)).scan('P-1')
  await page.getByRole('link', { name: 'Open P-1' }).waitFor()
  await follow('/todo')
  t.same(asked.splice(0), ['The new secret is not shown again. Go on?'])
  await page.getByRole('button', { name: 'Sign out' }).click()
  t.same(asked.splice(0), ['The new secret is not shown again. Go on?'], 'a sign-out would lose it as well')
  await page.getByRole('link', { name: /^Deliveries and settings/ }).click()
  await secret.getByRole('button', { name: 'Done, hide it' }).click()
  await follow('/devices')
  await page.waitForURL(`${url}devices`)

  const badge = page.getByRole('form', { name: 'Register a badge' })
  for (const person of ['piotr', 'zofia']) {
    await badge.getByLabel('Name of the person').fill(person)
    await badge.getByRole('button', { name: 'Make a code' }).click()
    await badge.getByLabel('PIN').fill('5183')
    await badge.getByRole('button', { name: 'Register' }).click()
    await page.getByRole('region', { name: `Card of ${person}` }).waitFor()
  }
  await page.getByRole('region', { name: 'Card of piotr' }).getByRole('button', { name: 'Done, hide the card' }).click()
  await follow('/todo')
  t.same(asked.splice(0), ['The code of this badge is not shown again. Go on?'])
  await page.getByRole('region', { name: 'Card of zofia' }).getByRole('button', { name: 'Done, hide the card' }).click()
  await follow('/todo')
  await page.waitForURL(`${url}todo`)
  t.same(asked, [], 'who has hidden both is not asked')
})

t.test('the bars of a badge are read back by an independent reader of Code 128', (t) => {
  const code = badgeCode(new Uint8Array([0, 31, 32, 255, 7, 9, 100, 3, 50, 60, 70, 80]))
  for (const text of [code, 'PJJ123C', 'a b~!']) t.equal(readCode128(barsOf(text) ?? []), text)
  t.match(code, /^B-[2-9A-HJ-NP-Z]{12}$/)
  t.equal(barsOf('Jürgen'), undefined, 'no bars rather than wrong ones')
  t.end()
})

t.test(
  'a webhook is registered, tested, paused and resumed, and says what its receiver answered',
  inBrowser,
  async (t) => {
    const { gateway, url } = await box(t)
    const { page } = await open(t, browser, `${url}webhooks`)
    await signIn(page, 'ada')
    await page.getByText('No webhook is registered.').waitFor()
    const form = page.getByRole('form', { name: 'Register a webhook' })
    await form.getByLabel('Address').fill('http://127.0.0.1:9/hook')
    await form.getByRole('checkbox', { name: 'event.created' }).check()
    await form.getByRole('button', { name: 'Register' }).click()
    await form.locator('#field-url-problem').getByText(/https/i).waitFor()
    t.equal(await form.getByRole('checkbox', { name: 'event.created' }).isChecked(), true, 'what was chosen stays')
    const other = { url: 'https://127.0.0.1:8/other', events: ['event.created'] }
    t.equal((await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: other })).status, 201)
    await form.getByLabel('Address').fill('https://127.0.0.1:9/hook')
    await form.getByRole('button', { name: 'Register' }).click()
    const shown = page.getByRole('region', { name: 'Secret, shown once' })
    await shown.getByText(/^whsec_/).waitFor()
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))')
    await shown.getByRole('button', { name: 'Copy' }).click()
    await shown.getByText('Copying did not work: select the secret and copy it.').waitFor()
    await shown.getByRole('button', { name: 'Done, hide it' }).click()
    await page.getByRole('link', { name: 'Deliveries and settings: 127.0.0.1:9' }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/The test was not taken: /).waitFor()
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByRole('button', { name: 'Yes, make a new secret' }).click()
    await shown.getByText('https://127.0.0.1:9/hook').waitFor()
    await page.getByRole('button', { name: 'New secret' }).waitFor()
    await page.getByRole('link', { name: 'All webhooks' }).click()
    await page.getByRole('link', { name: 'Deliveries and settings: 127.0.0.1:8' }).click()
    await page.getByRole('heading', { name: '127.0.0.1:8' }).waitFor()
    t.equal(await shown.count(), 0, 'the secret of another webhook is not shown as if it were of this one')
    t.equal(await page.getByText(/The test was not taken: /).count(), 0)
    await page.getByRole('link', { name: 'All webhooks' }).click()
    await page.getByRole('link', { name: 'Deliveries and settings: 127.0.0.1:9' }).click()
    await shown.getByRole('button', { name: 'Done, hide it' }).click()
    await page.getByRole('button', { name: 'Pause, skip new events' }).click()
    await page.getByText('paused, new events are skipped').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('delivering', { exact: true }).waitFor()
    await page.getByLabel('Add the newest checkpoint to each notification').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const chosen = (await gateway.ask('GET', '/api/webhooks', { by: people.ada })).body.data
    t.match(chosen, [{ checkpoint: false }, { checkpoint: true }])
    await page.getByRole('button', { name: 'Pause, hold new events' }).click()
    await page.getByText('paused, new events are held').waitFor()
    const { body } = await gateway.ask('GET', '/api/webhooks', { by: people.ada })
    const states = body.data.map((one: { url: string; active: boolean }) => `${one.url} ${one.active}`).toSorted()
    t.same(states, ['https://127.0.0.1:8/other true', 'https://127.0.0.1:9/hook false'])
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('delivering', { exact: true }).waitFor()
    await page.getByText('1 attempt').click()
    t.same(await violations(page), [])
  },
)

t.test('the groups of event types have titles in the language of the page', inBrowser, async (t) => {
  const { url } = await box(t)
  for (const [locale, titles] of [
    ['de-DE', ['Ablauf', 'Lager', 'Nachweise', 'Kameras und Waagen', 'Test']],
    ['en-GB', ['Workflow', 'Warehouse', 'Compliance', 'IoT', 'Test']],
  ] as const) {
    const { page } = await open(t, browser, `${url}webhooks`, { locale })
    await signIn(page, 'ada')
    await page.getByRole('checkbox').nth(5).waitFor()
    t.same(await page.locator('.event-types > div > p').allInnerTexts(), titles)
    t.equal(await page.locator('.event-types > div > p [lang=en]').count(), 0)
    t.same(await violations(page), [])
  }
})
