import type { Browser } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { launchBrowser, open, place, record, signIn, wholeBrowser } from '../support/browser.ts'
import { filmOf } from '../support/camera-film.ts'
import { furnish, people } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(240_000)

const inWholeBrowser = needs('chromium')
const opening = { name: 'Scan by the camera of this device' }

/** A browser on a device whose camera sees this. */
async function deviceThatSees(t: { teardown(end: () => unknown): void }, film: string): Promise<Browser | undefined> {
  const camera = ['--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${film}`]
  const browser = await launchBrowser(camera, wholeBrowser)
  t.teardown(() => browser?.close())
  return browser
}

t.test('the camera of a device reads a label, and the page opens its story', inWholeBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01-01'])
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'PALLET-0815' })
  const browser = await deviceThatSees(t, await filmOf(t.testdir({}), 'code128', 'PALLET-0815'))
  const { page, faults } = await open(t, browser, url, { permissions: ['camera'] })
  const asked: string[] = []
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
  await signIn(page, 'olga')
  await page.getByRole('button', opening).waitFor()
  t.notMatch(asked.join('\n'), /code-worker|\.wasm|camera-scan/, 'nothing of it is loaded before')
  await page.getByRole('button', opening).click()
  await page.getByRole('button', { name: 'Close the camera' }).waitFor()
  t.same(await violations(page), [])
  await page.getByRole('heading', { level: 1, name: 'PALLET-0815' }).waitFor()
  t.equal(await page.locator('.camera-scan').count(), 0, 'and the camera is closed')
  t.match(asked.join('\n'), /GET \/assets\/codes-[A-F0-9]{8}\.wasm/, 'from the gateway itself')
  t.same(
    asked.filter((one) => one.startsWith('POST') && !one.includes('/api/session')),
    [],
    'no picture is sent',
  )
  t.same(faults, [], 'the content security policy has nothing against it')

  const refusing = await open(t, browser, url)
  await signIn(refusing.page, 'olga')
  await refusing.page.getByRole('button', opening).click()
  await refusing.page.getByText(/^The camera was refused\. Allow it for this page/).waitFor()
  await refusing.page.getByLabel('Scan or type a pallet, slot or unit').fill('PALLET-0815')
  await refusing.page.keyboard.press('Enter')
  await refusing.page.getByRole('heading', { level: 1, name: 'PALLET-0815' }).waitFor()
})

t.test('a wall screen and a handheld take their code by the camera', inWholeBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01-01'])
  const made = await gateway.ask('POST', '/api/devices', { by: people.ada, body: { name: 'wall-1', kind: 'kiosk' } })
  const { code } = made.body.enrolment
  const browser = await deviceThatSees(t, await filmOf(t.testdir({}), 'qrcode', code))
  const scan = await open(t, browser, `${url}scan`, { permissions: ['camera'] })
  await scan.page.getByRole('button', opening).click()
  await eventually(
    () => scan.page.locator('form input').first().inputValue(),
    (value) => value === code,
  )
  t.same(await violations(scan.page), [])
  t.same(scan.faults, [])
  const wall = await open(t, browser, `${url}wall`, { permissions: ['camera'] })
  await wall.page.getByRole('button', opening).click()
  await wall.page.getByText('0 of 1').waitFor()
  t.same(wall.faults, [])
})

t.test('the pages may ask for the camera of the device, and for nothing else of it', async (t) => {
  const { gateway } = await place(t)
  for (const path of ['/', '/scan', '/wall']) {
    const { headers } = await gateway.ask('GET', path)
    t.equal(headers.get('permissions-policy'), 'camera=(self), microphone=(), geolocation=()', path)
    t.notMatch(headers.get('content-security-policy'), /unsafe/, path)
  }
})
