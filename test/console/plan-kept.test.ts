import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { fitted, type PlanSlot, type PlanZone, unchanged, withRetired } from '../../src/console/page/plan/draft.ts'
import { backFrom, type Plan, writtenOf } from '../../src/console/page/plan/kept.ts'
import { type PlanWarehouse, withOutline } from '../../src/console/page/plan/shapes.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, signIn } from '../support/browser.ts'
import { cheapHash, furnish, people } from '../support/gateway.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const square = (x: number) => [
  { x, y: 0 },
  { x: x + 1, y: 0 },
  { x: x + 1, y: 1 },
  { x, y: 1 },
]
const slot = (id: number, version = 1) =>
  ({ id, slot_id: `A-${id}`, floor_plan_polygon: square(id), retiredAt: null, version }) as unknown as PlanSlot
const zone = (version = 1) => ({ id: 7, name: 'T', floor_plan_polygon: null, version }) as unknown as PlanZone
const warehouse = (version = 1) => ({ id: 1, name: 'Hall', version }) as unknown as PlanWarehouse
const at = '2026-11-25T06:00:00.000Z'

t.test('what was kept comes back, without what was changed since, which is named', async (t) => {
  const [first, second] = [slot(1), slot(2)]
  const plan: Plan = { warehouse: warehouse(), zones: [zone()], slots: [first, second] }
  const image = { x: 1, y: 2, width: 3, rotation: 0, opacity: 1 }
  const moved = fitted(unchanged, [first, second], { x: 10, y: 0, width: 2, height: 1 })
  const draft = { ...withOutline(withRetired(moved, second, true), zone(), square(4)), image }
  const sketch = [{ x: 1, y: 1 }]
  const text = writtenOf({ draft, outlined: 7, sketch }, plan, at)
  t.same(backFrom(text, plan), { draft, outlined: 7, sketch, at, leftOut: [] })
  const later: Plan = { warehouse: warehouse(2), zones: [zone(2)], slots: [first, slot(2, 2)] }
  t.same(backFrom(text, later), {
    draft: { ...unchanged, places: new Map([[1, square(10)]]) },
    ...{ outlined: 7, sketch, at },
    leftOut: ['Hall', 'A-2', 'T'],
  })
})

t.test('text that is no draft brings nothing back', async (t) => {
  const plan: Plan = { warehouse: warehouse(), zones: [], slots: [] }
  for (const text of [null, '', '{', 'null', '{"form":2}']) t.equal(backFrom(text, plan), undefined)
})

/** Zone S with two slots of 1 m by 1 m, zone T without a slot. */
async function hall(t: Parameters<typeof place>[0]): Promise<Place> {
  const users = [...Object.values(people), { username: 'adam', role: 'admin' }].map(({ username, role }) => ({
    ...{ username, role, secretHash: cheapHash(`${username}-secret`) },
  }))
  const made = await place(t, { auth: { users } })
  for (const n of [0, 1]) await furnish(made.gateway, [`S-${n + 1}`], { floor_plan_polygon: square(n) })
  const body = { name: 'T', zone_type: 'cold', warehouseId: 1 }
  await made.gateway.ask('POST', '/api/whms/zones', { by: people.ada, body })
  return made
}

const goesAlways = (page: Page) => page.on('dialog', (dialog) => void dialog.accept())

t.test(
  'a plan that is not saved outlives a reload for its account, and is dropped by one press',
  inBrowser,
  async (t) => {
    const { gateway, url } = await hall(t)
    const { page, faults } = await open(t, browser, `${url}plan`)
    goesAlways(page)
    await signIn(page, 'ada')
    const left = page.getByLabel('From the left')
    await left.fill('3')
    await left.press('Enter')
    await page.getByLabel('Outlines of zones').check()
    await page.getByLabel('Zone to outline').selectOption({ label: 'T' })
    await page.getByRole('button', { name: 'Draw an outline' }).click()
    await page.getByRole('group', { name: 'Plan of Hall' }).click({ position: { x: 60, y: 60 } })
    await page.getByText('1 corner', { exact: false }).waitFor()
    await page.getByLabel('Slots', { exact: true }).check()
    await page.getByLabel('Outlines of zones').check()
    await page.getByText('1 corner', { exact: false }).waitFor()
    await gateway.ask('PUT', '/api/whms/slots/2', { by: people.ada, body: { constraints: { max_weight: 9 } } })
    await page.reload()
    await page.getByText(/Your unsaved changes of .+ are here again\./).waitFor()
    await page.getByText('Dropped, because somebody changed it since: S-2.').waitFor()
    await page.getByText('1 corner', { exact: false }).waitFor()
    t.equal(await page.getByLabel('Zone to outline').inputValue(), '2', 'the zone that it is for')
    await page.getByText('1 slot is changed and not saved.').waitFor()
    t.same(await violations(page), [])
    await page.getByRole('button', { name: 'Discard all' }).click()
    await page.getByText('Nothing is changed.').waitFor()
    await page.reload()
    await page.getByText('Nothing is changed.').waitFor()
    t.equal(await page.getByText('are here again').count(), 0)
    t.same(faults, [])
  },
)

t.test(
  'another account on the same browser sees nothing of it, and the first one finds it again',
  inBrowser,
  async (t) => {
    const { url } = await hall(t)
    const { page } = await open(t, browser, `${url}plan`)
    goesAlways(page)
    await signIn(page, 'ada')
    await page.getByLabel('From the left').fill('3')
    await page.getByLabel('From the left').press('Enter')
    await page.getByText('2 slots are changed and not saved.').waitFor()
    for (const [name, words] of [
      ['adam', 'Nothing is changed.'],
      ['ada', '2 slots are changed and not saved.'],
    ] as const) {
      await page.context().clearCookies()
      await page.goto(`${url}plan`)
      await signIn(page, name)
      await page.getByText(words).waitFor()
    }
    await page.getByRole('button', { name: 'Save 2 slots' }).click()
    await page.getByText('2 slots are saved.').waitFor()
    await page.reload()
    await page.getByText('Nothing is changed.').waitFor()
  },
)

const keptOf = (page: Page) =>
  page.evaluate(`Object.keys(localStorage).filter((name) => name.startsWith('gatehouse.plan '))`)

t.test(
  'what is kept is that of a person of one instance, and is dropped when nobody changed it for 30 days',
  inBrowser,
  async (t) => {
    const { gateway, url } = await hall(t)
    const { page } = await open(t, browser, `${url}plan`)
    goesAlways(page)
    await signIn(page, 'ada')
    await page.getByLabel('From the left').fill('3')
    await page.getByLabel('From the left').press('Enter')
    await page.getByText('2 slots are changed and not saved.').waitFor()
    const { instance } = (await gateway.ask('GET', '/api/session', { by: people.ada })).body
    t.same(await keptOf(page), [`gatehouse.plan ${JSON.stringify([instance, 'ada', 1])}`])
    const days = (n: number) => new Date(Date.now() - n * 86_400_000).toISOString()
    const others = { young: { form: 1, at: days(29) }, old: { form: 1, at: days(31) }, timeless: {} }
    for (const [name, text] of Object.entries(others))
      await page.evaluate(`localStorage.setItem('gatehouse.plan ${name}', '${JSON.stringify(text)}')`)
    await page.evaluate(`localStorage.setItem('gatehouse.plan torn', '{')`)
    await page.goto(url)
    await page.getByRole('heading').first().waitFor()
    t.same(
      ((await keptOf(page)) as string[]).toSorted(),
      [`gatehouse.plan ${JSON.stringify([instance, 'ada', 1])}`, 'gatehouse.plan young'].toSorted(),
    )
  },
)

t.test('a draft that the browser could not keep leaves no older one to come back', inBrowser, async (t) => {
  const { url } = await hall(t)
  const { page } = await open(t, browser, `${url}plan`)
  goesAlways(page)
  await signIn(page, 'ada')
  const left = page.getByLabel('From the left')
  await left.fill('3')
  await left.press('Enter')
  await page.getByText('2 slots are changed and not saved.').waitFor()
  // The page's own policy forbids it to ask itself.
  const isKept = () =>
    page.evaluate<boolean>(`Object.keys(localStorage).some((name) => name.startsWith('gatehouse.plan '))`)
  await waitUntil('the draft is kept', isKept)
  await page.evaluate(`Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`)
  await left.fill('4')
  await left.press('Enter')
  await waitUntil('no draft is kept', async () => !(await isKept()))
  await page.reload()
  await page.getByText('Nothing is changed.').waitFor()
  t.equal(await page.getByText('are here again').count(), 0)
})
