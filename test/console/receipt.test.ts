import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { inBrowser, launchBrowser } from '../support/browser.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }

/** A dock whose gateway can be stopped and put back to an earlier state of its folder, at the same address. */
class Dock {
  gateway: TestGateway
  #listener: HttpListener
  port = 0

  private constructor(gateway: TestGateway) {
    this.gateway = gateway
    this.#listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  }

  static async open(t: Test): Promise<Dock> {
    const dock = new Dock(await testGateway({ clock: new SimulatedClock(Date.now()) }))
    dock.port = await dock.#listener.start()
    t.teardown(async () => {
      await dock.#listener.stop()
      dock.gateway.end()
    })
    await furnish(dock.gateway, ['A'])
    return dock
  }

  /** Registers a lorry with a photo and a weight, and a pallet of it; returns the link for its driver. */
  async handOver(reference: string): Promise<string> {
    const post = async (path: string, body: object) => {
      this.gateway.clock.advance(1100)
      const answer = await this.gateway.ask('POST', path, { by: people.olga, body })
      if (answer.status > 201) throw new Error(answer.text)
      return answer.body
    }
    const photo_url = await heldPhoto(this.gateway)
    const units = '/api/whms/transport-units'
    const lorry = { reference, direction: 'inbound', carrier: 'Nordfracht', vehicle: 'HH-AB 123' }
    const { id } = await post(units, lorry)
    await post(`${units}/${id}/evidence`, { photo_urls: [photo_url], scale_weight_kg: 1840.5 })
    const move = { event_type: 'PLACED', slot_code: 'A', asset_barcode: `P-${reference}`, work_order_ref: id }
    await post('/api/whms/events', { ...move, photo_url })
    this.gateway.clock.advance(1100)
    const { body } = await this.gateway.ask('GET', `${units}/${id}/receipt-link`, { by: people.olga })
    const { pathname, search } = new URL(body.url)
    return `http://127.0.0.1:${this.port}${pathname}${search}`
  }

  #state(): string {
    return join(this.gateway.folder, 'state')
  }

  copy(): void {
    cpSync(this.#state(), `${this.#state()}.before`, { recursive: true })
  }

  /** The warehouse puts its database and keys back, and goes on as if nothing had happened in between. */
  async putBack(): Promise<void> {
    const { clock, folder } = this.gateway
    await this.#listener.stop()
    this.gateway.close()
    rmSync(this.#state(), { recursive: true })
    cpSync(`${this.#state()}.before`, this.#state(), { recursive: true })
    this.gateway = await testGateway({ clock, folder })
    this.#listener = new HttpListener({ host: '127.0.0.1', port: this.port }, this.gateway.api)
    await this.#listener.start()
  }
}

async function visit(context: BrowserContext, url: string): Promise<{ page: Page; faults: string[] }> {
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
  page.on('pageerror', (error) => faults.push(error.message))
  await page.goto(url)
  return { page, faults }
}

async function driver(t: Test): Promise<BrowserContext> {
  if (!browser) throw new Error('no browser')
  const context = await browser.newContext(phone)
  t.teardown(() => context.close())
  return context
}

t.test(
  'a driver sees and keeps his receipt without an account, and the phone remembers the log',
  inBrowser,
  async (t) => {
    const dock = await Dock.open(t)
    const context = await driver(t)
    const { page, faults } = await visit(context, await dock.handOver('CMR-1'))
    await page.getByRole('heading', { level: 1, name: 'CMR-1' }).waitFor()
    await page.getByText('Proven and signed').waitFor()
    await page.getByText('This phone checked 3 entries: all are in the signed log').waitFor()
    await page.getByText(/It remembers the log as it is now, with 3 entries/).waitFor()
    const text = await page.locator('main').innerText()
    t.match(text, /Delivered to Hall[\s\S]*Nordfracht[\s\S]*HH-AB 123[\s\S]*1840.5 kg[\s\S]*P-CMR-1 placed in A/)
    t.match(text, /Signed: a later change would be noticed/)
    t.notMatch(text, /olga|Recorded; the log/)
    t.equal(
      await page
        .locator('img')
        .evaluateAll((all) => all.filter((one) => (one as { naturalWidth?: number }).naturalWidth === 1).length),
      2,
    )
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= 360'), 'nothing is wider than the phone')
    const saved = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Keep this receipt' }).click()
    t.match((await saved).suggestedFilename(), /^receipt-[0-9a-f-]{36}\.zip$/)

    const second = await visit(context, await dock.handOver('CMR-2'))
    await second.page.getByText('Nothing was changed since your last visit').waitFor()
    await second.page.getByText(/It had kept 3 entries of the log on [\s\S]* There are 6 now/).waitFor()
    t.equal(await second.page.getByRole('alert').getByRole('heading').count(), 0)
    t.strictSame(
      [...faults, ...second.faults],
      [],
      'no error, and nothing that the content security policy had to stop',
    )
  },
)

t.test(
  'a driver who comes back to a log that was rewritten is told so loudly, and his phone keeps what it saw',
  inBrowser,
  async (t) => {
    const dock = await Dock.open(t)
    const context = await driver(t)
    await dock.handOver('CMR-0')
    await dock.gateway.checkpoints.make()
    dock.copy()
    const first = await visit(context, await dock.handOver('CMR-1'))
    await first.page.getByText(/It remembers the log as it is now, with 6 entries/).waitFor()
    await dock.putBack()
    const shorter = await visit(context, `${first.page.url()}`)
    await shorter.page.getByText(/This gateway does not show this receipt/).waitFor()
    const link = await dock.handOver('CMR-9')
    await dock.handOver('CMR-10')
    for (const _ of [1, 2]) {
      const { page } = await visit(context, link)
      const alarm = page.getByRole('alert').filter({ hasText: 'Something is wrong with the log' })
      await page.getByRole('heading', { level: 1, name: 'CMR-9' }).waitFor()
      t.equal(await alarm.count(), 1, 'what was found is said together with the receipt')
      t.equal(await page.getByText('Proven and signed').count(), 0)
      await alarm.getByText(/The log does not continue what this device saw: 6 entries then, 9 now/).waitFor()
      await alarm.getByText('Do not clear this phone.').waitFor()
      const saved = page.waitForEvent('download')
      await alarm.getByRole('button', { name: 'Save the evidence' }).click()
      t.equal((await saved).suggestedFilename(), 'gatehouse-evidence.json')
    }
  },
)

t.test('a link that has ended says that what was kept stays valid', inBrowser, async (t) => {
  const dock = await Dock.open(t)
  const link = await dock.handOver('CMR-1')
  dock.gateway.clock.advance(91 * 86_400_000)
  const { page } = await visit(await driver(t), link)
  await page.getByText('This link is invalid or has expired. A receipt that you kept stays valid without it.').waitFor()
  t.equal(await page.getByRole('heading', { level: 1, name: 'Your receipt' }).count(), 1)
})
