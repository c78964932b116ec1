import type { Browser } from 'playwright-core'
import t from 'tap'
import { codesOf, type LabelForm, pictureOf, printOf, wrongIn } from '../../src/console/page/goods/label-order.ts'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { lookAt } from '../support/look.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test(
  'slot labels go to the printer, an unknown one is named, and one is cancelled and printed again',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t, { printers: [{ name: 'dock-1', host: '127.0.0.1' }] })
    await furnish(gateway, ['A-01', 'A-02'])
    const { page } = await open(t, browser, `${url}labels`)
    await signIn(page, 'olga')
    await page.getByText('Nothing was printed yet.').waitFor()
    const print = page.getByRole('button', { name: 'Print on this printer' })
    await print.press('Enter')
    await page.getByText('Write at least one code').waitFor()
    await page.getByLabel('Labels of the slots').fill('A-01\nZ-99\nA-02')
    await page.getByLabel('Copies of each').fill('2')
    await print.press('Enter')
    await page.getByText('2 labels are in the queue').waitFor()
    await page.getByText(/^Z-99: /).waitFor()
    t.match(await page.getByLabel('Labels of the slots').inputValue(), /Z-99/, 'what was typed is still there')
    const jobs = async () => {
      const { body } = await gateway.ask('GET', '/api/whms/labels/jobs', { by: people.olga })
      return body.data.map((job: Record<string, unknown>) => `${job['label']} ${job['state']} ${job['copies']}`)
    }
    t.same(await jobs(), ['A-02 queued 2', 'A-01 queued 2'])
    const job = page.getByRole('region', { name: /^Print jobs/ }).getByRole('listitem', { name: 'A-01' })
    await job.getByRole('button', { name: 'Take out of the queue' }).press('Enter')
    await job.getByText('Cancelled').waitFor()
    let reprints = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/reprint')) reprints += 1
    })
    await job.getByRole('button', { name: 'Print again' }).press('Enter')
    await job.getByRole('button', { name: 'Print it again now' }).press('Enter')
    await page.getByText('A-01 is in the queue again.').waitFor()
    t.equal(reprints, 1, 'the first press prints nothing')
    t.same(await jobs(), ['A-01 queued 2', 'A-02 queued 2', 'A-01 cancelled 2'])
  },
)

t.test('an order that broke off goes on where it was, so no label is printed twice', inBrowser, async (t) => {
  const { gateway, url } = await place(t, { printers: [{ name: 'dock-1', host: '127.0.0.1' }] })
  await furnish(gateway, ['A-01', 'A-02'])
  const { page } = await open(t, browser, `${url}labels`)
  await signIn(page, 'olga')
  const keys: string[] = []
  await page.route('**/labels/print', async (route) => {
    keys.push(route.request().headers()['idempotency-key'] ?? '')
    if (keys.length === 2) await route.abort()
    else await route.continue()
  })
  await page.getByLabel('Labels of the slots').fill('A-01\nA-02')
  const print = page.getByRole('button', { name: 'Print on this printer' })
  await print.press('Enter')
  await page.getByText('1 of 2 sent. Press print again').waitFor()
  await print.press('Enter')
  await page.getByText('2 labels are in the queue').waitFor()
  const { body } = await gateway.ask('GET', '/api/whms/labels/jobs', { by: people.olga })
  t.same(
    body.data.map(({ label }: { label: string }) => label),
    ['A-02', 'A-01'],
  )
  t.equal(keys.length, 3)
  t.equal(keys[1], keys[2], 'a label that did arrive would not be printed again')
  t.not(keys[0], keys[1])
})

t.test('without a printer labels are a sheet in true size, on every screen', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01', 'A-02'])
  await lookAt(t, { browser, url, as: 'vera' }, [
    {
      path: 'labels',
      ready: async (page) => {
        await page.getByText('No label printer is set up.').first().waitFor()
        t.equal(await page.getByRole('button', { name: 'Print on this printer' }).count(), 0)
        await page.getByLabel('Labels of the slots').fill('A-01\nA-02')
        await page.getByLabel('Size in mm').fill('60x40')
        await page.getByRole('button', { name: 'Show the sheet' }).press('Enter')
        const label = page.getByRole('img', { name: 'Label of A-02' })
        await label.waitFor()
        await label.evaluate((image: { decode(): Promise<void> }) => image.decode())
        // 60 mm at the 96 dots an inch of CSS.
        t.equal(await label.evaluate((image: { naturalWidth: number }) => image.naturalWidth), 227)
        await page.emulateMedia({ media: 'print' })
        t.equal((await page.locator('main').innerText()).trim(), '', 'on paper there is nothing but the labels')
        t.ok(await label.isVisible())
        await page.emulateMedia({ media: null })
      },
    },
  ])
})

t.test('an order names each label once, and says which field is wrong', (t) => {
  const form: LabelForm = { kind: 'slots', zone: 'typed', codes: '', symbology: 'auto', size: '', copies: '1' }
  const slots = [
    { slot_id: 'A/1', zoneId: 7, retiredAt: null },
    { slot_id: 'A/2', zoneId: 7, retiredAt: '2026-03-02T06:00:00Z' },
    { slot_id: 'B 1', zoneId: 8, retiredAt: null },
  ]
  t.strictSame(codesOf({ ...form, zone: 'zone 7', codes: 'X' }, slots), ['A/1'])
  t.strictSame(codesOf({ ...form, codes: 'X\n X \nY' }, slots), ['X', 'Y'])
  t.strictSame(codesOf({ ...form, kind: 'pallets', zone: 'zone 7', codes: 'P' }, slots), ['P'])
  t.equal(pictureOf(form, 'A/1'), '/api/whms/slots/A%2F1/label?format=svg&by=slot_id')
  t.equal(
    pictureOf({ ...form, kind: 'pallets', symbology: 'qr', size: '60x40' }, 'P'),
    '/api/whms/assets/P/label?format=svg&symbology=qr&size=60x40',
  )
  t.strictSame(printOf({ ...form, copies: '3' }, 'A/1', 'dock'), { printer: 'dock', slot_code: 'A/1', copies: 3 })
  t.equal(wrongIn(form, []), 'none')
  t.equal(wrongIn(form, ['A']), undefined)
  t.equal(wrongIn({ ...form, size: '60 x 40' }, ['A']), 'size')
  t.equal(wrongIn({ ...form, copies: '0' }, ['A']), 'copies')
  t.equal(wrongIn(form, Array.from({ length: 501 }, String)), 'tooMany')
  t.end()
})
