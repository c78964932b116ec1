import axe from 'axe-core'
import type { Page } from 'playwright-core'
import t from 'tap'
import { inBrowser } from '../support/browser.ts'
import { furnish, people, tinyPng } from '../support/gateway.ts'
import { TrustedBox } from '../support/trusted-box.ts'

t.setTimeout(300_000)

const photo = { name: 'pallet.png', mimeType: 'image/png', buffer: tinyPng }
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })

async function enrolAndSignIn(page: Page, code: string): Promise<void> {
  await page.getByLabel('Enrolment code').fill(code)
  await button(page, 'Enrol').click()
  await page.getByLabel('Badge').fill('B-4711')
  await page.getByLabel('PIN').fill('2580')
  await button(page, 'Sign in').click()
  await button(page, 'Place').waitFor()
}

async function enter(page: Page, ...codes: string[]): Promise<void> {
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

t.test(
  'a thousand scans without a network over three restarts are shown, stored and acknowledged',
  inBrowser,
  async (t) => {
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
    for (const [from, to] of [
      [0, 333],
      [333, 666],
      [666, 1000],
    ] as const) {
      page = await box.browse('/scan')
      await page.getByText(`${from} waiting`).waitFor()
      await button(page, 'Remove').click()
      await removeMany(page, from, to)
      await page.getByText(`${to} waiting`).waitFor()
    }
    page = await box.browse('/scan')
    await page.getByText('1000 waiting').waitFor()
    await page.getByText('1 received by the gateway').waitFor()
    await box.restore()
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await page.getByText('1001 received by the gateway').waitFor({ timeout: 120_000 })
    await page.getByText('0 waiting').waitFor()
    const rows: { asset_barcode: string; actor: string }[] = []
    for (let seq = 0, more = true; more; ) {
      const { body } = await box.gateway.ask('GET', `/api/whms/events?limit=500&after_seq=${seq}`, { by: people.sven })
      rows.push(...body.data)
      seq = body.data.at(-1)?.seq ?? seq
      more = body.data.length === 500
    }
    const expected = ['P-first', ...Array.from({ length: 1000 }, (_, i) => `P-${i}`)]
    t.strictSame(
      rows.map(({ asset_barcode }) => asset_barcode),
      expected,
      'each once, in the order of the scans',
    )
    t.ok(
      rows.every(({ actor }) => actor === 'piet'),
      'each as the person who scanned it',
    )
  },
)

/** Every level of WCAG 2.2 and good practice. */
async function violations(page: Page): Promise<string[]> {
  const client = await page.context().newCDPSession(page)
  await client.send('Runtime.evaluate', { expression: axe.source })
  const found = await page.evaluate(
    `axe.run(document, { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag2aaa', 'wcag21aa', 'wcag22aa', 'best-practice'] } })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html + nodes[0].failureSummary))`,
  )
  return found as string[]
}

t.test('a refused scan stays with its reason, the next one passes, and it can be sent again', inBrowser, async (t) => {
  const box = await TrustedBox.open(t)
  await furnish(box.gateway, ['A-01'])
  const code = await box.enrolment('supervisor')
  const page = await box.browse('/scan')
  const faults: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
  await page.getByText('Enrol this device').waitFor()
  t.strictSame(await violations(page), [], 'before it is enrolled')
  await enrolAndSignIn(page, code)
  t.strictSame(await violations(page), [], 'what can be done')
  await button(page, 'Remove').click()
  await enter(page, 'P-1', 'B-77')
  t.strictSame(await violations(page), [], 'a task')
  await button(page, 'Save').click()
  await page.getByText('1 refused').waitFor()
  await enter(page, 'P-2', 'A-01')
  await button(page, 'Save').click()
  await page.getByText('1 received by the gateway').waitFor()
  await button(page, '1 refused').click()
  await page.getByText(/B-77.*Read the slot label again/).waitFor()
  t.strictSame(await violations(page), [], 'the list of scans')
  await page.emulateMedia({ colorScheme: 'dark' })
  t.strictSame(await violations(page), [], 'in the dark')
  await furnish(box.gateway, ['B-77'])
  await button(page, 'Send again').click()
  await page.getByText('2 received by the gateway').waitFor()
  t.strictSame(
    faults.filter((fault) => /Content Security Policy|Trusted/.test(fault)),
    [],
    'nothing that the content security policy had to stop',
  )
})

t.test('a handheld that saw the log says loudly when it does not continue what it saw', inBrowser, async (t) => {
  const box = await TrustedBox.open(t)
  await furnish(box.gateway, ['A-01'])
  const code = await box.enrolment()
  const page = await box.browse('/scan')
  await enrolAndSignIn(page, code)
  const remove = async (pallet: string, taken: number) => {
    await button(page, 'Remove').click()
    await enter(page, pallet, 'A-01')
    await button(page, 'Save').click()
    await page.getByText(`${taken} received by the gateway`).waitFor()
    await box.gateway.checkpoints.make()
    await page.reload()
  }
  await remove('P-1', 1)
  await page.getByText(/remembers \d+ entr/).waitFor()
  await page.addInitScript(`{
    const real = fetch
    fetch = (path, how) => path.startsWith('/api/log/consistency') ? Promise.resolve(Response.json({ success: true, proof: [] })) : real(path, how)
  }`)
  await remove('P-2', 2)
  await page.getByRole('alert').getByText('Something is wrong with the log of this gateway.').waitFor()
})

t.test(
  'a scan that the browser did not commit, or cannot store at all, is said not to be taken',
  inBrowser,
  async (t) => {
    const box = await TrustedBox.open(t)
    await furnish(box.gateway, ['A-01'])
    const code = await box.enrolment()
    const page = await box.browse('/scan')
    await enrolAndSignIn(page, code)
    await button(page, 'Place').click()
    await enter(page, 'P-1', 'A-01')
    await page.getByLabel('Take a photo').setInputFiles(photo)
    await page.getByText('Photo taken').waitFor()
    await page.evaluate(`{
      const { prototype } = IDBObjectStore
      const add = prototype.add
      window.storeAgain = () => { prototype.add = add }
      prototype.add = function (...given) {
        const asked = add.apply(this, given)
        asked.addEventListener('success', () => this.transaction.abort())
        return asked
      }
    }`)
    await button(page, 'Save').click()
    await page.getByText(/NOT SAVED\./).waitFor()
    t.match(
      await page.locator('main').innerText(),
      /0 waiting[\s\S]*P-1/,
      'nothing is stored, and what was scanned is still there',
    )
    await page.evaluate('window.storeAgain()')
    await button(page, 'Save').click()
    await page.getByText('1 received by the gateway').waitFor()
    await page.addInitScript(`indexedDB.open = () => { throw new DOMException('denied', 'SecurityError') }`)
    await page.reload()
    await page.getByText(/This browser keeps nothing on this device \(denied\)/).waitFor()
  },
)

t.test('training looks like work, says that it is none, and asks the gateway for nothing', inBrowser, async (t) => {
  const box = await TrustedBox.open(t)
  const page = await box.browse('/training')
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.getByText('TRAINING: nothing is recorded').waitFor()
  await button(page, 'Place').click()
  await enter(page, 'P-1', 'T-99')
  await button(page, 'Save').click()
  await page.getByText('Take a photo first.').waitFor()
  await page.getByLabel('Take a photo').setInputFiles(photo)
  await page.getByText('Photo taken').waitFor()
  await page.getByText('Take a photo first.').waitFor({ state: 'detached' })
  await button(page, 'Save').click()
  await page.getByText('1 refused').waitFor()
  t.strictSame(await violations(page), [])
  t.strictSame(
    asked.filter((path) => path.startsWith('/api/')),
    [],
  )
  const { body } = await box.gateway.ask('GET', '/api/whms/events', { by: people.sven })
  t.equal(body.pagination.total, 0, 'the ledger has nothing')
})
