import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Place } from './browser.ts'
import { signIn } from './browser.ts'
import { actOnce, isSoon, isStill, type Outcome, type Refusals, type Typed } from './explorer-acts.ts'
import { heldPhoto, type Person, people } from './gateway.ts'
import { type Scanner, scannerAt } from './scanner.ts'
import { Chance } from './scenes/chance.ts'
import { screens } from './screens.ts'

/** `before`: the last things that were done, the newest at the end. */
export type Finding = {
  readonly who: string
  readonly at: string
  readonly what: string
  readonly before: readonly string[]
}

type Options = {
  readonly browser: Browser
  readonly floor: Place
  readonly seed: number
  /** How many things are done in all; it ends earlier when the time is over. */
  readonly acts: number
  readonly mostMs: number
  /** Called with each finding at once. */
  readonly tell?: (finding: Finding) => void
}

/** One person at one screen; without a person it walks the pages that need no sign-in. `badge`: on an enrolled handheld. */
type Walk = {
  readonly who: string
  readonly person?: Person
  readonly badge?: Badge
  readonly screen: BrowserContextOptions
}
type Badge = { readonly username: string; readonly role: string; readonly code: string; readonly pin: string }

const piet: Badge = { username: 'piet', role: 'operator', code: 'B-4711', pin: '2580' }
const saskia: Badge = { username: 'saskia', role: 'supervisor', code: 'B-4712', pin: '2581' }

const walks: readonly Walk[] = [
  { who: 'ada at a desktop', person: people.ada, screen: screens.desktop },
  { who: 'sven at a tablet', person: people.sven, screen: screens.tablet },
  { who: 'olga at a handheld', person: people.olga, screen: screens.handheld },
  { who: 'nobody at a handheld', screen: screens.handheld },
  { who: 'vera at a desktop', person: people.vera, screen: screens.desktop },
  { who: 'ada at a handheld', person: people.ada, screen: screens.handheld },
  { who: 'olga at a tablet', person: people.olga, screen: screens.tablet },
  { who: 'sven at a desktop', person: people.sven, screen: screens.desktop },
  { who: 'piet at an enrolled handheld', badge: piet, screen: screens.handheld },
  { who: 'saskia at an enrolled tablet', badge: saskia, screen: screens.tablet },
]

/** Every view, also where the person has no business: then it has to say so. */
const everyView = [
  ...['', 'todo', 'verify', 'cameras', 'cameras/1', 'units', 'units/UNIT', 'counts', 'labels', 'incidents', 'reports'],
  ...['audit', 'plan', 'alerts', 'system', 'devices', 'webhooks', 'uploads', 'find', 'find/P-002-02', 'find/nobody'],
  ...['?slot=3', 'cameras/99', 'units/nobody', 'counts/99', 'incidents/nobody', 'receipt/UNIT'],
]
const openViews = ['training', 'trust', 'scan', '']
const handheldViews = ['scan', 'scan', 'training', 'scan']

const actsInView = 12
const actsInWalk = 60
const actsBetweenMoves = 10
const remembered = 8
/** A busy machine is no dead end. */
const patienceMs = 60_000

/**
 * Taps, types, presses and scans at random, by a seed, through every view and role, while pallets move on the floor. Returns its
 * findings: errors of the browser, answers of 500 and above, dead ends, lost input, too wide pages, and values that are no words.
 */
export async function explore(
  options: Options,
): Promise<{ readonly found: readonly Finding[]; readonly acts: number }> {
  const found: Finding[] = []
  const endsMs = Date.now() + options.mostMs
  let acts = 0
  // Another seed begins with other people at other views.
  for (let round = options.seed * 16; acts < options.acts && Date.now() < endsMs; round += 1) {
    const walk = walks[round % walks.length] as Walk
    const explorer = new Explorer(walk, options, new Chance(round), (finding) => {
      found.push(finding)
      options.tell?.(finding)
    })
    // A short run still has four people in it.
    acts += await explorer.walk(round, Math.min(actsInWalk, Math.ceil(options.acts / 4)), endsMs)
  }
  return { found, acts }
}

class Explorer {
  readonly #walk: Walk
  readonly #options: Options
  readonly #chance: Chance
  readonly #report: (finding: Finding) => void
  readonly #done: string[] = []
  readonly #refusals: Refusals = { count: 0 }
  readonly #faults: string[] = []
  /** The text typed last, and its field; it must stay. */
  #typed: (Typed & { readonly path: string }) | undefined

  constructor(walk: Walk, options: Options, chance: Chance, report: (finding: Finding) => void) {
    this.#walk = walk
    this.#options = options
    this.#chance = chance
    this.#report = report
  }

  /** Does `acts` things at most; returns how many. */
  async walk(round: number, acts: number, endsMs: number): Promise<number> {
    const { browser, floor } = this.#options
    const context = await browser.newContext(this.#walk.screen)
    try {
      const page = await context.newPage()
      this.#listen(page)
      await page.goto(floor.url)
      if (this.#walk.person) await signIn(page, this.#walk.person.username)
      if (this.#walk.person) await page.locator('#floor').waitFor()
      if (this.#walk.badge) await this.#enrol(page, this.#walk.badge)
      const views = this.#walk.person ? everyView : this.#walk.badge ? handheldViews : openViews
      const scanner = await scannerAt(page)
      let done = 0
      for (; done < acts && Date.now() < endsMs; done += 1) {
        if (done % actsInView === 0)
          await this.#visit(page, views[(round * 5 + done / actsInView) % views.length] ?? '')
        if (done % actsBetweenMoves === 5) await this.#moveSomething()
        await this.#act(page, scanner)
      }
      return done
    } finally {
      await context.close()
    }
  }

  #listen(page: Page): void {
    page.setDefaultTimeout(patienceMs)
    // The simulated person sometimes refuses to discard input.
    page.on('dialog', (dialog) => {
      const isStaying = dialog.type() === 'confirm' && this.#chance.happens(0.5)
      void (isStaying ? dialog.dismiss() : dialog.accept()).catch(() => {})
    })
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return
      // The explorer checks the answers itself. The gateway ends the stream of an ended sign-in.
      if (!/the server responded with a status of|ERR_ABORTED|ERR_INCOMPLETE_CHUNKED/.test(message.text()))
        this.#faults.push(message.text())
    })
    page.on('pageerror', (error) => this.#faults.push(`${error.message}\n${error.stack ?? ''}`))
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      const said = `${response.status()} to ${response.request().method()} ${pathname}`
      // 503 with a time is "not yet", such as a log that is being signed; the page asks again.
      const isLater = response.status() === 503 && response.headers()['retry-after'] !== undefined
      // A camera that is off has no picture.
      const hasNoPicture = response.status() === 503 && pathname.endsWith('/snapshot')
      if (response.status() >= 500 && !isLater && !hasNoPicture) this.#faults.push(said)
      else if (response.status() >= 400 && pathname.startsWith('/assets/')) this.#faults.push(said)
      else if (response.status() >= 400 && response.request().method() !== 'GET') this.#refusals.count += 1
    })
    page.context().on('page', (other) => void other.close().catch(() => {}))
  }

  async #visit(page: Page, view: string): Promise<void> {
    const { floor } = this.#options
    const { body } = await floor.gateway.ask('GET', '/api/whms/transport-units?limit=1', { by: people.ada })
    await page.goto(`${floor.url}${view.replace('UNIT', body.data[0].id)}`)
    this.#typed = undefined
    this.#note(`opened /${view}`)
    await this.#look(page)
  }

  async #act(page: Page, scanner: Scanner): Promise<void> {
    this.#pass()
    const outcome = await this.#actOrEnd(page, scanner)
    this.#note(outcome.act)
    if (outcome.lost !== undefined) this.#say(page, outcome.lost)
    const isHere = new URL(page.url()).origin === new URL(this.#options.floor.url).origin
    if (!isHere) this.#say(page, 'the page is no longer the gateway’s')
    if (!isHere || !(await isConsole(page))) await page.goBack()
    await this.#signInAgain(page)
    await this.#lookAtTyped(page, outcome)
    await this.#look(page)
  }

  /** Mostly does something; now and then the sign-in ends. */
  async #actOrEnd(page: Page, scanner: Scanner): Promise<Outcome> {
    if (!this.#walk.person || !this.#chance.happens(0.03))
      return actOnce(page, { chance: this.#chance, scanner, refusals: this.#refusals })
    await page.context().clearCookies()
    return { act: 'the sign-in ended', isHarmless: true }
  }

  /** Typed text stays while its view does, even after a scan, an ended sign-in, or changes on the floor. */
  async #lookAtTyped(page: Page, { act, typed, isHarmless }: Outcome): Promise<void> {
    const path = new URL(page.url()).pathname
    const before = this.#typed
    const isHere = before?.path === path
    if (before && isHere && isHarmless && !(await isStill(before)))
      this.#say(page, `“${before.text}” is gone from its field after: ${act}`)
    if (typed) this.#typed = { ...typed, path }
    else if (!isHarmless || !isHere) this.#typed = undefined
  }

  /** Makes this browser a handheld of the gateway, and signs in by badge and PIN. */
  async #enrol(page: Page, { username, role, code, pin }: Badge): Promise<void> {
    const { gateway, url } = this.#options.floor
    const send = (path: string, body: object) => gateway.ask('POST', path, { by: people.ada, body })
    await send('/api/operators', { username, role, badge: code, pin })
    const { body } = await send('/api/devices', { name: `handheld-${username}-${this.#chance.below(1_000_000)}`, role })
    await page.goto(`${url}scan`)
    await page.getByLabel('Enrolment code').fill(body.enrolment.code)
    await page.getByRole('button', { name: 'Enrol' }).click()
    await this.#signInByBadge(page, { code, pin })
  }

  async #signInByBadge(page: Page, { code, pin }: Pick<Badge, 'code' | 'pin'>): Promise<void> {
    await page.getByLabel('Badge').fill(code)
    await page.getByLabel('PIN').fill(pin)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('Badge').waitFor({ state: 'detached' })
    this.#note('signed in by badge')
  }

  /** Signs in again after a sign-out or a revocation. */
  async #signInAgain(page: Page): Promise<void> {
    const { person, badge } = this.#walk
    const isOut = badge && new URL(page.url()).pathname === '/scan' && (await page.getByLabel('Badge').isVisible())
    if (isOut) await this.#signInByBadge(page, badge)
    if (!person || !(await page.locator('.gate form').first().isVisible())) return
    await signIn(page, person.username)
    // The form may lie over the view, which is there already.
    await page.locator('.gate form').first().waitFor({ state: 'hidden' })
    await page.locator('main:not(.gate)').first().waitFor()
    this.#note('signed in again')
  }

  async #look(page: Page): Promise<void> {
    const problem = await deadEnd(page)
    if (problem !== undefined) this.#say(page, problem)
    const wide = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    if (wide > 1) this.#say(page, `${wide} px wider than the screen`)
    const text = await page.locator('body').innerText()
    const broken = /\b(undefined|NaN|Invalid Date)\b|\[object Object\]/.exec(text)
    if (broken) this.#say(page, `shows ${broken[0]}: ${text.slice(Math.max(0, broken.index - 60), broken.index + 60)}`)
    for (const fault of this.#faults.splice(0)) this.#say(page, fault)
  }

  /** Time passes at the gateway as it does for the browser. */
  #pass(): void {
    const { clock } = this.#options.floor.gateway
    clock.advance(Math.max(0, Date.now() - clock.now()))
  }

  /** A slot that somebody retired meanwhile takes no pallet: that is no finding. */
  async #moveSomething(): Promise<void> {
    const { gateway } = this.#options.floor
    const where = { event_type: 'PLACED', slot_id: 1 + this.#chance.below(4), photo_url: await heldPhoto(gateway) }
    const body = { ...where, asset_barcode: `P-${this.#chance.below(1000)}` }
    await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  }

  #note(act: string): void {
    this.#done.push(act)
    if (this.#done.length > remembered) this.#done.shift()
  }

  #say(page: Page, what: string): void {
    const { pathname, search } = new URL(page.url())
    this.#report({ who: this.#walk.who, at: `${pathname}${search}`, what, before: [...this.#done] })
  }
}

/** Whether the console is there; a page may still be loading, such as after a change of the language. */
const isConsole = (page: Page): Promise<boolean> => isSoon(page, "document.querySelector('main') !== null", 5000)

/** Says why no one can go on from here; undefined when one can. */
async function deadEnd(page: Page): Promise<string | undefined> {
  const filled = "(document.querySelector('main:not(.gate), .gate form')?.innerText ?? '').trim().length > 10"
  const isFilled = await isSoon(page, filled, patienceMs)
  if (!isFilled) return 'nothing is shown'
  // The form of an ended sign-in may cover the view between the checks, so the top is checked again.
  for (let looks = 0; looks < 2; looks += 1) if (await leadsAway(page)) return undefined
  return 'nothing leads away'
}

async function leadsAway(page: Page): Promise<boolean> {
  // Elements below an open dialog cannot be reached.
  const top = page.locator('dialog:modal').last()
  const shown = (await top.isVisible()) ? top : page.locator('body')
  const ways = shown.locator('a[href]:not(.skip):visible, button:enabled:visible, summary:visible')
  // A view that is being opened says so before it has its buttons.
  await ways
    .first()
    .waitFor({ timeout: patienceMs })
    .catch(() => {})
  for (const way of (await ways.all()).slice(0, 6)) {
    const works = await way.click({ trial: true, timeout: patienceMs / 6 }).then(
      () => true,
      () => false,
    )
    if (works) return true
  }
  return false
}
