import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, record, signIn, slot } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { build, type Corner, cornerColors, cornerLabel, type Hall, halls, labelAt } from '../support/halls.ts'
import { eventually } from '../support/waiting.ts'

// Five halls, one of them on three screens; a busy machine takes its time.
t.setTimeout(600_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const screens = {
  desktop: { viewport: { width: 1280, height: 800 } },
  tablet: { viewport: { width: 800, height: 1280 }, hasTouch: true },
  handheld: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
} as const satisfies Record<string, BrowserContextOptions>

type Box = { x: number; y: number; width: number; height: number }

async function boxOf(page: Page, selector: string): Promise<Box> {
  const box = await page.locator(selector).boundingBox()
  if (!box) throw new Error(`${selector} is not drawn`)
  return box
}

const isInside = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x - 0.5 &&
  inner.y >= outer.y - 0.5 &&
  inner.x + inner.width <= outer.x + outer.width + 0.5 &&
  inner.y + inner.height <= outer.y + outer.height + 0.5

const screenOf = (page: Page): Box => ({ x: 0, y: 0, ...(page.viewportSize() ?? { width: 0, height: 0 }) })

type Picture = { readonly png: PNG; readonly box: Box; readonly perPx: number }

/** Pixels of the plan on the screen. */
async function pictureOf(page: Page): Promise<Picture> {
  const box = await boxOf(page, '.plan')
  const png = PNG.sync.read(await page.screenshot({ clip: box, ...keepAs() }))
  return { png, box, perPx: png.width / box.width }
}

/** The share of pixels that differ between two pictures of one size. */
function unlike(one: PNG, other: PNG): number {
  let count = 0
  for (let at = 0; at < one.data.length; at += 4)
    if ([0, 1, 2].some((channel) => one.data[at + channel] !== other.data[at + channel])) count += 1
  return count / (one.data.length / 4)
}

let shots = 0
/** With PLAN_SHOTS=folder, stores the pictures for inspection. */
function keepAs(): { path?: string } {
  const folder = process.env['PLAN_SHOTS']
  shots += 1
  return folder ? { path: `${folder}/plan-${String(shots).padStart(2, '0')}.png` } : {}
}

type Rgb = readonly [number, number, number]
const rgbOf = (color: string): Rgb => {
  const n = Number.parseInt(color.slice(1), 16)
  return [n >> 16, (n >> 8) & 255, n & 255]
}

/** The box around all pixels of about this color, in pixels of the page from the plan's corner; undefined without any. */
function boxOfColor({ png, perPx }: Picture, color: string): Box | undefined {
  const [r, g, b] = rgbOf(color)
  let [left, top, right, bottom] = [Infinity, Infinity, -1, -1]
  for (let y = 0; y < png.height; y += 1) {
    for (let x = 0; x < png.width; x += 1) {
      const at = (y * png.width + x) * 4
      const off = Math.max(
        Math.abs((png.data[at] ?? 0) - r),
        Math.abs((png.data[at + 1] ?? 0) - g),
        Math.abs((png.data[at + 2] ?? 0) - b),
      )
      if (off > 40) continue
      left = Math.min(left, x)
      right = Math.max(right, x)
      top = Math.min(top, y)
      bottom = Math.max(bottom, y)
    }
  }
  if (right < 0) return undefined
  return { x: left / perPx, y: top / perPx, width: (right + 1 - left) / perPx, height: (bottom + 1 - top) / perPx }
}

/** The box around the whole hall, by the colors in its corners. */
function hallIn(picture: Picture): { missing: Corner[]; hall: Box } {
  const found = Object.entries(cornerColors).map(
    ([corner, color]) => [corner as Corner, boxOfColor(picture, color)] as const,
  )
  const boxes = found.flatMap(([, box]) => box ?? [])
  const x = Math.min(...boxes.map((box) => box.x))
  const y = Math.min(...boxes.map((box) => box.y))
  const width = Math.max(...boxes.map((box) => box.x + box.width)) - x
  const height = Math.max(...boxes.map((box) => box.y + box.height)) - y
  return { missing: found.filter(([, box]) => !box).map(([corner]) => corner), hall: { x, y, width, height } }
}

async function openPlan(t: Parameters<typeof open>[0], url: string, context: BrowserContextOptions): Promise<Page> {
  const { page } = await open(t, browser, url, { reducedMotion: 'reduce', ...context })
  await signIn(page, 'sven')
  await page.locator('.slot').first().waitFor()
  await page.locator('.events .event').first().waitFor()
  return page
}

/** Tests each hall on one screen, and the largest on all: a screen changes the same things in every hall. */
const screensOf = (hall: Hall): (keyof typeof screens)[] => {
  const all = Object.keys(screens) as (keyof typeof screens)[]
  if (hall.width === 170) return all
  return [all[halls.indexOf(hall) % all.length] ?? 'desktop']
}

for (const hall of halls) {
  const name = `${hall.width} by ${hall.depth} m with ${(hall.columns * hall.rows).toLocaleString('en')} slots`
  t.test(`a hall of ${name} is seen whole when the plan opens, and what is chosen is gone to`, inBrowser, async (t) => {
    const { gateway, url } = await place(t)
    await build(gateway, hall)
    for (const screen of screensOf(hall)) {
      const page = await openPlan(t, url, screens[screen])
      const picture = await pictureOf(page)
      const { missing, hall: seen } = hallIn(picture)
      t.same(missing, [], `${screen}: every corner is seen`)
      t.ok(isInside(seen, { ...picture.box, x: 0, y: 0 }), `${screen}: the hall is inside of the plan`)
      const share = Math.max(seen.width / picture.box.width, seen.height / picture.box.height)
      t.ok(share > 0.85, `${screen}: the hall fills the plan in one direction (${share.toFixed(2)})`)
      t.ok(
        Math.abs(seen.width / seen.height - hall.width / hall.depth) < (hall.width / hall.depth) * 0.12,
        `${screen}: nothing is stretched`,
      )
      await chooseFromEvents(t, page, hall, screen)
      await page.context().close()
    }
  })
}

/** The last events are the verifications of the corners: the farthest that there is to go. */
async function chooseFromEvents(
  t: { ok(value: unknown, message: string): unknown; equal(a: unknown, b: unknown, message: string): unknown },
  page: Page,
  hall: Hall,
  screen: string,
): Promise<void> {
  for (const corner of ['SE', 'NW'] as const) {
    const label = cornerLabel(hall, corner)
    await page
      .locator('.events')
      .getByRole('button', { name: `Slot ${label}`, exact: true })
      .first()
      .click()
    await page.locator('.slot-panel').getByRole('heading', { name: label }).waitFor()
    // The page scrolls to the plan after the panel is drawn.
    const isSeen = (box: Box) => isInside(box, screenOf(page))
    const chosen = await eventually(() => boxOf(page, '#plan-cursor.chosen'), isSeen, { withinMs: 2000 })
    const plan = await boxOf(page, '.plan')
    t.ok(isInside(chosen, plan), `${screen}: the chosen slot ${corner} is inside of the plan`)
    t.ok(isInside(chosen, screenOf(page)), `${screen}: and on the screen`)
    const leastPx = screen === 'desktop' ? 24 : 44
    t.ok(
      Math.min(chosen.width, chosen.height) >= leastPx,
      `${screen}: large enough to be read and hit (${chosen.width} x ${chosen.height})`,
    )
    // The plan is painted in the frame after the one in which the button is in its place.
    const drawn = await eventually(
      async () => boxOfColor(await pictureOf(page), cornerColors[corner])?.width ?? 0,
      (width) => width > chosen.width / 2,
      { withinMs: 10_000 },
    )
    t.ok(drawn > chosen.width / 2, `${screen}: its color is to be seen`)
  }
}

const hallOf = (width: number): Hall => {
  const hall = halls.find((one) => one.width === width)
  if (!hall) throw new Error(`there is no hall of ${width} m`)
  return hall
}

/** Returns the place of a slot on the screen, computed from the slot under the keyboard cursor. */
async function placeOf(page: Page, hall: Hall, label: string): Promise<Box> {
  const cursor = page.locator('#plan-cursor')
  await drawn(page)
  const box = await boxOf(page, '#plan-cursor')
  const [, column = '', row = ''] = /^(\d+)-(\d+) on/.exec((await cursor.getAttribute('aria-label')) ?? '') ?? []
  const [toColumn = '', toRow = ''] = label.split('-')
  const pitch = { x: hall.width / hall.columns, y: hall.depth / hall.rows }
  const scale = box.width / (pitch.x * 0.88)
  const x = box.x + (Number(toColumn) - Number(column)) * pitch.x * scale
  const y = box.y + (Number(toRow) - Number(row)) * pitch.y * scale
  return { x, y, width: box.width, height: box.height }
}

/** Resolves when the plan was drawn as it is now: it is drawn with the frames of the screen. */
const drawn = (page: Page) => page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve()))')

const shortSide = async (page: Page): Promise<number> => {
  await drawn(page)
  const { width, height } = await boxOf(page, '#plan-cursor')
  return Math.min(width, height)
}

t.test(
  'wheel, buttons, keys and dragging move the plan, and the whole hall is one press away',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    await build(gateway, hallOf(170))
    const page = await openPlan(t, url, screens.desktop)
    const middle = () => placeOf(page, hallOf(170), labelAt(50, 10))
    const whole = await shortSide(page)
    const isWhole = async () => t.same(hallIn(await pictureOf(page)).missing, [], 'the whole hall is seen again')

    const { x, y, width, height } = await middle()
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.wheel(0, -400)
    await page.locator('#plan.zoomed').waitFor()
    const near = await middle()
    t.ok(Math.min(near.width, near.height) > whole * 1.5, 'the wheel comes nearer')
    t.ok(
      Math.abs(near.x + near.width / 2 - (x + width / 2)) < 2 &&
        Math.abs(near.y + near.height / 2 - (y + height / 2)) < 2,
      'what is under the pointer stays there',
    )
    t.equal(await page.evaluate('scrollY'), 0, 'and the page does not scroll with it')

    await page.mouse.down()
    await page.mouse.move(x - 60, y + 10, { steps: 4 })
    await page.mouse.up()
    const dragged = await middle()
    t.ok(dragged.x < near.x - 40, 'dragging moves the hall')
    t.equal(await page.locator('.slot-panel').count(), 0, 'the end of a drag chooses nothing')

    await page.getByRole('button', { name: 'Whole hall' }).click()
    await isWhole()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    t.ok((await shortSide(page)) > whole * 1.3, 'the button comes nearer')
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await isWhole()
    for (const name of ['Zoom in', 'Zoom out', 'Whole hall']) {
      const { width, height } = (await page.getByRole('button', { name }).boundingBox()) ?? { width: 0, height: 0 }
      t.ok(width >= 48 && height >= 48, `${name} is a target of 48 px`)
    }

    await page.locator('#plan-cursor').focus()
    // A key is held back for a moment, because it could be the first of a scan.
    await page.keyboard.press('+')
    await eventually(
      () => shortSide(page),
      (side) => side > whole * 1.3,
    )
    await page.keyboard.press('0')
    await eventually(
      async () => hallIn(await pictureOf(page)).missing,
      (missing) => missing.length === 0,
    )
    await page.keyboard.press('ArrowRight')
    const focused = await eventually(
      () => boxOf(page, '#plan-cursor:focus'),
      (box) => Math.min(box.width, box.height) >= 24,
    )
    t.ok(isInside(focused, await boxOf(page, '.plan')), 'an arrow key goes to the next slot')
    t.ok(Math.min(focused.width, focused.height) >= 24, 'and so near that it can be read')
  },
)

t.test(
  'a plan that is dragged farther than its canvas reaches shows all of what is there, in each step',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    await build(gateway, hallOf(170))
    const page = await openPlan(t, url, { ...screens.desktop, viewport: { width: 700, height: 600 } })
    const { x, y, width, height } = await boxOf(page, '.plan')
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.clock.install()
    for (let n = 0; n < 5; n += 1) await page.mouse.wheel(0, -400)
    await page.clock.runFor(2000)
    for (const to of [0.1, 0.9, 0.2, 0.8]) {
      await page.mouse.move(x + width * (1 - to), y + height / 2)
      await page.mouse.down()
      for (let step = 1; step <= 8; step += 1) {
        await page.mouse.move(x + width * (1 - to + ((2 * to - 1) * step) / 8), y + height / 2 - step)
        await page.clock.runFor(17)
      }
      const moved = await pictureOf(page)
      await page.clock.runFor(1000)
      const rested = await pictureOf(page)
      // The names of zones alone find their places once it rests.
      t.ok(unlike(moved.png, rested.png) < 0.04, `as it is painted anew once it rests, dragged to ${to}`)
      await page.mouse.up()
    }
  },
)

/** Zooms in around the middle, so that the plan is larger than the view on all sides. Returns the middle. */
async function zoomIn(page: Page): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = await boxOf(page, '.plan')
  const middle = { x: x + width / 2, y: y + height / 2 }
  await page.mouse.move(middle.x, middle.y)
  for (let n = 0; n < 5; n += 1) await page.mouse.wheel(0, -400)
  await page.locator('#plan.zoomed').waitFor()
  return middle
}

/** Drags the plan. Compares its picture with the one after a full repaint, in other colors and back. */
async function unlikeAnew(page: Page, by: { x: number; y: number }): Promise<number> {
  const { x, y, width, height } = await boxOf(page, '.plan')
  const middle = { x: x + width / 2, y: y + height / 2 }
  await page.mouse.move(middle.x, middle.y)
  await page.mouse.down()
  for (let step = 1; step <= 4; step += 1)
    await page.mouse.move(middle.x + (by.x * step) / 4, middle.y + (by.y * step) / 4)
  await page.mouse.up()
  await page.clock.runFor(1000)
  const dragged = await pictureOf(page)
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.clock.runFor(1000)
  }
  return unlike(dragged.png, (await pictureOf(page)).png)
}

t.test(
  'a tile that is being painted ahead while its slots change shows them as they are by then',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    const hall = hallOf(170)
    await build(gateway, hall)
    const page = await openPlan(t, url, { ...screens.desktop, viewport: { width: 700, height: 600 } })
    await page.clock.install()
    // Nothing is painted ahead before the last step of the wheel.
    await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1000)
    const [isAsked, mayCome] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/tile-worker-*', async (route) => {
      isAsked.resolve()
      await mayCome.promise
      await route.continue()
    })
    await zoomIn(page)
    await page.clock.runFor(1000)
    await isAsked.promise
    await page.clock.resume()
    const labels = Array.from({ length: 400 }, (_, n) => labelAt(31 + (n % 40), 6 + Math.floor(n / 40)))
    for (let from = 0; from < labels.length; from += 100) {
      const some = labels.slice(from, from + 100)
      const events = some.map((slot_code) => ({ event_type: 'REMOVED', slot_code, asset_barcode: `P-${slot_code}` }))
      const asked = { by: people.olga, body: { events } }
      const { status, text } = await gateway.ask('POST', '/api/whms/events/batch', asked)
      t.equal(status, 201, text)
    }
    await page
      .locator('.events')
      .getByText(`P-${labels.at(-1)}`)
      .first()
      .waitFor()
    const painted = page.waitForEvent('requestfinished', (it) => it.url().includes('tile-worker'))
    mayCome.resolve()
    await painted
    for (let n = 0; n < 100; n += 1) await page.clock.runFor(17)
    for (const by of [-200, 400]) t.ok((await unlikeAnew(page, { x: 0, y: by })) < 0.01, `dragged by ${by} px`)
  },
)

t.test('a plan is whole also where its worker does not come', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await build(gateway, hallOf(170))
  const page = await openPlan(t, url, { ...screens.desktop, viewport: { width: 700, height: 600 } })
  await page.clock.install()
  await page.route('**/plan-tile-*', (route) => route.abort())
  await zoomIn(page)
  for (let n = 0; n < 20; n += 1) await page.clock.runFor(100)
  for (const by of [-200, 400]) t.ok((await unlikeAnew(page, { x: by, y: 0 })) < 0.01, `dragged by ${by} px`)
})

t.test('a plan that is dragged moves as one layer, and nothing on it changes its style', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await build(gateway, hallOf(170))
  const page = await openPlan(t, url, screens.desktop)
  const { x, y, width, height } = await boxOf(page, '.plan')
  const [middleX, middleY] = [x + width / 2, y + height / 2]
  await page.mouse.move(middleX, middleY)
  await page.clock.install()
  for (let n = 0; n < 4; n += 1) await page.mouse.wheel(0, -400)
  // Nothing rests while this test takes its time.
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.clock.runFor(2000)
  await page.mouse.down()
  await page.mouse.move(middleX + 8, middleY)
  await page.clock.runFor(17)
  const cursor = await boxOf(page, '#plan-cursor')
  const painted = await pictureOf(page)
  await page.evaluate(`
    window.changed = []
    new MutationObserver((all) => changed.push(...all.map(({ target, attributeName }) => target.className + ' ' + attributeName)))
      .observe(document.getElementById('plan'), { subtree: true, attributes: true, childList: true })
  `)
  for (let step = 1; step <= 5; step += 1) {
    await page.mouse.move(middleX + 8 + 20 * step, middleY + 12 * step)
    await page.clock.runFor(17)
  }
  const moved = await boxOf(page, '#plan-cursor')
  t.ok(Math.abs(moved.x - cursor.x - 100) < 1 && Math.abs(moved.y - cursor.y - 60) < 1, 'by as much as the pointer')
  t.ok(unlike(painted.png, (await pictureOf(page)).png) > 0.02, 'and the picture with it')
  t.same(await page.evaluate('changed'), [])
  await page.mouse.up()
})

t.test('two fingers pinch the plan, and a finger on a small slot comes nearer first', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await build(gateway, hallOf(45))
  const page = await openPlan(t, url, screens.handheld)
  const label = labelAt(20, 20)
  const where = () => placeOf(page, hallOf(45), label)
  const from = await where()
  t.ok(Math.min(from.width, from.height) < 24, 'the slots are too small for a thumb')
  await page.touchscreen.tap(from.x + from.width / 2, from.y + from.height / 2)
  t.equal(await page.locator('.slot-panel').count(), 0, 'the first tap chooses nothing')
  const near = await where()
  t.ok(Math.min(near.width, near.height) >= 44, `but brings the slots to the size of a thumb (${near.width} px)`)
  await page.touchscreen.tap(near.x + near.width / 2, near.y + near.height / 2)
  await page.locator('.slot-panel').getByRole('heading', { name: label }).waitFor()
  const plan = await boxOf(page, '.plan')
  t.ok(isInside(await where(), plan), 'the second one chooses')
  t.ok(isInside(await boxOf(page, '#slot-title'), screenOf(page)), 'and what stands there is on the screen too')

  await page.getByRole('button', { name: 'Whole hall' }).tap()
  t.ok((await shortSide(page)) < 24, 'the whole hall again')
  const { x, y, width, height } = await boxOf(page, '.plan')
  const [cx, cy] = [x + width / 2, y + height / 2]
  const touch = await page.context().newCDPSession(page)
  const fingers = (apart: number) => [
    { x: cx - apart, y: cy, id: 1 },
    { x: cx + apart, y: cy, id: 2 },
  ]
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(20) })
  for (const apart of [40, 60, 80, 100]) {
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(apart) })
  }
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await page.locator('#plan.zoomed').waitFor()
  t.ok((await shortSide(page)) > Math.min(from.width, from.height) * 3, 'pinching comes nearer')
  t.equal(await page.evaluate('visualViewport.scale'), 1, 'of the plan, not of the page')
})

t.test('Escape closes the slot and the focus goes back to where it was chosen', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await build(gateway, hallOf(12))
  const page = await openPlan(t, url, screens.desktop)
  const focused = () => page.evaluate<string>('document.activeElement.outerHTML.slice(0, 400)')
  const panel = page.locator('.slot-panel')
  const link = page.locator('.events').getByRole('button', { name: 'Slot 012-10' }).first()
  const clickOn = async (label: string) => {
    await page.evaluate('scrollTo(0, 0)')
    const { x, y, width, height } = await placeOf(page, hallOf(12), label)
    await page.mouse.click(x + width / 2, y + height / 2)
  }
  const ways: [string, () => Promise<unknown>, RegExp][] = [
    ['with a key in the table', () => slot(page, '003-03').press('Enter'), /slot-link.*003-03/],
    ['with the mouse on the plan', () => clickOn('004-03'), /id="plan-cursor".*004-03 on the plan/],
    ['with a key on the plan', () => page.locator('#plan-cursor').press('Enter'), /id="plan-cursor"/],
    ['in the list of events', () => link.click(), /slot-link.*012-10/],
  ]
  for (const [how, choose, back] of ways) {
    for (const place of ['where it is', 'inside of the panel']) {
      await choose()
      await panel.waitFor()
      if (place === 'inside of the panel') await page.getByRole('button', { name: 'Close the slot' }).focus()
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'detached' })
      t.match(await focused(), back, `chosen ${how}, Escape pressed ${place}`)
    }
  }
})

t.test('a new event draws the rows anew that it changed, and no other', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await build(gateway, hallOf(20))
  const page = await openPlan(t, url, screens.desktop)
  await page.evaluate(`(() => {
    globalThis.touched = new Set()
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const row = (target.nodeType === 1 ? target : target.parentElement)?.closest('tr')
        if (row) touched.add(row.querySelector('.slot').getAttribute('aria-label'))
      }
    }).observe(document.querySelector('.slot-table tbody'), { subtree: true, childList: true, attributes: true, characterData: true })
  })()`)
  const label = labelAt(1, 5)
  await record(gateway, { event_type: 'PLACED', slot_code: label, asset_barcode: 'P-new' })
  await page.getByRole('button', { name: `Slot ${label}, zone Aisles 1: not yet verified, pallet P-new` }).waitFor()
  t.same(await page.evaluate('[...touched]'), [`Slot ${label}, zone Aisles 1: not yet verified, pallet P-new`])
})

t.test('a slot that somebody moves is drawn where it is now', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  const at = (x: number) => [
    { x, y: 0 },
    { x: x + 2, y: 0 },
    { x: x + 2, y: 4 },
    { x, y: 4 },
  ]
  for (const [label, x] of [
    ['S-1', 0],
    ['S-2', 6],
    ['S-3', 18],
  ] as const)
    await furnish(gateway, [label], { floor_plan_polygon: at(x) })
  const { page } = await open(t, browser, url, screens.desktop)
  await signIn(page, 'ada')
  await page.getByText('Live').waitFor()
  const plan = await boxOf(page, '#plan')
  /** Returns the pixels of a spot in the middle between two sides of the plan: 0 is left, 1 right. */
  const spot = async (part: number) =>
    (
      await page.screenshot({
        clip: { x: plan.x + plan.width * part - 2, y: plan.y + plan.height / 2 - 2, width: 4, height: 4 },
      })
    ).toString('base64')
  // In the hall of 20 m the middle of the slot is at 7 m, and then at 13 m.
  const [before, free] = [await spot(0.35), await spot(0.65)]
  t.not(before, free)
  const { version } = (await gateway.ask('GET', '/api/whms/slots/S-2', { by: people.ada })).body
  const body = { floor_plan_polygon: at(12) }
  const headers = { 'If-Match': String(version) }
  t.match(await gateway.ask('PUT', '/api/whms/slots/S-2', { by: people.ada, body, headers }), { status: 200 })
  const both = async () => [await spot(0.35), await spot(0.65)]
  t.ok(await eventually(both, ([left, right]) => left === free && right === before))
})

t.test('a plan with a slot that was drawn in millimetres glides to the chosen one at once', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  const outline = (x: number, width: number, depth: number) => [
    { x, y: 0 },
    { x: x + width, y: 0 },
    { x: x + width, y: depth },
    { x, y: depth },
  ]
  for (let n = 0; n < 5; n += 1) await furnish(gateway, [`S-${n}`], { floor_plan_polygon: outline(n * 1.3, 1.2, 0.8) })
  await furnish(gateway, ['wrong'], { floor_plan_polygon: outline(10, 12_000, 8000) })
  const { page } = await open(t, browser, `${url}?slot=2`, { ...screens.desktop, reducedMotion: 'no-preference' })
  await page.evaluate(`
    window.longestMs = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longestMs = Math.max(longestMs, duration)
    }).observe({ type: 'longtask', buffered: true })
  `)
  await signIn(page, 'ada')
  await eventually(
    () => boxOf(page, '#plan-cursor.chosen'),
    ({ width, height }) => width > 24 && height > 24,
  )
  await page.locator('#plan-cursor').press('+')
  await drawn(page)
  const longestMs = await page.evaluate<number>('longestMs')
  // To name each tile under it takes ten seconds.
  t.ok(longestMs < 3000, `the longest task took ${Math.round(longestMs)} ms`)
})
