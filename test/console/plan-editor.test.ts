import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { lookAt } from '../support/look.ts'
import { scannerAt } from '../support/scanner.ts'
import { screens } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const rectangle = (x: number) => [
  { x, y: 0 },
  { x: x + 1, y: 0 },
  { x: x + 1, y: 2 },
  { x, y: 2 },
]

/** Zone S has two slots side by side, 1 m by 2 m each, with a pallet in the first. Zone T has one slot, far away. */
async function hall(t: Parameters<typeof place>[0]): Promise<Place> {
  const made = await place(t)
  const { gateway } = made
  await furnish(gateway, ['S-1'], { floor_plan_polygon: rectangle(0) })
  await furnish(gateway, ['S-2'], { floor_plan_polygon: rectangle(1) })
  const by = people.ada
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'T', zone_type: 'cold', warehouseId: 1 } })
  const body = { slot_id: 'T-1', zone: 'T', warehouseId: 1, floor_plan_polygon: rectangle(12) }
  await gateway.ask('POST', '/api/whms/slots', { by, body })
  await record(gateway, { event_type: 'PLACED', slot_code: 'S-1', asset_barcode: 'P-1' })
  return made
}

async function opened(t: Parameters<typeof place>[0], url: string): Promise<Page> {
  const { page } = await open(t, browser, `${url}plan`)
  await signIn(page, 'ada')
  await page.getByText('Nothing is changed.').waitFor()
  return page
}

const placeOf = async ({ gateway }: Place, label: string) => {
  const { body } = await gateway.ask('GET', `/api/whms/slots/${label}`, { by: people.ada })
  return { from: body.floor_plan_polygon[0], to: body.floor_plan_polygon[2], retired: body.retiredAt !== null }
}

t.test('a zone is dragged, resized by a field, undone, and stored only when it is saved', inBrowser, async (t) => {
  const floor = await hall(t)
  const page = await opened(t, floor.url)
  const frame = page.getByRole('button', { name: 'Move S' })
  const box = await frame.boundingBox()
  if (!box) throw new Error('the frame is not shown')
  await page.mouse.move(box.x + 10, box.y + 10)
  await page.mouse.down()
  await page.mouse.move(box.x + 60, box.y + 40, { steps: 3 })
  await page.mouse.up()
  await page.getByText('2 slots are changed and not saved.').waitFor()
  t.not(await page.getByLabel('From the left').inputValue(), '0')
  await page.getByLabel('From the left').fill('3')
  await page.getByLabel('From the left').press('Enter')
  await page.getByLabel('From the top').fill('4')
  await page.getByLabel('From the top').press('Enter')
  await page.getByLabel('Width', { exact: true }).fill('4')
  await page.getByLabel('Width', { exact: true }).press('Enter')
  await page.getByRole('button', { name: 'Undo' }).click()
  t.equal(await page.getByLabel('Width', { exact: true }).inputValue(), '2')
  t.same((await placeOf(floor, 'S-2')).from, { x: 1, y: 0 }, 'nothing is stored before')
  await page.getByRole('button', { name: 'Save 2 slots' }).click()
  await page.getByText('2 slots are saved.').waitFor()
  t.same(await placeOf(floor, 'S-1'), { from: { x: 3, y: 4 }, to: { x: 4, y: 6 }, retired: false })
  t.same(await placeOf(floor, 'S-2'), { from: { x: 4, y: 4 }, to: { x: 5, y: 6 }, retired: false })
  t.same((await placeOf(floor, 'T-1')).from, { x: 12, y: 0 }, 'the other zone stays')
})

t.test(
  'what was taken back is done again, by button and by keys, until something else is drawn',
  inBrowser,
  async (t) => {
    const { url } = await hall(t)
    const page = await opened(t, url)
    const left = page.getByLabel('From the left')
    const reads = async (value: string) => {
      await page.getByRole('button', { name: 'Move S' }).focus()
      t.equal(await left.inputValue(), value)
    }
    await page.getByRole('button', { name: 'Move S' }).press('ArrowRight')
    await page.getByRole('button', { name: 'Move S' }).press('ArrowRight')
    await reads('0.2')
    await page.keyboard.press('Control+z')
    await reads('0.1')
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Control+z')
    await reads('0')
    await page.keyboard.press('Control+Shift+z')
    await reads('0.1')
    await page.getByRole('button', { name: 'Redo' }).click()
    await reads('0.2')
    t.equal(await page.getByRole('button', { name: 'Redo' }).getAttribute('aria-disabled'), 'true')
    await page.getByRole('button', { name: 'Discard all' }).click()
    await reads('0')
    await page.keyboard.press('Control+z')
    await reads('0.2')
    await page.getByRole('button', { name: 'Move S' }).press('ArrowLeft')
    await page.keyboard.press('Control+y')
    await reads('0.1')
    await left.focus()
    await page.keyboard.press('Control+z')
    await reads('0.1')
    // Wherever the focus is, also where nothing has it.
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('Control+z')
    await reads('0.2')
    await page.getByRole('link', { name: 'Floor', exact: true }).focus()
    await page.keyboard.press('Control+y')
    await reads('0.1')
  },
)

t.test('a number is typed whole, counts when the field is left, and is undone in one step', inBrowser, async (t) => {
  const floor = await hall(t)
  const page = await opened(t, floor.url)
  const left = page.getByLabel('From the left')
  await left.focus()
  await page.keyboard.press('Control+A')
  // At the pace of a person: keys that come at once are a scan.
  await page.keyboard.type('12.5', { delay: 80 })
  t.equal(await left.inputValue(), '12.5', 'the field keeps the focus')
  await page.getByText('Nothing is changed.').waitFor()
  await page.keyboard.press('Tab')
  await page.getByText('2 slots are changed and not saved.').waitFor()
  await page.getByLabel('Width', { exact: true }).fill('0')
  await page.keyboard.press('Tab')
  t.equal(await page.getByLabel('Width', { exact: true }).inputValue(), '2', 'no slot is that narrow')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Nothing is changed.').waitFor()
  t.equal(await left.inputValue(), '0')
})

t.test('what is not saved is asked about before a link leaves, and is there again afterwards', inBrowser, async (t) => {
  const floor = await hall(t)
  const page = await opened(t, floor.url)
  await page.getByLabel('From the left').fill('3')
  await page.getByLabel('From the left').press('Enter')
  await page.route('**/api/whms/slots/batch', (route) => route.fulfill({ status: 401, json: {} }))
  await page.getByRole('button', { name: 'Save 2 slots' }).click()
  await page.getByRole('alert').getByText('2 slots were refused.').waitFor()
  await page.getByText('2 slots are changed and not saved.').waitFor()
  const asked: string[] = []
  let isAgreed = false
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    return isAgreed ? dialog.accept() : dialog.dismiss()
  })
  await (await scannerAt(page)).scan('P-1', { ends: ['Enter', 'Enter'] })
  await page.getByRole('status').getByRole('link', { name: 'Open P-1' }).waitFor()
  t.same(asked, [], 'a scan asks nothing: its Enter would agree')
  await page.getByRole('link', { name: 'Floor', exact: true }).click()
  await page.getByText('2 slots are changed and not saved.').waitFor()
  isAgreed = true
  await page.getByRole('link', { name: 'Floor', exact: true }).click()
  await page.getByRole('heading', { name: 'Plan editor' }).waitFor({ state: 'detached' })
  t.equal(asked.length, 2)
  t.match(asked[0], /This browser keeps them until you come back/)
  await page.getByText('More', { exact: true }).click()
  await page.getByRole('link', { name: 'Plan editor' }).click()
  await page.getByText('2 slots are changed and not saved.').waitFor()
})

t.test('by keys alone a slot is moved and resized, retired and used again', inBrowser, async (t) => {
  const floor = await hall(t)
  const page = await opened(t, floor.url)
  await page.getByLabel('Slots to move').selectOption({ label: 'S-1' })
  await page.getByText('P-1 is in it.').waitFor()
  await page.getByRole('button', { name: 'Move S-1' }).focus()
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('ArrowRight')
  await page.getByRole('button', { name: 'Resize S-1' }).focus()
  await page.keyboard.press('Shift+ArrowRight')
  await page.getByRole('button', { name: 'Take out of use' }).press('Enter')
  await page.getByRole('button', { name: 'Save 1 slot' }).press('Enter')
  await page.getByText('1 slot is saved.').waitFor()
  t.same(await placeOf(floor, 'S-1'), { from: { x: 0.1, y: 1 }, to: { x: 2.1, y: 3 }, retired: true })
  await page.getByRole('button', { name: 'Use again' }).press('Enter')
  await page.getByRole('button', { name: 'Save 1 slot' }).press('Enter')
  await page.getByRole('button', { name: 'Take out of use' }).waitFor()
  await page.getByText('1 slot is saved. Nothing is changed.').waitFor()
  t.equal((await placeOf(floor, 'S-1')).retired, false)
})

t.test(
  'what somebody else changed meanwhile is refused by its slot, and the change stays to look at',
  inBrowser,
  async (t) => {
    const floor = await hall(t)
    const page = await opened(t, floor.url)
    await page.getByLabel('From the top').fill('7')
    await page.getByLabel('From the top').press('Enter')
    const body = { constraints: { max_weight: 100 } }
    await floor.gateway.ask('PUT', '/api/whms/slots/S-2', { by: people.ada, body })
    await page.getByRole('button', { name: 'Save 2 slots' }).click()
    await page.getByRole('alert').getByText('1 slot was refused.').waitFor()
    t.match(await page.getByRole('alert').last().innerText(), /S-2: somebody else changed it meanwhile/)
    t.same((await placeOf(floor, 'S-1')).from, { x: 0, y: 7 })
    t.same((await placeOf(floor, 'S-2')).from, { x: 1, y: 0 })
    await page.getByRole('button', { name: 'Save 1 slot' }).click()
    await page.getByText('Nothing is changed.').waitFor()
    t.same((await placeOf(floor, 'S-2')).from, { x: 1, y: 7 })
    const downloads = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download as CSV' }).click()
    t.match(readFileSync(await (await downloads).path(), 'utf8'), /^slot_id,zone,.*\r\nS-1,S,/)
  },
)

t.test('slots come from labels and from a list, zones get names, a slot gets any shape', inBrowser, async (t) => {
  const floor = await hall(t)
  const page = await opened(t, floor.url)
  const status = page.locator('.plan-make')
  await page.getByText('New slots in a grid').click()
  await page.getByLabel('Labels').fill('s-2..s-4')
  await page.getByText('3 slots, from s-2 to s-4').waitFor()
  await page.getByLabel('Zone of the new slots').fill('New hall')
  await page.getByRole('button', { name: 'Add 3 slots' }).click()
  await page.getByText('There is a slot s-2 already').waitFor()
  t.same((await placeOf(floor, 'S-2')).from, { x: 1, y: 0 }, 'a slot that is there is not moved')
  await page.getByLabel('Labels').fill('S-3..S-4')
  await page.getByRole('button', { name: 'Add 2 slots' }).click()
  await page.getByText('2 slots are added.').waitFor()
  t.match((await floor.gateway.ask('GET', '/api/whms/slots/S-4', { by: people.ada })).body, { zone: 'New hall' })

  await page.getByText('Lists of slots (CSV)').click()
  const file = (text: string) => ({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await page.getByLabel('List to read').setInputFiles(file('slot_id,zone,x,y,width,height\nL-1,S,0,8,1,0\n'))
  await status.getByText('Line 2, height').waitFor()
  await page.getByLabel('List to read').setInputFiles(file('slot_id,zone,x,y,width,height\nL-1,S,0,8,1,1\nT-1,T,,,,\n'))
  await page.getByText('1 new, 0 changed, 1 as they are.').waitFor()
  t.equal((await floor.gateway.ask('GET', '/api/whms/slots/L-1', { by: people.ada })).status, 404, 'only tried')
  await page.getByRole('button', { name: 'Store this list' }).click()
  await page.getByText('The list is stored.').waitFor()
  t.equal((await floor.gateway.ask('GET', '/api/whms/slots/L-1', { by: people.ada })).status, 200)

  await page.getByText('Zones', { exact: true }).click()
  await page.getByLabel('Name', { exact: true }).fill('T')
  await page.getByRole('button', { name: 'Store zone' }).click()
  await page.locator('.plan-make .problem').getByText('Not done').waitFor()
  t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'T', 'what was typed stays')
  await page.getByLabel('Zone to change').selectOption({ label: 'T' })
  await page.getByLabel('Name', { exact: true }).fill('Cold room')
  await page.getByRole('button', { name: 'Store zone' }).click()
  await page.getByText('Zone Cold room is stored.').waitFor()
  t.match((await floor.gateway.ask('GET', '/api/whms/slots/T-1', { by: people.ada })).body, { zone: 'Cold room' })

  await page.getByLabel(/^Zone/).first().selectOption('S')
  await page.getByLabel('Slots to move').selectOption({ label: 'S-1' })
  await page.getByRole('button', { name: 'Larger' }).click()
  await page.getByRole('button', { name: 'Corner 3 of S-1' }).focus()
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Delete')
  await page.getByRole('button', { name: 'Corner 4 of S-1' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Corner 3 of S-1' }).focus()
  await page.keyboard.press('+')
  await page.getByRole('button', { name: 'Corner 5 of S-1' }).waitFor()
  await page.getByRole('button', { name: 'Save 1 slot' }).click()
  await page.getByText('1 slot is saved.').waitFor()
  const { body } = await floor.gateway.ask('GET', '/api/whms/slots/S-1', { by: people.ada })
  t.same(body.floor_plan_polygon, [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 3 },
    { x: 0.5, y: 2.5 },
    { x: 0, y: 2 },
  ])
})

t.test('several aisles are made at once, each in a zone of its name', inBrowser, async (t) => {
  const floor = await hall(t)
  const page = await opened(t, floor.url)
  await page.getByText('New slots in a grid').click()
  await page.getByLabel('Labels').fill('R1-01..R1-03')
  await page.getByText('3 slots, from R1-01 to R1-03').waitFor()
  await page.getByLabel('Aisles', { exact: true }).fill('3')
  await page.getByLabel('From one aisle to the next in metres').fill('0.5')
  await page.getByLabel('Zone of the new slots').fill('Rack 1')
  await page.getByLabel('Zone of the new slots').press('Enter')
  await page.getByText('The aisles would lie over each other.').waitFor()
  await page.getByLabel('From one aisle to the next in metres').fill('3')
  await page.getByText('9 slots, from R1-01 to R3-03').waitFor()
  t.equal(await page.getByText('The aisles would lie over each other.').count(), 0, 'that is mended')
  await page.getByLabel('A zone for each aisle').check()
  await page.getByText('Zones: from Rack 1 to Rack 3.').waitFor()
  t.same(await violations(page), [])
  await page.getByRole('button', { name: 'Add 9 slots' }).click()
  await page.getByText('9 slots are added.').waitFor()
  const { body } = await floor.gateway.ask('GET', '/api/whms/slots/R3-03', { by: people.ada })
  t.match(
    body,
    { zone: 'Rack 3', floor_plan_polygon: [{ x: 2.8, y: 10.4 }] },
    'two bays on, and two aisles below 4.4 m',
  )
  const german = await open(t, browser, `${floor.url}plan`, { ...screens.handheld, locale: 'de-DE' })
  await signIn(german.page, 'ada')
  await german.page.getByText('Neue Stellplätze im Raster').click()
  await german.page.getByLabel('Beschriftungen').fill('X-1')
  await german.page.getByLabel('Gassen', { exact: true }).fill('2')
  await german.page.getByLabel('Bereich der neuen Stellplätze').fill('Kühlung')
  await german.page.getByLabel('Ein Bereich je Gasse').check()
  await german.page.getByText('Bereiche: von Kühlung X bis Kühlung Y.').waitFor()
  t.equal(await german.page.evaluate('document.documentElement.scrollWidth'), 360, 'not sideways')
  t.same(german.faults, [])
})

t.test('the editor fits every screen', inBrowser, async (t) => {
  const { url } = await hall(t)
  const ready = (page: Page) => page.getByText('Nothing is changed.').waitFor()
  await lookAt(t, { browser, url, as: 'ada' }, [{ path: 'plan', ready }])
})

t.test('the first slots of a hall are added, and the form says so', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: { name: 'Hall', timezone: 'UTC' } })
  const page = await opened(t, url)
  await page.getByLabel('Labels', { exact: true }).fill('A-01..A-04')
  await page.getByLabel('Zone of the new slots').fill('A')
  await page.getByRole('button', { name: 'Add 4 slots' }).click()
  await page.getByRole('button', { name: 'Move A', exact: true }).waitFor()
  await page.getByText('4 slots are added.').waitFor()
})
