import t, { type Test } from 'tap'
import { Authenticator } from '../support/authenticator.ts'
import { byPage, signInAt } from '../support/console-browser.ts'
import { people, siteUrl, testGateway } from '../support/gateway.ts'

/** A gateway where nora has a passkey of `phone` beside her password. */
async function site(t: Test, { alone = false } = {}) {
  const gateway = await testGateway({ people: [people.ada] })
  t.teardown(() => gateway.end())
  const admin = (method: string, path: string, body?: unknown) => gateway.ask(method, path, { by: people.ada, body })
  const { secret } = (await admin('POST', '/api/accounts', { username: 'nora', role: 'admin' })).body
  if (alone) await admin('PATCH', '/api/accounts/nora', { passkeyAlone: true })
  const { browser } = await signInAt(gateway, 'nora', secret)
  const page = (path: string, body: unknown = {}) => byPage(gateway, browser, 'POST', `/api/own-account/${path}`, body)
  const register = async (from: Authenticator) =>
    page('passkeys', { name: 'phone', passkey: from.create((await page('passkeys/begin')).body.options) })
  const nobody = { headers: {} }
  const challenge = async () => (await gateway.ask('POST', '/api/session/challenge', nobody)).body.options
  const signIn = (passkey: object) =>
    gateway.ask('POST', '/api/session', { ...nobody, body: { username: 'nora', secret, passkey } })
  const byPasskey = (passkey: object) => gateway.ask('POST', '/api/session/passkey', { ...nobody, body: { passkey } })
  return { gateway, register, challenge, signIn, byPasskey }
}

const refused = { status: 401, body: { error: { code: 'SECOND_FACTOR_WRONG' } } }

t.test('a passkey beside the password signs in', async (t) => {
  const { register, challenge, signIn } = await site(t)
  const phone = new Authenticator(siteUrl)
  t.match(await register(phone), { status: 200, body: { recoveryCodes: { length: 10 } } })
  t.match(await signIn(phone.get(await challenge())), { status: 201 })
})

t.test('an assertion works once, for its own challenge and origin, and by its own key', async (t) => {
  const { register, challenge, signIn } = await site(t)
  const phone = new Authenticator(siteUrl)
  await register(phone)
  const first = phone.get(await challenge())
  t.match(await signIn(first), { status: 201 })
  t.match(await signIn(first), refused, 'replayed')
  const own = await challenge()
  t.match(
    await signIn(phone.get({ ...own, challenge: Buffer.alloc(32, 1).toString('base64url') })),
    refused,
    'of another challenge',
  )
  t.match(await signIn(phone.get({ ...own, rpId: 'gateway.example' })), refused, 'for another gateway')
  t.match(await signIn(new Authenticator(siteUrl).get(await challenge())), refused, 'by another key of the same id')
  t.match(await signIn(phone.get(await challenge())), { status: 201 }, 'and nobody is locked out')
})

t.test('a page of another origin neither registers a passkey nor signs in with one', async (t) => {
  const { register, challenge, signIn } = await site(t)
  const lure = new Authenticator('https://gatehouse.example.attacker')
  t.match(await register(lure), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  const phone = new Authenticator(siteUrl)
  await register(phone)
  t.match(await signIn(lure.get(await challenge())), refused)
})

t.test('a copy of an authenticator is noticed by its count of signatures', async (t) => {
  const { register, challenge, signIn } = await site(t)
  const phone = new Authenticator(siteUrl)
  await register(phone)
  for (let n = 0; n < 3; n++) t.match(await signIn(phone.get(await challenge())), { status: 201 })
  phone.rewind()
  t.match(await signIn(phone.get(await challenge())), refused)
})

t.test('a passkey alone signs in only where the admin allows it', async (t) => {
  for (const alone of [true, false]) {
    const { register, challenge, byPasskey } = await site(t, { alone })
    const phone = new Authenticator(siteUrl)
    await register(phone)
    t.match(
      await byPasskey(phone.get(await challenge())),
      alone ? { status: 201, body: { caller: { username: 'nora' } } } : refused,
    )
  }
})
