import type { Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { furnish, people } from '../support/gateway.ts'
import { button, enrolAndSignIn, enter, photo, scanWithoutNetwork } from '../support/handheld.ts'
import { startPushService } from '../support/push-service.ts'
import { scannerAt } from '../support/scanner.ts'
import { pictureOf, screens, themes } from '../support/screens.ts'
import { onHandheld, TrustedBox } from '../support/trusted-box.ts'

t.setTimeout(300_000)

t.test('scans without a network over three restarts are shown, stored and acknowledged', onHandheld, (t) =>
  scanWithoutNetwork(t, 40),
)

t.test('a refused scan stays with its reason, the next one passes, and it can be sent again', onHandheld, async (t) => {
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
  const lines = await page.locator('.scan-say.warn .scan-line').all()
  const tops = await Promise.all(lines.map(async (line) => (await line.boundingBox())?.y ?? 0))
  t.ok(tops.length > 1, 'the pallet is not registered, and it was not there')
  t.strictSame(tops, [...new Set(tops)], 'each remark has a line for itself')
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

t.test('a handheld that saw the log says loudly when it does not continue what it saw', onHandheld, async (t) => {
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
  onHandheld,
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

for (const [name, screen] of Object.entries(screens)) {
  t.test(
    `training on a ${name} looks like work, says that it is none, and asks the gateway for nothing`,
    onHandheld,
    async (t) => {
      const box = await TrustedBox.open(t)
      const page = await box.browse('/training', { isMobile: false, hasTouch: false, ...screen })
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.getByText('TRAINING: nothing is recorded').waitFor()
      await button(page, 'Remove').click()
      await page.getByLabel('Take a photo (may be left out)').waitFor()
      await button(page, 'Back').click()
      await button(page, 'Place').click()
      await enter(page, 'P-1', 'T-99')
      await button(page, 'Save').click()
      await page.getByText('Take a photo first.').waitFor()
      await page.getByLabel('Take a photo', { exact: true }).setInputFiles(photo)
      await page.getByText('Photo taken').waitFor()
      await page.getByText('Take a photo first.').waitFor({ state: 'detached' })
      await page.getByText('Unknown on this device').waitFor()
      t.strictSame(await layoutFaults(page), [])
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme })
        t.strictSame(await violations(page), [], `a task, ${colorScheme}`)
        const picture = pictureOf(`scan task ${name} ${colorScheme}`)
        if (picture) await page.screenshot({ path: picture, fullPage: true })
      }
      await button(page, 'Save').click()
      await page.getByText('1 refused').waitFor()
      t.strictSame(await violations(page), [])
      await button(page, 'Back').click()
      await button(page, 'Count').click()
      await enter(page, 'T-01', 'P-2')
      await button(page, 'Save').click()
      await page.getByText('1 received by the gateway').waitFor()
      t.strictSame(
        asked.filter((path) => path.startsWith('/api/')),
        [],
      )
      const { body } = await box.gateway.ask('GET', '/api/whms/events', { by: people.sven })
      t.equal(body.pagination.total, 0, 'the ledger has nothing')
    },
  )
}

/** Returns the buttons that are too small for a gloved hand, and whether the page must be scrolled sideways. */
const layoutFaults = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const small = [...document.querySelectorAll('main button')].filter((one) => one.getBoundingClientRect().height < 48)
    const isWide = document.documentElement.scrollWidth > innerWidth
    return [...small.map((one) => one.textContent), ...(isWide ? ['wider than the screen'] : [])]
  })()`)

t.test(
  'a handheld that was revoked or gets a new code is enrolled again, and keeps what waits on it',
  onHandheld,
  async (t) => {
    const box = await TrustedBox.open(t)
    await furnish(box.gateway, ['A-01'])
    const code = await box.enrolment()
    const page = await box.browse('/scan')
    await enrolAndSignIn(page, code)
    const admin = (path: string, body: object = {}) => box.gateway.ask('POST', path, { by: people.ada, body })
    await admin('/api/devices/1/revoke')
    await button(page, 'Remove').click()
    await enter(page, 'P-1', 'A-01')
    await button(page, 'Save').click()
    await page.getByText('1 scan of piet cannot be sent').waitFor()
    await page.getByLabel('Badge').fill('B-4711')
    await page.getByLabel('PIN').fill('2580')
    await button(page, 'Sign in').click()
    await page.getByText(/^Badge or PIN is wrong, or this device was revoked/).waitFor()
    t.equal(await page.evaluate('document.activeElement.selectionEnd - document.activeElement.selectionStart'), 4)
    await button(page, 'Enrol this device again').click()
    t.strictSame(await violations(page), [])
    await button(page, 'Back').click()
    await page.getByLabel('Badge').waitFor()
    await button(page, 'Enrol this device again').click()
    const made = await admin('/api/devices', { name: 'handheld-8', role: 'operator' })
    await page.getByLabel('Enrolment code').fill(made.body.enrolment.code)
    await button(page, 'Enrol').click()
    await page.getByText('This device is enrolled. Now sign in.').waitFor()
    const renewed = await admin('/api/devices/2/enrolment')
    const taken = page.waitForResponse((answer) => answer.url().endsWith('/api/devices/enrol'))
    await (await scannerAt(page)).scan(renewed.body.enrolment.text)
    t.equal((await taken).status(), 200, 'its code is scanned at the sign-in')
    t.equal(await page.getByLabel('Badge').inputValue(), '')
    await page.getByLabel('Badge').fill('B-4711')
    await page.getByLabel('PIN').fill('2580')
    await button(page, 'Sign in').click()
    await page.getByText('1 received by the gateway').waitFor()
  },
)

t.test('what is scanned in front of the menu or behind the end of a sign-in is not lost', onHandheld, async (t) => {
  const box = await TrustedBox.open(t)
  await furnish(box.gateway, ['A-01'])
  const code = await box.enrolment()
  const page = await box.browse('/scan')
  const slotsRead = page.waitForResponse((answer) => answer.url().endsWith('/api/whms/slots'))
  await enrolAndSignIn(page, code)
  await (await slotsRead).finished()
  await page.evaluate('navigator.serviceWorker.ready.then(() => 1)')
  await enter(page, 'P-1')
  await page.getByText('What do you want to do with it?').waitFor()
  await enter(page, 'P-2')
  await page.getByText(/^P-2 was NOT taken: choose first/).waitFor()
  t.strictSame(await violations(page), [], 'the menu with a code')
  const picture = pictureOf('scan menu with a code')
  if (picture) await page.screenshot({ path: picture, fullPage: true })
  await box.cut()
  await page.reload()
  await button(page, 'Remove').click()
  await enter(page, 'P-1', 'A-0I')
  await page.getByText(/does not know a slot A-0I\. Read the label again/).waitFor()
  await button(page, 'Clear A-0I').click()
  await enter(page, 'A-01')
  await button(page, 'Save').click()
  await page.getByText('1 waiting').waitFor()
  await enter(page, 'P-2', 'A-01', 'P-3')
  await page.getByText(/^P-3 was NOT taken/).waitFor()
  await box.gateway.ask('PUT', '/api/operators/1/pin', { by: people.ada, body: { pin: '2581' } })
  await box.restore()
  await page.evaluate(`dispatchEvent(new Event('online'))`)
  await page.getByText(/^Your sign-in has ended/).waitFor()
  await page.getByLabel('Badge').fill('B-4711')
  await page.getByLabel('PIN').fill('2581')
  await button(page, 'Sign in').click()
  await button(page, 'Clear P-2').waitFor()
  await button(page, 'Save').click()
  await page.getByText('2 received by the gateway').waitFor()
})

t.test(
  'a handheld gets messages about alerts, whoever is signed in on it, until it stops them',
  onHandheld,
  async (t) => {
    const service = await startPushService()
    t.teardown(() => service.stop())
    const box = await TrustedBox.open(t, { alerts: { channels: [{ name: 'phones', webPush: {} }] } })
    await furnish(box.gateway, ['A-01'])
    const code = await box.enrolment()
    const page = await box.browse('/scan')
    await page.context().grantPermissions(['notifications'])
    // This browser has no push service.
    const subscription = JSON.stringify(service.subscribe())
    const withService = `{
    let now = null
    const made = { toJSON: () => (${subscription}), unsubscribe: async () => { now = null } }
    PushManager.prototype.subscribe = async () => (now = made)
    PushManager.prototype.getSubscription = async () => now
  }`
    await page.evaluate(withService)
    t.equal(
      await button(page, 'Get messages here').count(),
      0,
      'a device that is not enrolled has no name at the gateway',
    )
    await enrolAndSignIn(page, code)
    await button(page, 'Sign out').click()
    await button(page, 'Get messages here').click()
    await page.getByText('Messages arrive in this browser.').waitFor()
    t.strictSame(await violations(page), [])
    const { body } = await box.gateway.ask('GET', '/api/governance/audit?action=push.subscribed', { by: people.ada })
    t.match(body.data, { length: 1, 0: { actor: 'handheld-7' } }, 'the device itself, and no person')
    const { body: devices } = await box.gateway.ask('GET', '/api/devices', { by: people.ada })
    const again = `/api/devices/${devices.data[0].id}/enrolment`
    const { body: renewed } = await box.gateway.ask('POST', again, { by: people.ada })
    await button(page, 'Enrol this device again').click()
    await page.getByLabel('Enrolment code').fill(renewed.enrolment.text)
    await button(page, 'Enrol').click()
    // The subscription ended with the last secret.
    await button(page, 'Get messages here').click()
    await button(page, 'Stop messages here').click()
    await page.getByText('Messages have ended in this browser.').waitFor()
    await button(page, 'Get messages here').waitFor()
  },
)

t.test('a handheld is told why it gets no messages', onHandheld, async (t) => {
  const box = await TrustedBox.open(t)
  const code = await box.enrolment()
  const page = await box.browse('/scan')
  await enrolAndSignIn(page, code)
  await button(page, 'Get messages here').click()
  await page.getByText('The config has no channel with webPush.').waitFor()
  await box.cut()
  await button(page, 'Get messages here').click()
  await page
    .getByText(/no network/i)
    .first()
    .waitFor()
})
