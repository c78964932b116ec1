import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, record, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { scannerAt } from '../support/scanner.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** The page's own policy forbids it to poll an expression itself. */
const until = (page: Page, expression: string) => waitUntil(expression, () => page.evaluate<boolean>(expression))

const suffixes = [['Enter'], ['Tab'], []] as const

t.test('a count is scanned into its fields, and a part of a code never is', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-1', 'A-2', 'A-3'])
  const { body } = await gateway.ask('POST', '/api/whms/counts', { by: people.sven, body: {} })
  const { page, faults } = await open(t, browser, `${url}counts/${body.id}`)
  await signIn(page, 'olga')
  const slot = page.getByLabel('Slot', { exact: true })
  const pallets = page.locator('#scan-found')
  await slot.waitFor()
  const scanner = await scannerAt(page)
  for (const [i, ends] of suffixes.entries()) {
    await slot.focus()
    await scanner.scan(`LABEL-${i}`, { ends })
    await until(page, 'document.activeElement?.id === "scan-found"')
    t.equal(await slot.inputValue(), `LABEL-${i}`)
    await scanner.scan('PALLET-1', { ends })
    await scanner.scan('PALLET-2', { ends })
    await scanner.scan('PALLET-1', { ends })
    await scanner.scan('00340123450000000154', { ends, pauseAfter: 4 })
    const listed = 'PALLET-1\nPALLET-2\n00340123450000000154'
    // The characters of a scanner without a suffix stay in the field until the scanner is silent.
    await until(page, `document.querySelector("#scan-found").value === ${JSON.stringify(listed)}`)
    await scanner.scan(`PALLET-471${i}`, { ends, pauseAfter: 7 })
    await page.locator('.scan-result [role=status]').getByText(`The scan came in parts: PALLET- · 471${i}.`).waitFor()
    t.equal(await pallets.inputValue(), listed)
    await slot.fill('')
    await pallets.fill('')
  }
  await slot.focus()
  await scanner.scan('A-1')
  await until(page, 'document.activeElement?.id === "scan-found"')
  await scanner.scan('PALLET-9')
  await until(page, 'document.querySelector("#scan-found").value === "PALLET-9"')
  await page
    .getByRole('button', { name: 'Record what was found' })
    .or(page.locator('.unit-acts form button.strong'))
    .first()
    .click()
  await until(page, 'document.querySelector("#scan-slot").value === ""')
  const slots = await gateway.ask('GET', `/api/whms/counts/${body.id}/slots`, { by: people.olga })
  t.match(
    slots.body.data.find((one: { slot_code: string }) => one.slot_code === 'A-1'),
    { state: 'counted' },
  )
  t.match(page.url(), new RegExp(`/counts/${body.id}$`))
  t.same(faults, [])
})

t.test('a note keeps its text when somebody scans, also without a suffix', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-1'])
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'PALLET-1' })
  const { page } = await open(t, browser, `${url}incidents`)
  await signIn(page, 'sven')
  const note = page.getByLabel('Description')
  const about = page.getByLabel('References, one a line')
  await note.fill('The wrap is torn')
  const scanner = await scannerAt(page)
  for (const ends of suffixes) {
    await note.focus()
    await scanner.scan('PALLET-1', { ends })
    await page.getByRole('status').getByRole('link', { name: 'Open PALLET-1' }).waitFor()
    await until(page, 'document.querySelector("#report-description").value === "The wrap is torn"')
    t.match(page.url(), /\/incidents$/)
    await about.focus()
    await scanner.scan('PALLET-1', { ends })
    await scanner.scan('A-1', { ends: ends.length === 0 ? ['Enter'] : ends })
    await until(page, 'document.querySelector("#report-references").value.includes("slot:")')
    t.equal(await about.inputValue(), 'asset:PALLET-1\nslot:A-1')
    await about.fill('')
  }
})

t.test('fields of lists and filters take a scan, and the view stays', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-1'])
  const { page } = await open(t, browser, `${url}labels`)
  await signIn(page, 'ada')
  const scanner = await scannerAt(page)
  for (const [view, id, expected] of [
    ['labels', 'label-codes', 'CODE-77'],
    ['audit', 'audit-id', 'CODE-77'],
    ['units', 'unit-reference', 'CODE-77'],
    ['counts', 'count-reference', 'CODE-77'],
  ] as const) {
    await page.goto(`${url}${view}`)
    const field = page.locator(`#${id}`)
    await page.locator('main h1').waitFor()
    if (!(await field.isVisible())) {
      for (const summary of await page.locator('main details:not([open]) > summary').all()) await summary.click()
    }
    await field.focus()
    await scanner.scan('CODE-77')
    await until(page, `document.querySelector('#${id}').value !== ''`)
    t.equal(await field.inputValue(), expected, view)
    t.match(page.url(), new RegExp(`/${view}$`))
    await field.fill('')
  }
})
