import type { Browser } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { scannerAt } from '../support/scanner.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('what is ticked or chosen in a form is kept like what is typed, until it is sent', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-1'])
  const yard = { name: 'Yard', timezone: 'Europe/Berlin' }
  await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: yard })
  const { page } = await open(t, browser, `${url}devices`)
  await signIn(page, 'ada')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    return dialog.dismiss()
  })
  const offered = page.getByRole('status').getByRole('link', { name: 'Open A-1' })
  const scanner = await scannerAt(page)
  const device = page.getByRole('form', { name: 'Add a device' })
  await device.getByText('Yard').click()
  await scanner.scan('A-1')
  await offered.waitFor()
  await device.getByText('Yard').click()
  await device.getByLabel('Highest role on it').selectOption('supervisor')
  await page.getByRole('link', { name: 'To do' }).click()
  t.same(asked, ['Your input is not sent and would be lost. Go on?'])
  t.equal(await device.getByLabel('Highest role on it').inputValue(), 'supervisor')
  await device.getByLabel('Name').fill('dock-7')
  await device.getByRole('button', { name: 'Make its code' }).click()
  await page.getByText('dock-7').first().waitFor()
  await page.getByRole('link', { name: 'To do' }).click()
  await page.getByRole('heading', { level: 1, name: 'To do' }).waitFor()
  t.equal(asked.length, 1, 'what was sent asks nothing')
  t.match(await gateway.ask('GET', '/api/devices', { by: people.ada }), { body: { data: [{ role: 'supervisor' }] } })
})

t.test('a code that is typed before it is said what to do with it stays in its field', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, `${url}training`)
  const field = page.getByLabel('Scan or type a code')
  await field.fill('P-1')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('heading', { name: 'Remove' }).waitFor()
  t.equal(await field.inputValue(), 'P-1')
  await page.getByRole('button', { name: 'Use the code' }).click()
  await page.getByRole('button', { name: 'Clear P-1' }).waitFor()
  t.equal(await field.inputValue(), '')
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).waitFor()
  t.equal(await field.inputValue(), '', 'what was used is no longer there')
})

t.test('a filter is nothing that could be lost', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-1'])
  const { page } = await open(t, browser, `${url}audit`)
  await signIn(page, 'ada')
  await page.getByLabel('Act').selectOption({ index: 2 })
  await (await scannerAt(page)).scan('A-1')
  await page.getByRole('heading', { name: 'Slot A-1' }).waitFor()
})
