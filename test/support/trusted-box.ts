import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { HttpListener, initTls } from '../../src/http/index.ts'
import { executablePath, flags } from './browser.ts'
import { type Ask, people, type TestGateway, testGateway } from './gateway.ts'
import { needs } from './needs.ts'
import { SimulatedClock } from './simulated-clock.ts'

export const boxUrl = 'https://gatehouse.test'

/** For tests of a handheld that trusts only its box. */
export const onHandheld = needs('chromium-headless-shell', 'certutil')

type Test = { teardown(work: () => unknown): void }

/**
 * A gateway at https://gatehouse.test with a certificate of its CA, and a handheld that trusts this CA and nothing else.
 * The network can be cut, and the handheld's browser restarted with what it keeps on its disk.
 */
export class TrustedBox {
  readonly gateway: TestGateway
  readonly #folder: string
  readonly #port: number
  #listener: HttpListener
  #context: BrowserContext | undefined

  private constructor(gateway: TestGateway, folder: string, listener: HttpListener, port: number) {
    this.gateway = gateway
    this.#folder = folder
    this.#listener = listener
    this.#port = port
  }

  static async open(t: Test, config: object = {}): Promise<TrustedBox> {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-handheld-'))
    const made = await initTls({
      ...{ dir: join(folder, 'tls'), names: ['gatehouse.test'], days: 30, nowMs: Date.now(), force: false },
    })
    const store = join(folder, '.pki/nssdb')
    mkdirSync(store, { recursive: true })
    const certutil = (...args: string[]) => execFileSync('certutil', ['-d', `sql:${store}`, ...args])
    certutil('-N', '--empty-password')
    certutil('-A', '-t', 'C,,', '-n', 'gatehouse', '-i', made.caFile ?? '')
    const own = await testGateway({
      clock: new SimulatedClock(Date.now()),
      config: { site: { id: 'test-site', url: boxUrl }, ...config },
    })
    const ask = (method: string, path: string, how: Ask = {}) =>
      own.ask(method, path, { ...how, headers: { 'X-Storage-Instance': boxUrl, ...how.headers } })
    const listener = new HttpListener({ host: '127.0.0.1', port: 0, tls: made }, own.api)
    const box = new TrustedBox({ ...own, ask }, folder, listener, await listener.start())
    t.teardown(async () => {
      await box.#context?.close()
      await box.cut()
      own.end()
      rmSync(folder, { recursive: true, force: true })
    })
    return box
  }

  /** Starts the handheld's browser, or starts it again; returns its page. */
  async browse(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    await this.#context?.close()
    this.#context = await chromium.launchPersistentContext(join(this.#folder, 'profile'), {
      executablePath,
      args: [...flags, `--host-resolver-rules=MAP gatehouse.test:443 127.0.0.1:${this.#port}`],
      env: { ...process.env, HOME: this.#folder } as Record<string, string>,
      ...{ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
      ...options,
    })
    const [page] = this.#context.pages()
    const shown = page ?? (await this.#context.newPage())
    await shown.goto(`${boxUrl}${path}`)
    return shown
  }

  /** Nothing listens from now on. */
  async cut(): Promise<void> {
    await this.#listener.stop()
  }

  async restore(): Promise<void> {
    const tls = join(this.#folder, 'tls')
    const files = { certFile: join(tls, 'cert.pem'), keyFile: join(tls, 'key.pem') }
    this.#listener = new HttpListener({ host: '127.0.0.1', port: this.#port, tls: files }, this.gateway.api)
    await this.#listener.start()
  }

  /** Registers a handheld and a badge; returns the handheld's enrolment code. */
  async enrolment(role: 'operator' | 'supervisor' = 'operator'): Promise<string> {
    const admin = (path: string, body: object) => this.gateway.ask('POST', path, { by: people.ada, body })
    await admin('/api/operators', { username: 'piet', role, badge: 'B-4711', pin: '2580' })
    return (await admin('/api/devices', { name: 'handheld-7', role })).body.enrolment.text
  }
}
