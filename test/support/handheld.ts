import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { furnish, people, tinyPng } from './gateway.ts'
import { TrustedBox } from './trusted-box.ts'

export const photo = { name: 'pallet.png', mimeType: 'image/png', buffer: tinyPng }
/** The button of that name. */
export const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })

export async function enrolAndSignIn(page: Page, code: string): Promise<void> {
  await page.getByLabel('Enrolment code').fill(code)
  await button(page, 'Enrol').click()
  await page.getByLabel('Badge').fill('B-4711')
  await page.getByLabel('PIN').fill('2580')
  await button(page, 'Sign in').click()
  await button(page, 'Place').waitFor()
}

export async function enter(page: Page, ...codes: string[]): Promise<void> {
  for (const code of codes) {
    await page.getByLabel('Scan or type a code').fill(code)
    await button(page, 'Use the code').click()
  }
}

/** Removes pallets as fast as the page takes them; each only after the page said that the one before is kept. */
const removeMany = (page: Page, from: number, to: number): Promise<void> =>
  page.evaluate(`(async () => {
    const until = async (is) => { while (!is()) await new Promise((then) => setTimeout(then, 1)) }
    const field = document.querySelector('.scan-entry input')
    const save = [...document.querySelectorAll('button')].find((one) => one.textContent === 'Save')
    const enter = (code) => { field.value = code; field.form.requestSubmit() }
    const shows = (words) => document.querySelector('main').innerText.includes(words)
    for (let i = ${from}; i < ${to}; i++) {
      enter('P-' + i)
      await until(() => shows('P-' + i))
      enter('A-01')
      await until(() => !shows('Scan the slot'))
      save.click()
      await until(() => shows('Kept on this device: Remove: P-' + i + ' · A-01'))
    }
  })()`)

/** Records three times so many removals without a network, with a restart of the browser in front of each third. */
export async function scanWithoutNetwork(t: Test, each: number): Promise<void> {
  const box = await TrustedBox.open(t)
  await furnish(box.gateway, ['A-01'])
  const code = await box.enrolment()
  let page = await box.browse('/scan')
  await enrolAndSignIn(page, code)
  await button(page, 'Place').click()
  await enter(page, 'P-first', 'A-01')
  await page.getByLabel('Take a photo').setInputFiles(photo)
  await page.getByText('Photo taken').waitFor()
  await button(page, 'Save').click()
  await page.getByText('1 received by the gateway').waitFor()
  await page.evaluate('navigator.serviceWorker.ready.then(() => 1)')
  await box.cut()
  for (const part of [0, 1, 2]) {
    const [from, to] = [part * each, (part + 1) * each]
    page = await box.browse('/scan')
    await page.getByText(`${from} waiting`).waitFor()
    await button(page, 'Remove').click()
    await removeMany(page, from, to)
    await page.getByText(`${to} waiting`).waitFor()
  }
  page = await box.browse('/scan')
  await page.getByText(`${3 * each} waiting`).waitFor()
  await page.getByText('1 received by the gateway').waitFor()
  await box.restore()
  await page.evaluate(`dispatchEvent(new Event('online'))`)
  await page.getByText(`${3 * each + 1} received by the gateway`).waitFor({ timeout: 120_000 })
  await page.getByText('0 waiting').waitFor()
  const rows: { asset_barcode: string; actor: string }[] = []
  for (let seq = 0, more = true; more; ) {
    const { body } = await box.gateway.ask('GET', `/api/whms/events?limit=500&after_seq=${seq}`, { by: people.sven })
    rows.push(...body.data)
    seq = body.data.at(-1)?.seq ?? seq
    more = body.data.length === 500
  }
  const expected = ['P-first', ...Array.from({ length: 3 * each }, (_, i) => `P-${i}`)]
  t.strictSame(
    rows.map(({ asset_barcode }) => asset_barcode),
    expected,
    'each once, in the order of the scans',
  )
  t.ok(
    rows.every(({ actor }) => actor === 'piet'),
    'each as the person who scanned it',
  )
}
