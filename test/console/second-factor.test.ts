import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { totpOf } from '../../src/auth/factors/totp.ts'
import { HttpListener } from '../../src/http/index.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, signIn } from '../support/browser.ts'
import { people, testGateway } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** A gateway at a name, because browsers give no passkey to an address. */
async function site(t: { teardown(work: () => unknown): void }, required: boolean) {
  const gateway = await testGateway({
    clock: new SimulatedClock(Date.now()),
    config: { site: { id: 'dc-7', url: 'http://localhost:8480' } },
  })
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const port = await listener.start()
  t.teardown(async () => {
    await listener.stop()
    gateway.end()
  })
  const { config } = gateway.live
  const secondFactor = required ? { admin: 'required' } : {}
  gateway.live.config = {
    ...config,
    site: { ...config.site, url: `http://localhost:${port}` },
    auth: { ...config.auth, secondFactor: secondFactor as never },
  }
  return { gateway, url: `http://localhost:${port}/` }
}

/** Gives the page an authenticator with a finger that always fits. */
async function withAuthenticator(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
}

t.test('an admin who must have a second factor sets up a passkey and signs in with it', inBrowser, async (t) => {
  const { gateway, url } = await site(t, true)
  const { page, faults } = await open(t, browser, url)
  await withAuthenticator(page)
  await signIn(page, 'ada')
  await page.getByText('Your role needs a second factor. Set one up to go on.').waitFor()
  t.same(await violations(page), [])
  await page.getByLabel('Name of the device').fill('laptop')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  const codes = page.getByRole('region', { name: 'Recovery codes, shown once' })
  await codes.waitFor()
  t.equal(await codes.getByRole('listitem').count(), 10)
  await codes.getByRole('button', { name: 'Done, I have them' }).click()
  await page.locator('#floor').waitFor()
  // Everything else waits for the factor.
  t.same(
    faults.filter((one) => !/status of 403/.test(one)),
    [],
  )

  await page.context().clearCookies()
  await page.goto(url)
  await signIn(page, 'ada')
  await page.getByLabel('Code of your app, or a recovery code').waitFor()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.locator('#floor').waitFor()

  gateway.clock.advance(10 * 60_000)
  await page.goto(`${url}people`)
  const form = page.getByRole('form', { name: 'Add an account' })
  await form.getByLabel('User name').fill('nora')
  await form.getByRole('button', { name: 'Make the account' }).click()
  const dialog = page.getByRole('dialog', { name: 'Show your second factor again' })
  await dialog.getByLabel('Code of your app').fill('000000')
  await dialog.getByRole('button', { name: 'Go on' }).click()
  await dialog.getByRole('alert').getByText(/wrong/).waitFor()
  await dialog.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByRole('region', { name: 'Secret of nora, shown once' }).waitFor()
})

t.test('a passkey alone signs in where the admin allows it, and never twice', inBrowser, async (t) => {
  const { gateway, url } = await site(t, false)
  const { body: nora } = await gateway.ask('POST', '/api/accounts', {
    headers: headersAt(url),
    body: { username: 'nora', role: 'supervisor' },
  })
  const { page } = await open(t, browser, `${url}people`)
  await withAuthenticator(page)
  await signIn(page, 'nora', nora.secret)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'Done, I have them' }).click()
  await page.context().clearCookies()
  await page.goto(url)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByRole('alert').getByText(/wrong/).waitFor()
  t.pass('not before it is allowed')
  await gateway.ask('PATCH', '/api/accounts/nora', { headers: headersAt(url), body: { passkeyAlone: true } })
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/session/passkey')) sent.push(request.postData() ?? '')
  })
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.locator('#floor').waitFor()
  const body = JSON.parse(sent.at(-1) ?? '{}')
  const replayed = await gateway.ask('POST', '/api/session/passkey', { body })
  t.match(replayed, { status: 401, body: { error: { code: 'SECOND_FACTOR_WRONG' } } })
})

t.test('an authenticator app is set up on the page', inBrowser, async (t) => {
  const { gateway, url } = await site(t, false)
  const { page } = await open(t, browser, `${url}people`)
  await signIn(page, 'sven')
  await page.getByRole('button', { name: 'Add an authenticator app' }).click()
  const form = page.getByRole('form', { name: 'Add an authenticator app' })
  const secret = await form.locator('.code').innerText()
  let bits = 0n
  for (const one of secret) bits = bits * 32n + BigInt('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one))
  const code = totpOf(Buffer.from(bits.toString(16).padStart(40, '0'), 'hex'), Math.floor(gateway.clock.now() / 30_000))
  await form.getByLabel('Code of the app').fill(code)
  await form.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('region', { name: 'Recovery codes, shown once' }).waitFor()
  await page.getByText('authenticator app', { exact: true }).waitFor()
  t.pass('it is in the list')
})

const headersAt = (url: string) => ({
  Authorization: `Bearer ${people.ada.username}-secret`,
  'X-Storage-Instance': url,
  'X-Storage-Username': people.ada.username,
})
