import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'

const page = async (gateway: TestGateway, path: string) =>
  (await gateway.ask('GET', path, { headers: { Accept: 'text/html' } })).text

const keptFile = (gateway: TestGateway, version: string) =>
  join(gateway.folder, 'state/console-layouts', `${version}.json.gz`)

/** As if the pages of that version had looked different: two builds of the page would take a minute. */
function repaint(gateway: TestGateway, version: string): void {
  const file = keptFile(gateway, version)
  const files = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8'))
  for (const name of ['index.html', 'scan.html'])
    files[name].text = files[name].text.replace('</body>', '<!-- old --></body>')
  files['assets/main-OLD.js'] = { type: 'text/javascript; charset=utf-8', immutable: true, text: 'old()' }
  const [codes] = Object.keys(files).filter((name) => name.startsWith('assets/codes-'))
  if (codes === undefined) throw new Error('the page has no reader of codes')
  files['assets/codes-OLD.wasm'] = files[codes]
  writeFileSync(join(gateway.folder, 'state/console-layouts/codes-OLD.wasm.gz'), gzipSync('old reader'))
  writeFileSync(file, gzipSync(JSON.stringify(files)))
}

/** A gateway that ran as version 1.0.0 and runs as 1.1.0 now. */
async function updated(t: Test, floorLayout: string): Promise<TestGateway> {
  const before = await testGateway({ version: '1.0.0' })
  await before.layouts.keep()
  repaint(before, '1.0.0')
  before.close()
  const { folder, clock } = before
  const gateway = await testGateway({ folder, clock, version: '1.1.0', config: { updates: { floorLayout } } })
  t.teardown(() => gateway.end())
  await gateway.layouts.keep()
  return gateway
}

const ofFloor = ['/', '/find/4711', '/todo', '/verify', '/units/7', '/counts', '/labels', '/wall', '/scan', '/training']
const ofOthers = ['/cameras', '/incidents', '/plan', '/alerts', '/system', '/webhooks', '/audit', '/no-such-page']

t.test(
  'after an update the floor keeps the pages of the version that the config names, and nobody else does',
  async (t) => {
    const gateway = await updated(t, '1.0.0')
    for (const path of ofFloor) t.match(await page(gateway, path), '<!-- old -->', path)
    for (const path of ofOthers) t.notMatch(await page(gateway, path), '<!-- old -->', path)
    for (const path of ['/', '/audit']) t.match(await page(gateway, path), 'data-layouts="two"', `${path} says so`)
  },
)

t.test('with "automatic" an update changes the pages of the floor at once', async (t) => {
  const gateway = await updated(t, 'automatic')
  for (const path of [...ofFloor, ...ofOthers]) {
    const text = await page(gateway, path)
    t.notMatch(text, '<!-- old -->', path)
    t.notMatch(text, 'data-layouts', path)
  }
})

t.test('a page that was open during an update still finds its files', async (t) => {
  const gateway = await updated(t, 'automatic')
  const old = await gateway.ask('GET', '/assets/main-OLD.js')
  t.match(old, { status: 200, text: 'old()' })
  const reader = await gateway.ask('GET', '/assets/codes-OLD.wasm', { headers: { 'Accept-Encoding': 'gzip' } })
  t.equal(gunzipSync(reader.bytes).toString(), 'old reader')
  t.equal((await gateway.ask('GET', '/assets/main-NONE.js')).status, 404)
})

t.test('a version of which nothing is kept leaves the floor the pages of this one', async (t) => {
  for (const floorLayout of ['0.9.0', '../../gatehouse', '1.1.0']) {
    const gateway = await updated(t, floorLayout)
    t.match(await page(gateway, '/'), '<div id="app">', floorLayout)
    t.notMatch(await page(gateway, '/'), 'data-layouts', floorLayout)
  }
})

t.test('the three newest versions are kept, and the one that the config names', async (t) => {
  let gateway = await testGateway({ version: '1.0.0', config: { updates: { floorLayout: '1.0.0' } } })
  t.teardown(() => gateway.end())
  for (const version of ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0']) {
    gateway.close()
    const { folder, clock } = gateway
    gateway = await testGateway({ folder, clock, version, config: { updates: { floorLayout: '1.0.0' } } })
    await gateway.layouts.keep()
  }
  const kept = readdirSync(join(gateway.folder, 'state/console-layouts'))
  t.strictSame(kept.filter((name) => name.endsWith('.json.gz')).sort(), [
    ...['1.0.0.json.gz', '1.2.0.json.gz', '1.3.0.json.gz', '1.4.0.json.gz'],
  ])
  t.ok(existsSync(keptFile(gateway, '1.0.0')))
  t.ok(
    kept.some((name) => name.startsWith('codes-')),
    'what reads codes is kept beside them',
  )
})

t.test('a link between the floor and the rest loads the pages of the other version', inBrowser, async (t) => {
  const browser = await launchBrowser()
  t.teardown(() => browser?.close())
  const { url, gateway } = await place(t, { updates: { floorLayout: '1.0.0' } })
  await gateway.layouts.keep()
  renameSync(keptFile(gateway, '0.0.0-test'), keptFile(gateway, '1.0.0'))
  repaint(gateway, '1.0.0')
  const { page, faults } = await open(t, browser, `${url}todo`)
  await signIn(page, 'ada')
  const isOld = async () => (await page.content()).includes('<!-- old -->')
  const marked = () => page.evaluate('globalThis.untouched === true')
  const views = page.getByRole('navigation')
  await page.evaluate('globalThis.untouched = true')
  await views.getByRole('link', { name: 'Verify' }).click()
  await page.waitForURL('**/verify')
  t.equal(await marked(), true, 'from one page of the floor to another only the view changes')
  await views.getByRole('link', { name: 'Cameras' }).click()
  await page.waitForURL('**/cameras')
  t.equal(await isOld(), false)
  t.equal(await marked(), false, 'the page was loaded')
  await views.getByRole('link', { name: 'Floor' }).click()
  await page.waitForURL(url)
  t.equal(await isOld(), true)
  t.same(faults, [])
})
