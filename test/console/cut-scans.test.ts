import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, record, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { scannerAt } from '../support/scanner.ts'

t.setTimeout(240_000)

const sscc = '00340123450000000154'
const suffixes = [['Enter'], ['Tab'], []] as const

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const scanned = (page: Page) => page.locator('.scan-result').getByRole('status')

t.test(
  'a scan that pauses is one code, with a suffix and without, and nothing else is opened',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    await furnish(gateway, ['A-01'])
    await record(gateway, { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: sscc })
    const { page, faults } = await open(t, browser, `${url}todo`)
    await signIn(page, 'sven')
    await page.getByRole('heading', { level: 1, name: 'To do' }).waitFor()
    const scanner = await scannerAt(page)
    for (const ends of suffixes) {
      for (const pauseAfter of [2, 4, 12]) {
        await scanner.scan(sscc, { ends, pauseAfter })
        await page.getByRole('heading', { level: 1, name: sscc, exact: true }).waitFor()
        await page.getByRole('link', { name: 'To do' }).click()
        await page.getByRole('heading', { level: 1, name: 'To do' }).waitFor()
      }
    }
    await scanner.scan('PAL-4711', { pauseAfter: 4 })
    await scanned(page).getByText('The scan came in parts: PAL- · 4711. It was not taken. Scan again.').waitFor()
    t.match(page.url(), /\/todo$/)
    await scanner.scan('00340123450000000155')
    await scanned(page).getByText('The check digit or the length of 00340123450000000155 is wrong.').waitFor()
    t.match(page.url(), /\/todo$/)
    t.same(faults, [])
  },
)

t.test('the beginning of a scan that pauses is no shortcut', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-1'])
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-A-1' })
  const { page } = await open(t, browser, `${url}verify`)
  await signIn(page, 'sven')
  await page.locator('.verify-buttons .strong[aria-disabled=false]').waitFor()
  await (await scannerAt(page)).scan('VDV-1', { pauseAfter: 3, pauseMs: 60 })
  await scanned(page).getByText('The scan came in parts: VDV · -1.').waitFor()
  t.match(await gateway.ask('GET', '/api/whms/slots/A-1', { by: people.vera }), { body: { isVerified: false } })
  t.equal(await page.getByRole('alert').getByText('Write what is wrong').count(), 0)
})

t.test('nothing of a scan that came in parts gets into a task', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page, faults } = await open(t, browser, `${url}training`)
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  const pallet = page.locator('.scan-steps li').first()
  const empty = await pallet.innerText()
  const scanner = await scannerAt(page)
  for (const ends of suffixes) {
    await scanner.scan(sscc, { ends, pauseAfter: 4 })
    await pallet.getByText(sscc).waitFor()
    await page.getByRole('button', { name: `Clear ${sscc}` }).click()
    await scanner.scan('PALLET-4711', { ends, pauseAfter: 7 })
    await page.getByText('The scan came in parts: PALLET- · 4711.').waitFor()
    t.equal(await pallet.innerText(), empty)
    await scanner.scan('00340123450000000155', { ends })
    await page.getByText('The check digit or the length of 00340123450000000155 is wrong.').waitFor()
    t.equal(await pallet.innerText(), empty)
    await scanner.scan('PALLET-4711', { ends })
    await pallet.getByText('PALLET-4711').waitFor()
    await page.getByRole('button', { name: 'Clear PALLET-4711' }).click()
  }
  t.same(faults, [])
})
