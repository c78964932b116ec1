import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { pictureOf } from '../support/screens.ts'

t.setTimeout(120_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const lying = { width: 1920, height: 1080 }
const upright = { width: 800, height: 1280 }

type Screen = Place & { readonly page: Page; readonly faults: string[]; readonly code: string; readonly id: number }

/** A hall with one of two slots in use, the code of a wall screen, and the screen that it is for. */
async function screen(t: Parameters<typeof open>[0], config: Record<string, unknown> = {}): Promise<Screen> {
  const made = await place(t, config)
  const { gateway, url } = made
  await furnish(gateway, ['A-1', 'A-2'])
  const zone = { name: 'Yard', zone_type: 'shipping', warehouseId: 1 }
  await gateway.ask('POST', '/api/whms/zones', { by: people.ada, body: zone })
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-1', scale_weight_kg: 400 })
  const device = await gateway.ask('POST', '/api/devices', { by: people.ada, body: { name: 'wall-1', kind: 'kiosk' } })
  const { page, faults } = await open(t, browser, `${url}wall`, { viewport: lying })
  return { ...made, page, faults, code: device.body.enrolment.code, id: device.body.id }
}

async function enrol(page: Page, code: string): Promise<void> {
  await page.getByLabel('Enrolment code').fill(code)
  await page.getByRole('button', { name: 'Enrol this screen' }).click()
}

t.test(
  'a wall screen is enrolled by its code, shows the hall with its trouble, and only reads',
  inBrowser,
  async (t) => {
    const nearlyFull = { retention: { minFreeBytes: '8000000GiB', ledgerReserveBytes: '1B' } }
    const { url, page, faults, code } = await screen(t, nearlyFull)
    const session = { data: { username: 'ada', secret: 'ada-secret' } }
    t.equal((await page.context().request.post(`${url}api/session`, session)).status(), 201)
    await page.reload()
    await page.getByRole('heading', { name: 'This screen is not enrolled yet' }).waitFor()
    t.same(await violations(page), [], 'enrolment')
    await page.locator('.wall-code').waitFor()
    await page.setViewportSize({ width: 1280, height: 720 })
    const enrolBox = await page.getByRole('button', { name: 'Enrol this screen' }).boundingBox()
    t.ok(enrolBox && enrolBox.y + enrolBox.height <= 720, 'nothing is below the edge of a screen that has no wheel')
    await page.setViewportSize(lying)
    const changes: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(`${request.method()} ${new URL(request.url()).pathname}`)
    })
    await enrol(page, 'not-a-code')
    await page.getByText('The code is wrong, used or too old. Ask for a new one.').waitFor()
    await enrol(page, code)
    await page.getByText('50%').waitFor()
    await page.getByText('1 of 2').waitFor()
    t.equal(await page.getByText('Yard').count(), 0, 'a zone without slots has no share')
    await page.getByRole('heading', { name: 'The disk is in trouble' }).waitFor()
    t.equal(await page.locator('a, button, input, select, form, summary, [tabindex]').count(), 0, 'nothing to press')
    const others = changes.filter((change) => !change.startsWith('POST /api/device-pairings'))
    t.same(others, ['POST /api/devices/enrol', 'POST /api/devices/enrol', 'POST /api/session'])
    const { caller } = await (await page.context().request.get(`${url}api/session`)).json()
    t.match(caller, { username: 'wall-1', role: 'viewer' }, "the admin's session does not stay in the hall")
    for (const viewport of [lying, upright]) {
      await page.setViewportSize(viewport)
      const name = `wall ${viewport.width}`
      t.same(await violations(page), [], name)
      const { x, y, width, height } = (await page.locator('.wall-figures').boundingBox()) ?? {
        x: -1,
        y: 0,
        width: 0,
        height: 0,
      }
      t.ok(x >= 0 && y >= 0 && x + width <= viewport.width && y + height <= viewport.height, `${name}: all is in view`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, `${name}: not sideways`)
      t.equal(await page.evaluate('document.documentElement.scrollHeight'), viewport.height, `${name}: nothing scrolls`)
      const picture = pictureOf(name)
      if (picture !== undefined) await page.screenshot({ path: picture })
    }
    t.same(
      faults.filter((fault) => !/status of 401/.test(fault)),
      [],
    )
  },
)

t.test(
  'a wall screen signs in by itself, says since when it knows nothing new, and is out once it is revoked',
  inBrowser,
  async (t) => {
    const { gateway, url, page, code, id } = await screen(t)
    await enrol(page, code)
    await page.getByText('All is well').waitFor()
    await page.clock.install()
    await page.context().clearCookies()
    await page.reload()
    await page.getByText('All is well').waitFor()
    const moved = page.locator('main[style*="translate("]')
    await moved.waitFor()
    t.match(await moved.getAttribute('style'), /translate\(-?\d+px, -?\d+px\)/)
    await page.route(`${url}api/**`, (route) => route.abort())
    await page.clock.fastForward(20_000)
    await page.getByRole('heading', { name: /^Not up to date since \d\d:\d\d$/ }).waitFor()
    t.equal(await page.getByText('All is well').count(), 0, 'nobody knows')
    t.equal(await page.getByText('1 of 2').count(), 1, 'what was known stays')
    await page.unroute(`${url}api/**`)
    t.equal((await gateway.ask('POST', `/api/devices/${id}/revoke`, { by: people.ada })).status, 200)
    await page.clock.fastForward(20_000)
    await page.getByText('This screen was revoked').waitFor()
    t.equal(await page.getByText('1 of 2').count(), 0)
    await page.reload()
    await page.getByText('This screen was revoked').waitFor()
    await enrol(page, code)
    await page.getByText('The code is wrong, used or too old.').waitFor()
  },
)

t.test(
  'a wall screen is enrolled by a phone that scans its code, and revoked like any device',
  inBrowser,
  async (t) => {
    const { gateway, url, page } = await screen(t)
    await page.getByRole('img', { name: 'QR code that enrols this screen' }).waitFor()
    const size = await page.evaluate<number>(
      `Number.parseFloat(getComputedStyle(document.querySelector('.wall-code')).fontSize)`,
    )
    t.ok(size >= 36, `${size} px: read from where the phone is held`)
    const code = (await page.locator('.wall-code').innerText()).replace('-', '')
    const { page: phone } = await open(t, browser, `${url}pair/${code}`, { viewport: { width: 360, height: 740 } })
    await signIn(phone, 'sven')
    await phone.getByText(`A screen shows the code ${code.slice(0, 4)}-${code.slice(4)}.`).waitFor()
    t.same(await violations(phone), [])
    t.equal(await phone.evaluate('document.documentElement.scrollWidth'), 360, 'not sideways')
    await phone.getByLabel('Name of the screen').fill('wall-1')
    await phone.getByRole('button', { name: 'Enrol this screen' }).click()
    await phone.getByText('name is already taken').waitFor()
    t.equal(await phone.getByLabel('Name of the screen').inputValue(), 'wall-1', 'what was typed stays')
    await phone.getByLabel('Name of the screen').fill('wall-dock')
    await phone.getByRole('button', { name: 'Enrol this screen' }).click()
    await phone.getByText('wall-dock is enrolled.').waitFor()
    await phone.getByText('viewers: [wall-dock]').waitFor()
    await page.getByText('All is well').waitFor()
    await page.reload()
    await page.getByText('All is well').waitFor()
    await phone.reload()
    await phone.getByText('This code is used').waitFor()
    await phone.goto(`${url}pair/BBBBBBBB`)
    await phone.getByText('No screen shows this code any more.').waitFor()
    const devices = (await gateway.ask('GET', '/api/devices', { by: people.ada })).body.data
    t.match(devices, [{ name: 'wall-1' }, { name: 'wall-dock', kind: 'kiosk', role: 'viewer', status: 'enrolled' }])
  },
)

t.test('a wall screen draws the hall as it is now, and is not well while something is open', inBrowser, async (t) => {
  const { gateway, page, faults, code } = await screen(t)
  await enrol(page, code)
  await page.getByText('All is well').waitFor()
  const plan = page.locator('.wall-plan > svg')
  t.equal(await plan.getAttribute('aria-label'), 'Hall: 1 of 2 slots in use')
  t.equal(
    (await page.locator('.wall-legend').innerText()).replaceAll(/\s+(?=[\d–])/g, ' '),
    'Empty 1\nNot yet verified 1\nVerified 0\nDisputed 0\nContradiction 0',
  )
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-2', asset_barcode: 'P-2', scale_weight_kg: 400 })
  await page.getByText('100%').waitFor({ timeout: 1000 })
  await page.getByText('Empty 0').waitFor()
  await gateway.ask('POST', '/api/whms/events', {
    by: people.sven,
    body: { event_type: 'DISPUTED', slot_code: 'A-1', asset_barcode: 'P-1', metadata: { note: 'torn' } },
  })
  await page.getByText('Disputed 1').waitFor({ timeout: 1000 })
  await page.getByRole('heading', { name: '1 slot is disputed' }).waitFor()
  t.equal(await page.getByText('All is well').count(), 0)
  // P-2 cannot be in two slots.
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-2', scale_weight_kg: 400 })
  await page.getByRole('heading', { name: /contradict/ }).waitFor()
  for (const viewport of [lying, upright]) {
    await page.setViewportSize(viewport)
    const box = await plan.boundingBox()
    t.ok(box && box.width > 300 && box.height > 200, `${box?.width} by ${box?.height}`)
    t.ok(box && box.y + box.height <= viewport.height, 'all of it is in view')
    t.same(await violations(page), [])
    const picture = pictureOf(`wall plan ${viewport.width}`)
    if (picture !== undefined) await page.screenshot({ path: picture })
  }
  t.same(
    faults.filter((fault) => !/status of 401/.test(fault)),
    [],
  )
})

t.test('the code of a handheld makes no wall screen', inBrowser, async (t) => {
  const { gateway, page } = await screen(t)
  const handheld = await gateway.ask('POST', '/api/devices', { by: people.ada, body: { name: 'handheld-1' } })
  await enrol(page, handheld.body.enrolment.code)
  await page.getByText('This code was for a handheld, and is used now.').waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'This screen is not enrolled yet' }).waitFor()
})
