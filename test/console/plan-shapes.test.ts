import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { lookAt } from '../support/look.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const by = people.ada
const rectangle = (x: number) => [
  { x, y: 0 },
  { x: x + 1, y: 0 },
  { x: x + 1, y: 2 },
  { x, y: 2 },
]
/** Twice as wide as high, all of one color that nothing else on the page has. */
const drawing =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100"><rect width="200" height="100" fill="#ff00ff"/></svg>'
const svgFile = (text: string) => ({ name: 'hall.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(text) })

/** Zone S with a slot at each end of 20 m; zone T without a slot. */
async function hall(t: Parameters<typeof place>[0]): Promise<Place> {
  const made = await place(t)
  const { gateway } = made
  await furnish(gateway, ['S-1'], { floor_plan_polygon: rectangle(0) })
  const body = { slot_id: 'S-2', zone: 'S', warehouseId: 1, floor_plan_polygon: rectangle(19) }
  await gateway.ask('POST', '/api/whms/slots', { by, body })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'T', zone_type: 'cold', warehouseId: 1 } })
  return made
}

const get = async ({ gateway }: Place, path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by })).body

async function opened(t: Parameters<typeof place>[0], url: string, mode: string): Promise<Page> {
  const { page } = await open(t, browser, `${url}plan`)
  await signIn(page, 'ada')
  await page.getByLabel(mode).check()
  return page
}

t.test('an outline is drawn by taps and changed by keys, takes slots in, and is removed', inBrowser, async (t) => {
  const floor = await hall(t)
  const page = await opened(t, floor.url, 'Outlines of zones')
  await page.getByLabel('Zone to outline').selectOption({ label: 'T' })
  await page.getByRole('button', { name: 'Draw an outline' }).click()
  const plan = page.getByRole('group', { name: 'Plan of Hall' })
  await plan.evaluate((it) => it.scrollIntoView({ block: 'center' }))
  const area = await plan.boundingBox()
  if (!area) throw new Error('the plan is not shown')
  // The hall is 20 m wide and 2 m high, with 1.2 m of room on each side.
  const frame = { left: -1.2, top: -1.2, width: 22.4, height: 4.4 }
  const scale = Math.min((area.width - 28) / frame.width, (area.height - 44) / frame.height)
  const left = area.x + (area.width - frame.width * scale) / 2
  const top = area.y + 30 + (area.height - 44 - frame.height * scale) / 2
  const tap = (x: number, y: number) => page.mouse.click(left + (x - frame.left) * scale, top + (y - frame.top) * scale)
  for (const [x, y] of [
    [18.95, -0.03],
    [20.5, -0.5],
    [20.5, 2.5],
  ] as const)
    await tap(x, y)
  await page.getByText('3 corners').waitFor()
  await page.getByRole('button', { name: 'Take back the last corner' }).click()
  await page.getByText('2 corners').waitFor()
  await tap(20.5, 2.5)
  await tap(18.5, 2.5)
  await tap(18.97, 0.02)
  await page.getByText('1 change is not saved.').waitFor()
  await page.getByRole('button', { name: 'Corner 4 of Outline of T' }).focus()
  await page.keyboard.press('Shift+ArrowDown')
  await page.getByRole('button', { name: 'Put the 1 slot inside into T' }).click()
  t.equal((await get(floor, 'zones/2')).floor_plan_polygon, null, 'nothing is stored before')
  await page.getByRole('button', { name: 'Save 2 changes' }).click()
  await page.getByText('2 changes are saved. Nothing is changed.').waitFor()
  const [first, ...others] = (await get(floor, 'zones/2')).floor_plan_polygon
  t.same(first, { x: 19, y: 0 }, 'a corner of a slot attracts')
  t.equal(others.length, 3)
  t.ok(Math.abs(others[2].y - 3.5) < 0.2, 'moved by a metre')
  t.match(await get(floor, 'slots/S-2'), { zone: 'T', zoneId: 2 })
  await page.getByRole('button', { name: 'Remove outline' }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Nothing is changed.').waitFor()
  await page.getByLabel('Zone to outline').selectOption({ label: 'S' })
  await page.getByRole('button', { name: 'Outline around its slots' }).click()
  await page.getByText('Corners in metres').click()
  await page.getByLabel('Corner 1, from the left').fill('-2')
  await page.getByLabel('Corner 1, from the left').press('Enter')
  await page.getByRole('button', { name: 'Save 1 change' }).click()
  await page.getByText('1 change is saved.').waitFor()
  const outline = (await get(floor, 'zones/1')).floor_plan_polygon as { x: number; y: number }[]
  t.equal(outline[0]?.x, -2)
  await page.getByRole('button', { name: 'Remove outline' }).click()
  await page.getByRole('button', { name: 'Save 1 change' }).click()
  await page.getByText('1 change is saved.').waitFor()
  t.equal((await get(floor, 'zones/1')).floor_plan_polygon, null)
})

t.test(
  'a picture of the hall lies below the plan and the floor: moved, sized, turned, removed',
  inBrowser,
  async (t) => {
    const floor = await hall(t)
    const page = await opened(t, floor.url, 'Picture of the hall')
    const file = page.getByLabel('Picture file')
    await file.setInputFiles(svgFile(drawing.replace('<rect', '<script/><rect')))
    await page.getByText('contains <script>').waitFor()
    await file.setInputFiles(svgFile(drawing))
    await page.getByText('The picture is stored.').waitFor()
    const placed = (await get(floor, 'warehouses/1')).floorPlanImage.place
    t.same(placed, { x: 0, y: -4, width: 20, rotation: 0, opacity: 0.6 })
    const frame = page.getByRole('button', { name: 'Move the picture' })
    await frame.evaluate((it) => it.scrollIntoView({ block: 'center' }))
    const box = await frame.boundingBox()
    if (!box) throw new Error('the frame is not shown')
    await page.mouse.move(box.x + 60, box.y + box.height - 40)
    await page.mouse.down()
    await page.mouse.move(box.x + 90, box.y + box.height - 40, { steps: 3 })
    await page.mouse.up()
    await page.getByText('1 change is not saved.').waitFor()
    t.ok(Number(await page.getByLabel('Picture from the left').inputValue()) > 0.1)
    await page.getByRole('button', { name: 'Turn the picture' }).focus()
    await page.keyboard.press('Shift+ArrowRight')
    await page.getByLabel('Picture from the left').fill('1')
    await page.getByLabel('Picture from the left').press('Enter')
    await page.getByLabel('Turned by degrees').fill('-90')
    await page.getByLabel('Turned by degrees').press('Enter')
    t.equal(await page.getByLabel('Turned by degrees').inputValue(), '270')
    await page.getByLabel('Width of the picture').fill('12')
    await page.getByLabel('Width of the picture').press('Enter')
    await page.getByLabel('Opacity in percent').fill('100')
    await page.getByLabel('Opacity in percent').press('Enter')
    await page.getByRole('button', { name: 'Save 1 change' }).click()
    await page.getByText('1 change is saved.').waitFor()
    t.same((await get(floor, 'warehouses/1')).floorPlanImage.place, {
      x: 1,
      y: -4,
      width: 12,
      rotation: 270,
      opacity: 1,
    })

    await page.getByRole('link', { name: 'Floor', exact: true }).click()
    const shown = page.locator('#plan .plan-image')
    await shown.evaluate((it) => (it as unknown as { decode(): Promise<void> }).decode())
    // Turned by a quarter: 12 m across in the file are 12 m down on the plan, whose 20 m fill the width.
    const [picture, plan] = [await shown.boundingBox(), await page.locator('#plan').boundingBox()]
    if (!picture || !plan) throw new Error('the floor is not shown')
    const scale = (plan.width - 28) / 20
    t.ok(Math.abs(picture.height - 12 * scale) < 3, `${picture.height} px for 12 m`)
    t.ok(Math.abs(picture.width - 6 * scale) < 3, `${picture.width} px for 6 m`)
    // Its middle is 7 m from the left.
    t.ok(Math.abs(picture.x + picture.width / 2 - (plan.x + 14 + 7 * scale)) < 3)

    await page.goto(`${floor.url}plan`)
    await page.getByLabel('Picture of the hall').check()
    await page.getByRole('button', { name: 'Remove picture' }).click()
    await page.getByRole('button', { name: 'Remove the picture of this hall?' }).click()
    await page.getByText('The picture is removed.').waitFor()
    t.equal((await get(floor, 'warehouses/1')).floorPlanImage, null)
  },
)

t.test('two points of the picture and their distance give it its size, by taps and by keys', inBrowser, async (t) => {
  const floor = await hall(t)
  await floor.gateway.ask('PUT', '/api/whms/warehouses/1/floor-plan-image', { by, bytes: drawing })
  const page = await opened(t, floor.url, 'Picture of the hall')
  const width = () => page.getByLabel('Width of the picture').inputValue()
  const start = page.getByRole('button', { name: 'Set the size by two points' })
  const apply = page.getByRole('button', { name: 'Size the picture' })
  const distance = page.getByLabel('Distance of the two points')
  const frame = page.getByRole('button', { name: 'Move the picture' })
  await frame.evaluate((it) => it.scrollIntoView({ block: 'center' }))
  // By taps: half of its 20 m are 6 m, so it is 12 m wide.
  await start.click()
  await apply.click()
  await page.getByText('First tap two points of the picture').waitFor()
  const image = page.locator('.edit-drawing .plan-image')
  await image.evaluate((it) => it.scrollIntoView({ block: 'center' }))
  const box = await image.boundingBox()
  if (!box) throw new Error('the picture is not shown')
  const tap = (part: number) => page.mouse.click(box.x + box.width * part, box.y + box.height * 0.8)
  await tap(0.3)
  await page.getByText('1 point.').waitFor()
  await tap(0.8)
  await page.getByText('2 points.').waitFor()
  // Not below the bar that sticks to the edge of the screen.
  await apply.evaluate((it) => it.scrollIntoView({ block: 'center' }))
  t.same(await violations(page), [])
  await apply.click()
  await page.getByText('Type the distance in metres').waitFor()
  await distance.fill('6')
  await apply.click()
  await page.getByText(/The picture is (11\.9|12)[\d.]* m wide now/).waitFor()
  t.ok(Math.abs(Number(await width()) - 12) < 0.1, await width())
  await page.getByRole('button', { name: 'Undo' }).click()
  t.equal(await width(), '20')
  // By keys: two points are put at a quarter and three quarters of its 20 m; one of them is moved and back.
  await start.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Put two points into the picture' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Point 2' }).focus()
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Shift+ArrowLeft')
  await distance.fill('5')
  await distance.press('Enter')
  await page.getByText('The picture is 10 m wide now.').waitFor()
  await start.and(page.locator(':focus')).waitFor()
  await page.getByRole('button', { name: 'Save 1 change' }).click()
  await page.getByText('1 change is saved.').waitFor()
  // The first point, 5 m from the left and 1 m from the top, stays where it is.
  const { place: stored } = (await get(floor, 'warehouses/1')).floorPlanImage
  t.same(stored, { x: 2.5, y: -1.5, width: 10, rotation: 0, opacity: 0.6 })
})

t.test('an outline is moved and resized whole, and copied for another zone', inBrowser, async (t) => {
  const floor = await hall(t)
  await floor.gateway.ask('PUT', '/api/whms/zones/1', { by, body: { floor_plan_polygon: rectangle(4) } })
  const page = await opened(t, floor.url, 'Outlines of zones')
  await page.getByRole('button', { name: 'Move Outline of S' }).focus()
  await page.keyboard.press('Shift+ArrowRight')
  await page.getByRole('button', { name: 'Resize Outline of S' }).focus()
  await page.keyboard.press('Shift+ArrowDown')
  await page.getByLabel('From the top', { exact: true }).fill('5')
  await page.getByLabel('From the top', { exact: true }).press('Enter')
  await page.getByRole('button', { name: 'Copy outline' }).click()
  await page.getByText('The outline of S is copied.').waitFor()
  await page.getByLabel('Zone to outline').selectOption({ label: 'T' })
  await page.getByRole('button', { name: 'Same outline as S, beside it' }).click()
  await page.getByText('2 changes are not saved.').waitFor()
  t.same(await violations(page), [])
  await page.getByRole('button', { name: 'Save 2 changes' }).click()
  await page.getByText('2 changes are saved.').waitFor()
  const box = (x: number) => [
    { x, y: 5 },
    { x: x + 1, y: 5 },
    { x: x + 1, y: 8 },
    { x, y: 8 },
  ]
  t.same((await get(floor, 'zones/1')).floor_plan_polygon, box(5))
  t.same((await get(floor, 'zones/2')).floor_plan_polygon, box(6))
})

t.test('both fit every screen, and axe finds nothing', inBrowser, async (t) => {
  const { url, gateway } = await hall(t)
  await gateway.ask('PUT', '/api/whms/warehouses/1/floor-plan-image', { by, bytes: drawing })
  await gateway.ask('PUT', '/api/whms/zones/1', { by, body: { floor_plan_polygon: rectangle(0) } })
  const mode = (name: string) => async (page: Page) => {
    await page.getByLabel(name).check()
    await page.getByText('Nothing is changed.').waitFor()
  }
  await lookAt(t, { browser, url, as: 'ada' }, [
    { path: 'plan', ready: mode('Outlines of zones') },
    { path: 'plan', ready: mode('Picture of the hall') },
  ])
})
