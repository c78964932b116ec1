import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, record, signIn } from '../support/browser.ts'
import { heldPhoto, people } from '../support/gateway.ts'
import { shown, waiting } from '../support/verifying.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const noteOf = (page: Page) => page.getByLabel('Note')
const judgements = async ({ gateway }: Place) => {
  const { body } = await gateway.ask('GET', '/api/whms/events?limit=100', { by: people.vera })
  type Event = { event_type: string; slot_code: string; asset_barcode: string }
  return (body.data as Event[])
    .filter(({ event_type }) => event_type === 'VERIFIED' || event_type === 'DISPUTED')
    .map(({ event_type, slot_code, asset_barcode }) => `${event_type} ${slot_code} ${asset_barcode}`)
}

t.test('the placement on the screen stays there whatever comes into the list in front of it', inBrowser, async (t) => {
  const floor = await waiting(t)
  const { page } = await open(t, browser, `${floor.url}verify`)
  await signIn(page, 'sven')
  await shown(page, 'A-3')
  await noteOf(page).fill('torn wrap')
  const timestamp = new Date(floor.gateway.clock.now() - 60_000).toISOString()
  await record(floor.gateway, { event_type: 'PLACED', slot_code: 'A-4', asset_barcode: 'P-A-4', timestamp })
  await page.getByText('4 placements wait').waitFor()
  await shown(page, 'A-3')
  await noteOf(page).press('Escape')
  await page.keyboard.press('d')
  await page.getByRole('status').getByText('Disputed: P-A-3 in A-3.').waitFor()
  t.same(await judgements(floor), ['DISPUTED A-3 P-A-3'])
})

const settled = [
  ['verified', { event_type: 'VERIFIED' }, 'sven verified this placement.'],
  ['disputed', { event_type: 'DISPUTED', verification_notes: 'wet' }, 'sven disputed this placement: wet.'],
  ['removed', { event_type: 'REMOVED' }, 'This pallet was removed from the slot.'],
  ['replaced', { event_type: 'PLACED', asset_barcode: 'P-9' }, 'Pallet P-9 is in this slot now.'],
  ['placed again', { event_type: 'PLACED' }, 'This pallet was placed in this slot again.'],
] as const

for (const [how, event, words] of settled) {
  t.test(`a placement that somebody else ${how} stays, with the note, and takes no verdict`, inBrowser, async (t) => {
    const floor = await waiting(t)
    const { page, faults } = await open(t, browser, `${floor.url}verify`)
    await signIn(page, 'sven')
    await shown(page, 'A-3')
    await noteOf(page).fill('torn wrap')
    const photo = await page.locator('.verify-photo > button img').getAttribute('src')
    const photo_url = await heldPhoto(floor.gateway, 7)
    await record(floor.gateway, { slot_code: 'A-3', asset_barcode: 'P-A-3', photo_url, ...event }, people.sven)
    await page.getByRole('alert').getByText(words).waitFor()
    t.equal(await page.locator('.verify-photo > button img').getAttribute('src'), photo)
    t.equal(await noteOf(page).inputValue(), 'torn wrap')
    t.same(await violations(page), [])
    const before = await judgements(floor)
    await noteOf(page).press('Escape')
    await page.keyboard.press('v')
    await page.getByRole('alert').getByText('Not recorded: this placement is settled.').waitFor()
    if (how !== 'verified' && how !== 'disputed') {
      await page.keyboard.press('d')
      await page.getByRole('button', { name: 'Dispute' }).click({ force: true })
    }
    t.same(await judgements(floor), before, 'nothing is recorded, of this placement or another one')
    t.equal(await noteOf(page).inputValue(), 'torn wrap')
    if (how === 'verified') {
      await page.keyboard.press('d')
      await page.getByRole('status').getByText('Disputed: P-A-3 in A-3.').waitFor()
      await shown(page, 'A-1')
      return
    }
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      return asked.length === 1 ? dialog.dismiss() : dialog.accept()
    })
    if (how === 'placed again') {
      await page.getByRole('button', { name: 'Show this slot now' }).click()
      await page.locator(`.verify-photo > button img:not([src="${photo}"])`).waitFor()
      await shown(page, 'A-3')
      await page.keyboard.press('d')
      await page.getByRole('status').getByText('Disputed: P-A-3 in A-3.').waitFor()
      return
    }
    await page.keyboard.press('j')
    t.equal(await noteOf(page).inputValue(), 'torn wrap', 'the note is not lost unasked')
    await page.keyboard.press('j')
    await shown(page, 'A-1')
    t.same(asked, Array(2).fill('Your input is not sent and would be lost. Go on?'))
    t.same(faults, [])
  })
}

t.test('a verdict that meets another pallet is refused, and says so', inBrowser, async (t) => {
  const floor = await waiting(t)
  const { page } = await open(t, browser, `${floor.url}verify`)
  await signIn(page, 'sven')
  await shown(page, 'A-3')
  await noteOf(page).fill('torn wrap')
  const events = '**/api/whms/events'
  const where = { slot_code: 'A-3', asset_barcode: 'P-A-3' }
  await page.route(events, async (route) => {
    await record(floor.gateway, { event_type: 'REMOVED', ...where })
    await record(floor.gateway, { event_type: 'PLACED', ...where, photo_url: await heldPhoto(floor.gateway, 7) })
    await route.continue()
  })
  await page.getByRole('button', { name: 'Dispute' }).click()
  await page.getByRole('alert').getByText('Not recorded: something else is in the slot by now.').waitFor()
  await page.getByRole('alert').getByText('This pallet was placed in this slot again.').waitFor()
  t.same(await judgements(floor), [])
  t.equal(await noteOf(page).inputValue(), 'torn wrap')
})
