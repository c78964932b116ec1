import type { Browser } from 'playwright-core'
import t from 'tap'
import { linesOf, orderOf } from '../../src/console/page/data/count-data.ts'
import { inBrowser, launchBrowser, open, place, record, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { lookAt } from '../support/look.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const counts = '/api/whms/counts'

/** Two slots: the ledger has P-1 in the first and nothing in the second. */
async function hall(t: Parameters<typeof place>[0]) {
  const made = await place(t)
  await furnish(made.gateway, ['A-01', 'A-02'])
  await record(made.gateway, { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1' })
  return made
}

t.test('two slots are opened, counted, reviewed and corrected in the browser', inBrowser, async (t) => {
  const { gateway, url } = await hall(t)
  const { page, faults } = await open(t, browser, `${url}counts`)
  await signIn(page, 'sven')
  await page.getByText('Nothing was counted yet.').waitFor()
  await page.getByLabel('Slots to count').selectOption('slots')
  await page.getByRole('button', { name: 'Open it' }).press('Enter')
  await page.getByText('Write the labels of the slots.').waitFor()
  await page.getByLabel('Labels of the slots').fill('A-01\nA-02')
  await page.getByRole('button', { name: 'Open it' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Count 1' }).waitFor()
  await page.getByText('0 of 2 slots counted').waitFor()
  const record = page.getByRole('button', { name: 'Record', exact: true })
  await page.getByLabel('Slot', { exact: true }).fill('A-01')
  await record.press('Enter')
  await page.getByText('Write what is in the slot, or say that it is empty.').waitFor()
  t.equal(await page.getByLabel('Slot', { exact: true }).inputValue(), 'A-01')
  await page.getByLabel('The slot is empty').press('Space')
  await record.press('Enter')
  await page.getByText('Recorded: A-01.').waitFor()
  await page.getByLabel('Slot', { exact: true }).fill('A-02')
  await page.getByLabel('All that is in it').fill('P-1')
  await record.press('Enter')
  await page.getByText('Every slot is counted.').waitFor()
  await page.getByRole('button', { name: 'Submit for review' }).press('Enter')
  await page.getByRole('button', { name: 'Submit now' }).press('Enter')
  await page.getByText('2 slots differ.').waitFor()
  const line = page.getByRole('row').filter({ hasText: 'A-02' })
  t.match(await line.innerText(), /P-1 \(should be in A-01\)/)
  await page.getByRole('button', { name: 'Approve: correct the ledger' }).press('Enter')
  await page.getByRole('button', { name: 'Correct it now' }).press('Enter')
  await page.getByText('2 corrected in the ledger').waitFor()
  await line.getByText('corrected in the ledger').waitFor()
  t.equal(await page.getByText('Moved since', { exact: true }).count(), 0, 'its own corrections are no moves since')
  t.equal(await page.getByText('should be in').count(), 0)
  const { body } = await gateway.ask('GET', '/api/whms/slots/A-02', { by: people.ada })
  t.match(body, { isOccupied: true, assetBarcode: 'P-1' })
  await page.goBack()
  await page.getByRole('article', { name: 'Count 1' }).getByText('Approved').waitFor()
  t.same(faults, [])
})

t.test(
  'a counter sees what is left and never what is expected; a recount asks for the slot again',
  inBrowser,
  async (t) => {
    const { gateway, url } = await hall(t)
    await gateway.ask('POST', counts, { by: people.sven, body: { slot_codes: ['A-01', 'A-02'], reference: 'spring' } })
    await gateway.ask('POST', `${counts}/1/scans`, { by: people.olga, body: { slot_code: 'A-01', empty: true } })
    const counter = await open(t, browser, `${url}counts/1`, { locale: 'de-DE' })
    await signIn(counter.page, 'olga')
    await counter.page.getByText('1 von 2 Stellplätzen gezählt').waitFor()
    await counter.page.getByRole('group', { name: 'Noch zu zählen' }).getByText('A-02').waitFor()
    t.equal(await counter.page.getByText('P-1').count(), 0, 'counting is blind')
    t.equal(await counter.page.locator('summary', { hasText: 'Zählung abbrechen' }).count(), 0)
    const { page } = await open(t, browser, `${url}counts/1`)
    await signIn(page, 'sven')
    await page.getByLabel('Count A-01 again').check()
    await page.getByRole('button', { name: 'Have 1 slot counted again' }).click()
    await page.getByText('These slots have to be counted again.').waitFor()
    await page.getByRole('group', { name: 'Left to count' }).getByText('A-01 (again)').waitFor()
    await page.locator('summary', { hasText: 'Cancel the count' }).click()
    await page.getByLabel('Why is it cancelled?').fill('fire drill')
    await page.getByRole('button', { name: 'Cancel the count' }).click()
    await page.getByRole('button', { name: 'Cancel it for good' }).click()
    await page.getByText('fire drill').waitFor()
    const { body } = await gateway.ask('GET', `${counts}/1`, { by: people.ada })
    t.match(body, { state: 'cancelled', reason: 'fire drill' })
  },
)

t.test('counts can be read on every screen', inBrowser, async (t) => {
  const { gateway, url } = await hall(t)
  await gateway.ask('POST', counts, { by: people.sven, body: { slot_codes: ['A-01', 'A-02'] } })
  await gateway.ask('POST', `${counts}/1/scans`, { by: people.olga, body: { slot_code: 'A-01', empty: true } })
  await gateway.ask('POST', `${counts}/1/submit`, { by: people.olga })
  await lookAt(t, { browser, url, as: 'sven' }, [
    { path: 'counts', ready: (page) => page.getByText('1 of 2 slots counted').waitFor() },
    { path: 'counts/1', ready: (page) => page.getByText('1 slot differs.').waitFor() },
  ])
})

t.test('who has no step to take in a count sees no empty card', inBrowser, async (t) => {
  const { gateway, url } = await hall(t)
  await gateway.ask('POST', counts, { by: people.sven, body: { slot_codes: ['A-01', 'A-02'] } })
  for (const name of ['olga', 'vera']) {
    const { page } = await open(t, browser, `${url}counts/1`)
    await signIn(page, name)
    await page.getByRole('heading', { name: 'Left to count 2' }).waitFor()
    const cards = await page.locator('main .card').allInnerTexts()
    t.same(
      cards.filter((text) => text.trim() === ''),
      [],
      name,
    )
  }
})

t.test('an order for a count names what is counted, and nothing that was left empty', (t) => {
  const form = { what: 'all', slots: '', sample: '', reference: '' }
  t.strictSame(orderOf(form), {})
  t.strictSame(orderOf({ ...form, what: 'zone 7', sample: '20' }), { zoneId: 7, sample: 20 })
  t.strictSame(orderOf({ ...form, what: 'slots', slots: ' A-1\nA-2,A-1', reference: ' spring ' }), {
    slot_codes: ['A-1', 'A-2'],
    reference: 'spring',
  })
  t.equal(orderOf({ ...form, what: 'slots' }), 'slots')
  for (const sample of ['0', '1001', '2.5', 'x']) t.equal(orderOf({ ...form, sample }), 'sample', sample)
  t.strictSame(linesOf(' \n'), [])
  t.end()
})
