import type { Browser } from 'playwright-core'
import t, { type Test } from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { furnish, heldPhoto, people } from '../support/gateway.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** A disputed pallet. */
async function disputed(t: Test): Promise<Place> {
  const made = await place(t)
  const { gateway } = made
  await furnish(gateway, ['A-01'])
  const photo_url = await heldPhoto(gateway)
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', photo_url })
  await record(gateway, { event_type: 'DISPUTED', slot_code: 'A-01', asset_barcode: 'P-1' }, people.sven)
  return made
}

const openOf = async ({ gateway }: Place, query = '') =>
  (await gateway.ask('GET', `/api/whms/discrepancies${query}`, { by: people.sven })).body.data

t.test('a supervisor resolves a dispute with a note among the tasks', inBrowser, async (t) => {
  const made = await disputed(t)
  const { page } = await open(t, browser, `${made.url}todo`)
  await signIn(page, 'sven')
  const line = page.getByRole('listitem').filter({ hasText: 'Slot A-01, Pallet P-1' })
  await line.getByRole('button', { name: 'Resolve' }).click()
  t.same(await violations(page), [])
  const note = line.getByLabel('Note')
  await line.getByRole('button', { name: 'Cancel' }).click()
  await note.waitFor({ state: 'detached' })
  await line.getByRole('button', { name: 'Resolve' }).click()
  await note.fill('Counted by hand, all there.')
  await line.getByRole('button', { name: 'End the dispute' }).click()
  await page.getByRole('status').getByText('Resolved: the dispute of A-01.').waitFor()
  await line.waitFor({ state: 'detached' })
  t.strictSame(await openOf(made), [])
  t.match(await openOf(made, '?resolved=true'), [
    { resolution: { note: 'Counted by hand, all there.', resolvedBy: 'sven' } },
  ])
})

t.test('a note that is refused stays in its field', inBrowser, async (t) => {
  const made = await disputed(t)
  const { page } = await open(t, browser, `${made.url}todo`)
  await signIn(page, 'sven')
  const line = page.getByRole('listitem').filter({ hasText: 'Slot A-01, Pallet P-1' })
  await line.getByRole('button', { name: 'Resolve' }).click()
  await line.getByLabel('Note').fill('seen')
  const path = `/api/whms/discrepancies/${(await openOf(made))[0].id}/resolve`
  await page.route(`**${path}`, (route) => route.abort())
  await line.getByRole('button', { name: 'End the dispute' }).click()
  await page.getByRole('alert').waitFor()
  t.equal(await line.getByLabel('Note').inputValue(), 'seen')
})

t.test('an operator is not offered to resolve', inBrowser, async (t) => {
  const made = await disputed(t)
  const { page } = await open(t, browser, `${made.url}todo`)
  await signIn(page, 'olga')
  const line = page.getByRole('listitem').filter({ hasText: 'Slot A-01, Pallet P-1' })
  await line.waitFor()
  t.equal(await line.getByRole('button', { name: 'Resolve' }).count(), 0)
})

t.test('the form is in German, too', inBrowser, async (t) => {
  const made = await disputed(t)
  const { page } = await open(t, browser, `${made.url}todo`, { locale: 'de-DE' })
  await signIn(page, 'sven')
  const line = page.getByRole('listitem').filter({ hasText: 'Palette P-1' })
  await line.getByRole('button', { name: 'Erledigen' }).click()
  await line.getByLabel('Notiz').fill('Von Hand gezählt.')
  await line.getByRole('button', { name: 'Beanstandung beenden' }).click()
  await page.getByRole('status').getByText('Erledigt: die Beanstandung von A-01.').waitFor()
})
