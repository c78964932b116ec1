import type { Browser } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish } from '../support/gateway.ts'
import { scannerAt } from '../support/scanner.ts'

t.setTimeout(120_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('a scan whose keys a busy device brings late is taken whole, in a field and outside', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01'])
  const { page, faults } = await open(t, browser, `${url}training`)
  await page.getByRole('button', { name: 'Verify' }).click()
  const field = page.getByLabel('Scan or type a code')
  const pallet = page.locator('.scan-steps li').first()
  await field.fill('=1+1')
  const scanner = await scannerAt(page)
  for (const lateAfter of [1, 3, 7, 8]) {
    await scanner.scan(`P-00${lateAfter}-02`, { lateAfter })
    await pallet.getByText(`P-00${lateAfter}-02`).waitFor()
    t.equal(
      await field.inputValue(),
      '=1+1',
      `late after ${lateAfter}: what was typed is still there, and nothing else`,
    )
    await page.getByRole('button', { name: `Clear P-00${lateAfter}-02` }).click()
    await field.focus()
  }

  await page.goto(`${url}?slot=1`)
  await signIn(page, 'sven')
  await page.getByRole('heading', { name: 'Slot A-01' }).waitFor()
  await page
    .locator('h1')
    .first()
    .evaluate((it: { tabIndex: number; focus(): void }) => {
      it.tabIndex = -1
      it.focus()
    })
  for (const [ends, lateAfter] of [
    [['Enter'], 2],
    [['Enter'], 6],
    [['Enter'], 8],
    [[], 6],
  ] as const) {
    const code = `X-${lateAfter}-${ends.length}-99`
    await scanner.scan(code, { ends, lateAfter })
    await page.getByRole('heading', { level: 1, name: code, exact: true }).waitFor()
  }
  await page.getByText('Last 4 scans').waitFor()
  t.same(faults, [])
})

t.test(
  'capital letters of a scanner that presses Shift for them reach no shortcut of the page',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    await furnish(gateway, ['A-01'])
    const { page } = await open(t, browser, `${url}?slot=1`)
    await signIn(page, 'sven')
    await page.getByRole('heading', { name: 'Slot A-01' }).waitFor()
    await page.evaluate(`
    document.activeElement?.blur()
    window.pressed = []
    addEventListener('keydown', ({ key }) => key !== 'Shift' && pressed.push(key))
  `)
    await (await scannerAt(page)).scan('VDJK-1', { shifts: true })
    await page.getByRole('heading', { level: 1, name: 'VDJK-1', exact: true }).waitFor()
    t.same(await page.evaluate('pressed'), [])
  },
)

t.test('a field that takes the focus in the middle of a scan keeps nothing of it', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01'])
  const { page } = await open(t, browser, `${url}training`)
  await page.getByRole('button', { name: 'Verify' }).click()
  const field = page.getByLabel('Scan or type a code')
  const pallet = page.locator('.scan-steps li').first()
  await field.fill('=1+1')
  const scanner = await scannerAt(page)
  for (const lateAfter of [3, 7]) {
    const code = `Q-${lateAfter}-99-99`
    await page.evaluate(`
      document.activeElement?.blur()
      addEventListener('keyup', () => setTimeout(() => document.querySelector('.scan-entry input').focus(), 20), { once: true })
    `)
    await scanner.scan(code, { lateAfter })
    await pallet.getByText(code, { exact: true }).waitFor()
    t.equal(await field.inputValue(), '=1+1', `${code}: what was typed is still there, and nothing else`)
    await page.getByRole('button', { name: `Clear ${code}` }).click()
  }
})
