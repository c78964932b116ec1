import type { Browser } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { furnish, people, type TestGateway } from '../support/gateway.ts'
import { followed, type LivePage } from '../support/live-page.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const units = '/api/whms/transport-units'
const cameras = [{ id: 1, name: 'Dock door 1', url: 'rtsp://127.0.0.1:9/main', viewers: ['sven', 'vera'] }]
const references = ['DN-1', 'DN-2', 'DN-3', 'DN-4', 'DN-5', 'DN-6']
const stepsAMinute = 15
/** The default rate of a caller is 100 a minute: so four screens of one account stay below it. */
const mostAScreen = 24
/** Views that ask for film and master data of each new move that they show: three such screens. */
const mostOf: Readonly<Record<string, number>> = { verify: 33, 'find/P-1': 33 }

const post = async (gateway: TestGateway, path: string, body: object) => {
  const answer = await gateway.ask('POST', path, { by: people.olga, body })
  if (answer.status !== 201 && answer.status !== 200) throw new Error(answer.text)
  return answer.body
}

type Dock = Place & { readonly ids: readonly string[] }

async function dock(t: Parameters<typeof place>[0]): Promise<Dock> {
  const made = await place(t, { cameras, ledger: { assets: 'registered' } })
  await furnish(made.gateway, ['A-01-01', 'A-01-02'])
  const ids: string[] = []
  for (const reference of references)
    ids.push((await post(made.gateway, units, { reference, direction: 'inbound' })).id)
  return { ...made, ids }
}

/**
 * Records the events of a minute at a busy dock: units advance, are held and resumed, and a pallet comes with each step.
 */
async function step({ gateway, ids }: Dock, n: number): Promise<void> {
  const id = ids[Math.floor(n / 3) % ids.length]
  const turn = n % 3
  await post(
    gateway,
    `${units}/${id}/${turn === 0 ? 'hold' : turn === 1 ? 'resume' : 'advance'}`,
    turn === 0 ? { reason: 'seal' } : {},
  )
  const event_type = n % 2 === 0 ? 'PLACED' : 'REMOVED'
  const pallet = 1 + (Math.floor(n / 2) % 5)
  const slot_code = pallet === 1 ? 'A-01-01' : 'A-01-02'
  await record(gateway, { event_type, slot_code, asset_barcode: `P-${pallet}` })
}

const views = [
  'units',
  'units/ID',
  'todo',
  'find/DN-1',
  'find/P-1',
  'cameras',
  'counts',
  'verify',
  'incidents',
  'alerts',
  '',
]

async function openViews(
  t: Parameters<typeof open>[0],
  { url, ids }: Dock,
): Promise<{ view: string; live: LivePage }[]> {
  const opened = []
  for (const view of views) {
    const { page } = await open(t, browser, `${url}${view.replace('ID', ids[0] ?? '')}`)
    const live = await followed(page)
    // Alerts are for an admin alone.
    await signIn(page, view === 'alerts' ? 'ada' : 'sven')
    await page.locator('header .views, header nav').first().waitFor()
    await live.hears('hello')
    opened.push({ view, live })
  }
  return opened
}

t.test(
  'a screen on a busy dock asks so little that several of one account stay below its rate',
  inBrowser,
  async (t) => {
    const made = await dock(t)
    const screens = await openViews(t, made)
    for (const { live } of screens) {
      await live.stop()
      await live.page.clock.runFor(70_000)
      await live.settle()
      live.asked.length = 0
    }
    for (let n = 0; n < stepsAMinute; n += 1) {
      await step(made, n)
      for (const { live } of screens) for (let part = 0; part < 4; part += 1) await live.page.clock.runFor(1000)
    }
    for (const { view, live } of screens) {
      // A photo never changes, so the browser keeps it.
      const asked = live.asked.filter((path, at, all) => !path.includes('/photos/') || all.indexOf(path) === at)
      const most = mostOf[view] ?? mostAScreen
      t.ok(asked.length <= most, `/${view}: ${asked.length} requests a minute\n${asked.join('\n')}`)
    }
  },
)

t.test('a board has what came by the stream before it asks for anything', inBrowser, async (t) => {
  const made = await dock(t)
  const { page } = await open(t, browser, `${made.url}units`)
  const live = await followed(page)
  await signIn(page, 'sven')
  const stage = (name: string) => page.getByRole('region', { name, exact: true })
  await stage('registered').getByRole('link', { name: 'DN-2' }).waitFor()
  await live.hears('hello')
  await page.clock.runFor(70_000)
  await live.settle()
  await page.route('**/api/whms/**', (route) => route.abort())
  await post(made.gateway, `${units}/${made.ids[1]}/advance`, {})
  await stage('receiving').getByRole('link', { name: 'DN-2' }).waitFor()
  const move = { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-9', work_order_ref: 'DN-2' }
  await record(made.gateway, move)
  await stage('receiving').getByText('1 pallet', { exact: true }).waitFor()
  t.pass('without a question')
  await page.unroute('**/api/whms/**')
  const read = page.waitForRequest(`**${units}/${made.ids[1]}`)
  await page.clock.runFor(70_000)
  await read
  t.pass('who advanced it, and when, is read with the next whole board')
})

t.test('a thing to do that the stream does not tell goes within some 15 s', inBrowser, async (t) => {
  const made = await dock(t)
  await record(made.gateway, { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-7' })
  const { page } = await open(t, browser, `${made.url}todo`)
  const live = await followed(page)
  await signIn(page, 'sven')
  const unregistered = page.getByText('Pallet P-7: no one has registered this pallet')
  await unregistered.waitFor()
  await live.hears('hello')
  await page.clock.runFor(20_000)
  await live.settle()
  await unregistered.waitFor()
  const asset = { asset_id: 'P-7', type: 'pallet' }
  const { status } = await made.gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: asset })
  t.equal(status, 201)
  await page.clock.runFor(16_000)
  await live.settle()
  await unregistered.waitFor({ state: 'detached' })
})

t.test('things to do come and go with what the stream tells, before anything is asked for', inBrowser, async (t) => {
  const made = await dock(t)
  const { page } = await open(t, browser, `${made.url}todo`)
  const live = await followed(page)
  await signIn(page, 'sven')
  await page.getByText('Camera Dock door 1 does not watch').waitFor()
  await live.hears('hello')
  await page.clock.runFor(20_000)
  await live.settle()
  await post(made.gateway, `${units}/${made.ids[2]}/hold`, { reason: 'papers' })
  await live.hears('unit')
  await page.clock.runFor(20_000)
  await live.settle()
  await page.getByText('Unit DN-3 is on hold').waitFor()
  await live.settle()
  await page.route('**/api/**', (route) => route.abort())
  await post(made.gateway, `${units}/${made.ids[2]}/resume`, {})
  await page.getByText('Unit DN-3 is on hold').waitFor({ state: 'detached' })
})
