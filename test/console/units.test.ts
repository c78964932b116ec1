import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import {
  afterNews,
  columnsOf,
  inStageSince,
  isCurrent,
  palletsOf,
  type UnitRecord,
  whyHeld,
  withMove,
} from '../../src/console/page/goods/unit-board.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { furnish, heldPhoto, people, type TestGateway } from '../support/gateway.ts'
import { followed, type LivePage } from '../support/live-page.ts'
import { lookAt } from '../support/look.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const units = '/api/whms/transport-units'
const post = async (gateway: TestGateway, path: string, body: object, by = people.olga) => {
  const answer = await gateway.ask('POST', path, { by, body })
  if (answer.status !== 201 && answer.status !== 200) throw new Error(answer.text)
  return answer.body
}

/** A dock with units at several stages, one on hold, one with a pallet and a photo. */
async function dock(t: Parameters<typeof place>[0]): Promise<Place & { readonly first: string }> {
  const made = await place(t)
  const { gateway } = made
  await furnish(gateway, ['A-01-01'])
  const register = (body: object) => post(gateway, units, { direction: 'inbound', ...body })
  const first = await register({ reference: 'DN-4711', carrier: 'Nordic Freight', vehicle: 'B-XY 123, dock 2' })
  await post(gateway, `${units}/${first.id}/evidence`, {
    photo_urls: [await heldPhoto(gateway)],
    scale_weight_kg: 812.5,
  })
  await record(gateway, {
    ...{ event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-1', work_order_ref: 'DN-4711' },
  })
  const second = await register({ reference: 'DN-4712', carrier: 'Alpen Transport' })
  await post(gateway, `${units}/${second.id}/advance`, {})
  await post(gateway, `${units}/${second.id}/hold`, { reason: 'customs papers are missing' })
  await register({ reference: 'SH-900', direction: 'outbound', vehicle: 'dock 7' })
  return { ...made, first: first.id }
}

t.test(
  'a dock sees at a glance which unit is where, since when, and which one waits for what',
  inBrowser,
  async (t) => {
    const { url, first } = await dock(t)
    await lookAt(t, { browser, url, as: 'sven' }, [
      {
        path: 'units',
        ready: async (page) => {
          const receiving = page.getByRole('region', { name: 'receiving' })
          await receiving.getByText('On hold: customs papers are missing').waitFor()
          const registered = page.getByRole('region', { name: 'registered' })
          await registered.getByText('1 pallet', { exact: true }).waitFor()
          await registered.getByText('Nordic Freight · B-XY 123, dock 2').waitFor()
          t.equal(await registered.getByRole('article').count(), 2)
        },
      },
      {
        path: `units/${first}`,
        ready: async (page) => {
          await page.getByText('812.5 kg').first().waitFor()
          for (const summary of await page.locator('.unit-acts summary').all()) await summary.click()
          await page.getByRole('link', { name: 'Receipt and QR code for the driver' }).waitFor()
        },
      },
    ])
  },
)

t.test(
  'two boards and the page of a unit agree within a second, and ask for nothing in between',
  inBrowser,
  async (t) => {
    const { gateway, url, first } = await dock(t)
    const views = ['units', 'units', `units/${first}`, 'find/DN-4711']
    const screens: LivePage[] = []
    for (const path of views) {
      const { page } = await open(t, browser, `${url}${path}`)
      const live = await followed(page)
      await signIn(page, 'sven')
      await page.getByText('DN-4711').first().waitFor()
      await live.rest((asked) => /transport-units|scan/.test(asked))
      screens.push(live)
    }
    const agree = async (changes: number) => {
      for (const live of screens) await live.hears('unit', changes)
      for (const live of screens) await live.goOn(1000)
    }
    const held = (page: Page) => page.getByText(/On hold: seal is broken|^on hold$/).first()
    await post(gateway, `${units}/${first}/hold`, { reason: 'seal is broken' })
    await agree(1)
    for (const { page } of screens) await held(page).waitFor()
    await post(gateway, `${units}/${first}/resume`, {})
    await agree(2)
    for (const { page } of screens) await held(page).waitFor({ state: 'hidden' })
  },
)

t.test('a unit goes from the gate to the road by keyboard, and nothing happens by one slip', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-1'])
  const { page, faults } = await open(t, browser, `${url}units`)
  await signIn(page, 'sven')
  await page.getByText('Next: register the lorry').waitFor()
  t.same(await violations(page), [], 'the empty board')
  await page.getByLabel('Reference').fill('DN-1')
  await page.getByLabel('SSCC, if it has one').fill('123')
  await page.keyboard.press('Enter')
  await page
    .getByRole('alert')
    .getByText(/18 digits.*Your input is still here/)
    .waitFor()
  t.equal(await page.getByLabel('Reference').inputValue(), 'DN-1', 'a refusal takes nothing away')
  await page.getByLabel('SSCC, if it has one').fill('')
  await page.keyboard.press('Enter')
  const card = page.getByRole('article', { name: 'DN-1' })
  const state = async () => {
    const { body } = await gateway.ask('GET', units, { by: people.ada })
    return body.data.map((unit: { stage: string; status: string }) => `${unit.stage} ${unit.status}`)
  }
  let advances = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/advance')) advances += 1
  })
  await card.getByRole('button', { name: 'Advance to receiving' }).press('Enter')
  await card.getByRole('button', { name: 'Record: receiving' }).press('Enter')
  await page.getByRole('region', { name: 'receiving' }).getByRole('article').waitFor()
  t.equal(advances, 1, 'the first press records nothing')
  await card.getByRole('link', { name: 'DN-1' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'DN-1' }).waitFor()
  await page.locator('summary', { hasText: 'Put on hold' }).press('Enter')
  await page.getByRole('button', { name: 'Put on hold' }).press('Enter')
  await page.getByText('Write why first.').waitFor()
  await page.getByLabel('Why does it wait?').fill('seal is broken')
  await page.getByRole('button', { name: 'Put on hold' }).press('Enter')
  await page.getByText('On hold: seal is broken').waitFor()
  await page.getByRole('button', { name: 'Resume' }).press('Enter')
  await page.getByRole('button', { name: 'Resume now' }).press('Enter')
  await page.locator('summary', { hasText: 'Skip stages' }).press('Enter')
  await page.getByLabel('To stage').selectOption('departed')
  await page.getByLabel('Why are stages skipped?').fill('cross-dock')
  await page.getByRole('button', { name: 'Skip to departed' }).press('Enter')
  await page.getByText('receiving → departed').waitFor()
  t.same(await state(), ['departed completed'])
  t.equal(await page.getByRole('button', { name: /Advance|hold|Cancel the unit/ }).count(), 0, 'nothing more to do')
  await page.goBack()
  await page.getByRole('heading', { name: 'Transport units' }).waitFor()
  await page.goForward()
  await page.getByText('cross-dock').waitFor()
  t.same(
    faults.filter((fault) => !fault.includes('400')),
    [],
  )
})

t.test('a viewer looks and is offered nothing else; a German browser reads German', inBrowser, async (t) => {
  const { url, first } = await dock(t)
  const { page } = await open(t, browser, `${url}units?find=alpen`, { locale: 'de-DE' })
  await signIn(page, 'vera')
  await page.getByText('Angehalten: customs papers are missing').waitFor()
  t.equal(await page.getByRole('article').count(), 1, 'the address keeps what is looked for')
  t.equal(await page.locator('main button').count(), 0)
  await page.goto(`${url}units/${first}`)
  await page.getByRole('heading', { name: 'Verlauf' }).waitFor()
  t.equal(await page.getByRole('region', { name: 'Nächster Schritt' }).count(), 0)
  t.match(await page.locator('main').innerText(), /eingelagert auf A-01-01/)
})

t.test('a unit is in its stage since it came there, whatever was recorded of it later', (t) => {
  const step = (action: string, fromStage: string | null, toStage: string, timestamp: string, reason?: string) =>
    ({ action, fromStage, toStage, timestamp, reason: reason ?? null, note: null }) as UnitRecord['history'][number]
  const history = [
    step('created', null, 'registered', '2026-03-02T06:00:00.000Z'),
    step('advanced', 'registered', 'receiving', '2026-03-02T07:00:00.000Z'),
    step('held', 'receiving', 'receiving', '2026-03-02T08:00:00.000Z', 'papers'),
    step('weighed', 'receiving', 'receiving', '2026-03-02T09:00:00.000Z'),
  ]
  t.equal(inStageSince({ history, createdAt: '' }), '2026-03-02T07:00:00.000Z')
  t.equal(inStageSince({ history: history.slice(0, 1), createdAt: '' }), '2026-03-02T06:00:00.000Z')
  t.equal(whyHeld({ history }), 'papers')
  t.end()
})

t.test('units of a stage that left the config are still on the board, held ones first', (t) => {
  const unit = (stage: string, status: 'active' | 'on_hold', updatedAt: string) => ({ stage, status, updatedAt })
  const [old, held, young, gone] = [
    unit('a', 'active', '1'),
    unit('a', 'on_hold', '3'),
    unit('a', 'active', '2'),
    unit('x', 'active', '1'),
  ] as const
  t.strictSame(columnsOf(['a', 'b'], [young, gone, held, old]), [
    { stage: 'a', isKnown: true, units: [held, old, young] },
    { stage: 'b', isKnown: true, units: [] },
    { stage: 'x', isKnown: false, units: [gone] },
  ])
  t.end()
})

t.test('a reference that two units share counts a pallet for neither', (t) => {
  const named = [
    { id: 'u1', reference: 'R' },
    { id: 'u2', reference: 'R' },
    { id: 'u3', reference: 'S' },
  ]
  const moves = [
    { asset_barcode: 'P-1', work_order_ref: 'R' },
    { asset_barcode: 'P-2', work_order_ref: 'u1' },
    { asset_barcode: 'P-3', work_order_ref: 'S' },
    { asset_barcode: 'P-3', work_order_ref: 'u3' },
    { asset_barcode: 'P-4', work_order_ref: null },
  ]
  t.strictSame(
    [...palletsOf(named, moves)],
    [
      ['u1', 1],
      ['u3', 1],
    ],
  )
  t.end()
})

t.test(
  'what the gateway tells of a unit is all that a board shows of one that goes on, not of one that is held',
  (t) => {
    const stages = ['registered', 'receiving', 'putaway']
    const unit = {
      ...({ id: 'u', reference: 'DN-1', direction: 'inbound', stage: 'registered', status: 'active' } as const),
      ...{ carrier: null },
      ...{ vehicle: null, updatedAt: '2026-01-01T08:00:00.000Z', sscc: null, nextStage: 'receiving', warehouseId: 1 },
      ...{ createdAt: '2026-01-01T08:00:00.000Z', completedAt: null },
    }
    const record: UnitRecord = { ...unit, history: [], evidence: { scaleReading: null, items: [] } }
    const nowMs = Date.parse('2026-01-01T09:00:00.000Z')
    const afterStep = (stage: string, status: UnitRecord['status']) =>
      afterNews({ ...unit, record }, { stage, status }, stages, nowMs)
    const next = afterStep('receiving', 'active')
    t.match(next, { stage: 'receiving', nextStage: 'putaway', status: 'active' })
    t.equal(next?.record && inStageSince(next.record), '2026-01-01T09:00:00.000Z')
    t.match(afterStep('putaway', 'completed'), {
      status: 'completed',
      nextStage: null,
      completedAt: '2026-01-01T09:00:00.000Z',
    })
    t.equal(afterStep('registered', 'on_hold'), undefined, 'its reason has to be asked for')
    t.equal(afterStep('registered', 'cancelled'), undefined)
    t.equal(afterStep('gone', 'active'), undefined, 'a stage that the workflow does not have')
    t.equal(isCurrent(record, { ...unit, updatedAt: '2026-01-01T09:00:00.000Z' }), true)
    t.equal(isCurrent(record, { ...unit, status: 'on_hold', updatedAt: '2026-01-01T09:00:00.000Z' }), false)
    t.end()
  },
)

t.test('a board that hears of moves all day keeps the newest ones, and knows that there are more', (t) => {
  const move = (n: number) => ({ asset_barcode: `P-${n}`, work_order_ref: null })
  const none: { data: readonly ReturnType<typeof move>[]; hasMore: boolean } = { data: [], hasMore: false }
  const two = [1, 2, 3].reduce((moves, n) => withMove(moves, move(n), 2), none)
  t.strictSame(two, { data: [move(3), move(2)], hasMore: true })
  t.strictSame(withMove(none, move(1), 2), { data: [move(1)], hasMore: false })
  t.end()
})
