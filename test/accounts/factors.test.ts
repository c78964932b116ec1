import t, { type Test } from 'tap'
import { stepOfCode, totpOf } from '../../src/auth/factors/totp.ts'
import { byPage, headersFor, signInAt } from '../support/console-browser.ts'
import { type Person, people, testGateway } from '../support/gateway.ts'

const minute = 60_000

/** Reads base32 (RFC 4648) without the code under test. */
function bytesOf(base32: string): Buffer {
  let bits = 0n
  for (const one of base32) bits = bits * 32n + BigInt('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one))
  return Buffer.from(bits.toString(16).padStart((base32.length * 5) / 4, '0'), 'hex')
}

async function site(t: Test, secondFactor: Record<string, string> = {}) {
  const auth = { users: [], secondFactor }
  const folk: Person[] = [people.ada, people.olga]
  const gateway = await testGateway({ people: folk })
  t.teardown(() => gateway.end())
  gateway.live.config = {
    ...gateway.live.config,
    auth: { ...gateway.live.config.auth, ...auth, users: gateway.live.config.auth.users } as never,
  }
  const admin = (method: string, path: string, body?: unknown) => gateway.ask(method, path, { by: people.ada, body })
  const made = async (username: string, role = 'admin'): Promise<string> =>
    (await admin('POST', '/api/accounts', { username, role })).body.secret
  const codeNow = (secret: string) => totpOf(bytesOf(secret), Math.floor(gateway.clock.now() / 30_000))
  /** Sets an app up in a new session. */
  const withApp = async (username: string, password: string) => {
    const { browser } = await signInAt(gateway, username, password)
    const { body } = await byPage(gateway, browser, 'POST', '/api/own-account/totp', {})
    const confirmed = await byPage(gateway, browser, 'POST', '/api/own-account/totp/confirm', {
      ...{ name: 'phone', code: codeNow(body.secret) },
    })
    return { browser, secret: body.secret as string, uri: body.uri as string, qr: body.qr as string, confirmed }
  }
  return { gateway, admin, made, codeNow, withApp }
}

t.test('codes are those of RFC 6238, appendix B', (t) => {
  const secret = Buffer.from('12345678901234567890')
  for (const [seconds, code] of [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ] as const) {
    t.equal(totpOf(secret, Math.floor(seconds / 30), 8), code, `at ${seconds} s`)
  }
  const now = 1_234_567_890_000
  t.equal(stepOfCode(secret, totpOf(secret, 41152263), now, -1), 41152263)
  t.equal(stepOfCode(secret, totpOf(secret, 41152262), now, -1), 41152262, 'a phone that is 30 s slow')
  t.equal(stepOfCode(secret, totpOf(secret, 41152261), now, -1), undefined, 'a minute is too much')
  t.equal(stepOfCode(secret, totpOf(secret, 41152263), now, 41152263), undefined, 'a code works once')
  t.end()
})

t.test('a sign-in needs the code of the app once it is set up', async (t) => {
  const { gateway, admin, made, codeNow, withApp } = await site(t)
  const password = await made('nora')
  const { secret, uri, qr, confirmed, browser } = await withApp('nora', password)
  t.match(secret, /^[A-Z2-7]{32}$/)
  t.equal(uri, `otpauth://totp/gatehouse%20test-site:nora?secret=${secret}&issuer=gatehouse%20test-site`)
  t.match(qr, /^<svg /)
  t.equal(confirmed.status, 200, confirmed.text)
  t.equal(confirmed.body.recoveryCodes.length, 10)
  t.match(confirmed.body.recoveryCodes[0], /^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$/)
  t.match((await byPage(gateway, browser, 'GET', '/api/own-account')).body.secondFactor, {
    required: false,
    factors: [{ kind: 'totp', name: 'phone' }],
    recoveryCodes: 10,
  })
  const without = await signInAt(gateway, 'nora', password)
  t.match(without.answer, { status: 401, body: { error: { code: 'SECOND_FACTOR_REQUIRED' } } })
  t.equal(without.answer.headers.getSetCookie().length, 0)
  const used = await signInAt(gateway, 'nora', password, { code: codeNow(secret) })
  t.match(used.answer, { status: 401, body: { error: { code: 'SECOND_FACTOR_WRONG' } } }, 'its first code was used')
  gateway.clock.advance(minute)
  const code = codeNow(secret)
  t.match(await signInAt(gateway, 'nora', 'wrong', { code }), {
    answer: { body: { error: { code: 'INVALID_CREDENTIALS' } } },
  })
  t.match((await signInAt(gateway, 'nora', password, { code })).answer, { status: 201 })
  t.equal((await signInAt(gateway, 'nora', password, { code })).answer.status, 401, 'a replayed code')
  const [recovery] = confirmed.body.recoveryCodes
  t.equal((await signInAt(gateway, 'nora', password, { code: recovery.toLowerCase() })).answer.status, 201)
  t.equal((await signInAt(gateway, 'nora', password, { code: recovery })).answer.status, 401, 'works once')
  const trail = (await admin('GET', '/api/governance/audit?entity=caller&limit=100')).text
  t.match(trail, 'account.factor_added')
  for (const hidden of [secret, recovery, code]) t.notMatch(trail, hidden)
})

t.test('guesses of codes wait, and a right password alone opens nothing', async (t) => {
  const { gateway, made, codeNow, withApp } = await site(t)
  const password = await made('nora')
  const { secret } = await withApp('nora', password)
  gateway.clock.advance(minute)
  for (let n = 0; n < 5; n += 1) {
    t.match((await signInAt(gateway, 'nora', password, { code: `00000${n}` })).answer, { status: 401 })
  }
  const limited = (await signInAt(gateway, 'nora', password, { code: codeNow(secret) })).answer
  t.match(limited, { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
  gateway.clock.advance(minute)
  t.equal((await signInAt(gateway, 'nora', password, { code: codeNow(secret) })).answer.status, 201)
})

t.test('headers cannot show a factor, so an account with one signs in at the console alone', async (t) => {
  const { gateway, made, withApp } = await site(t)
  const password = await made('nora')
  const ask = () => gateway.ask('GET', '/api/whms/slots', { headers: headersFor('nora', password) })
  t.equal((await ask()).status, 200)
  await withApp('nora', password)
  t.match(await ask(), { status: 401, body: { error: { code: 'SECOND_FACTOR_REQUIRED' } } })
  await withApp('ada', 'ada-secret')
  t.equal((await gateway.ask('GET', '/api/whms/slots', { by: people.ada })).status, 200, 'programs use the config')
})

t.test('a role that needs a factor can do nothing before it is set up', async (t) => {
  const { gateway, made, codeNow } = await site(t, { admin: 'required' })
  const password = await made('nora')
  t.match(await gateway.ask('GET', '/api/whms/slots', { headers: headersFor('nora', password) }), {
    status: 401,
    body: { error: { code: 'SECOND_FACTOR_REQUIRED' } },
  })
  const { answer, browser } = await signInAt(gateway, 'nora', password)
  t.match(answer.body, { caller: { role: 'admin', permissions: { length: 0 }, secondFactor: 'missing' } })
  for (const path of ['/api/whms/slots', '/api/accounts', '/api/stream?follow=false']) {
    t.match(await byPage(gateway, browser, 'GET', path), {
      status: 403,
      body: { error: { code: 'SECOND_FACTOR_MISSING' } },
    })
  }
  t.match(await byPage(gateway, browser, 'POST', '/api/signed-urls', { path: '/api/whms/slots' }), { status: 403 })
  t.match((await byPage(gateway, browser, 'GET', '/api/own-account')).body, { secondFactor: { required: true } })
  const { body } = await byPage(gateway, browser, 'POST', '/api/own-account/totp', {})
  t.match(await byPage(gateway, browser, 'POST', '/api/own-account/totp/confirm', { name: 'p', code: '000000' }), {
    status: 400,
    body: { error: { fields: [{ path: 'code' }] } },
  })
  await byPage(gateway, browser, 'POST', '/api/own-account/totp/confirm', { name: 'p', code: codeNow(body.secret) })
  t.equal((await byPage(gateway, browser, 'GET', '/api/accounts')).status, 200)
  const olga = await signInAt(gateway, 'olga', 'olga-secret')
  t.equal((await byPage(gateway, olga.browser, 'GET', '/api/whms/slots')).status, 200, 'an operator needs none')
})

t.test('secrets and footage are given away only soon after the factor was shown', async (t) => {
  const { gateway, made, codeNow, withApp } = await site(t)
  const password = await made('nora')
  const { browser, secret } = await withApp('nora', password)
  const guarded = [
    ['POST', '/api/accounts', { username: 'x', role: 'viewer' }],
    ['POST', '/api/devices', { name: 'h-1' }],
    ['POST', '/api/webhooks', { url: 'https://erp.invalid/x', events: ['whms.placement'] }],
    ['POST', '/api/iot/detection-events/1/export', { reason: 'r' }],
    ['GET', '/api/governance/incidents/1/package', undefined],
    ['DELETE', '/api/own-account/factors/1', undefined],
  ] as const
  gateway.clock.advance(10 * minute)
  for (const [method, path, body] of guarded) {
    t.match(
      await byPage(gateway, browser, method, path, body),
      { status: 403, body: { error: { code: 'STEP_UP_REQUIRED' } } },
      `${method} ${path}`,
    )
  }
  t.equal((await byPage(gateway, browser, 'GET', '/api/accounts')).status, 200, 'reading goes on')
  t.match((await byPage(gateway, browser, 'GET', '/api/session')).body, { caller: { secondFactor: 'stale' } })
  t.equal((await byPage(gateway, browser, 'POST', '/api/session/step-up', { code: '000000' })).status, 401)
  t.equal((await byPage(gateway, browser, 'GET', '/api/accounts')).status, 200, 'a wrong code ends no session')
  const shown = await byPage(gateway, browser, 'POST', '/api/session/step-up', { code: codeNow(secret) })
  t.equal(shown.status, 200)
  for (const [method, path, body] of guarded.slice(0, 3)) {
    t.equal((await byPage(gateway, browser, method, path, body)).status, 201, path)
  }
})

t.test('a factor that was shown too long ago stays too old when the clock goes back', async (t) => {
  const { gateway, made, withApp } = await site(t)
  const { browser } = await withApp('nora', await made('nora'))
  const startMs = gateway.clock.now()
  gateway.clock.advance(60 * minute)
  await gateway.clockBook.look()
  gateway.clock.setWall(startMs + 5 * minute)
  t.match(await byPage(gateway, browser, 'POST', '/api/accounts', { username: 'x', role: 'viewer' }), {
    status: 403,
    body: { error: { code: 'STEP_UP_REQUIRED' } },
  })
})

t.test('a lost phone: an admin removes the factors, and a reset does as well', async (t) => {
  const { gateway, admin, made, withApp } = await site(t)
  const password = await made('nora')
  await withApp('nora', password)
  t.match(await admin('GET', '/api/accounts/nora'), { body: { factors: 1 } })
  t.match(await admin('POST', '/api/accounts/nora/remove-factors'), { status: 200, body: { factors: 0 } })
  t.match(await admin('POST', '/api/accounts/nora/remove-factors'), { body: { error: { code: 'INVALID_TRANSITION' } } })
  t.equal((await signInAt(gateway, 'nora', password)).answer.status, 201)
  await withApp('nora', password)
  const { body } = await admin('POST', '/api/accounts/nora/reset')
  t.equal((await signInAt(gateway, 'nora', body.secret)).answer.status, 201)
  await withApp('olga', 'olga-secret')
  t.match(await admin('POST', '/api/accounts/olga/remove-factors'), { status: 200 }, 'of the config, too')
  t.equal((await signInAt(gateway, 'olga', 'olga-secret')).answer.status, 201)
})

t.test('factors outlive a restart', async (t) => {
  const { gateway, made, withApp } = await site(t)
  const password = await made('nora')
  await withApp('nora', password)
  const again = await gateway.restart()
  t.match((await signInAt(again, 'nora', password)).answer, { body: { error: { code: 'SECOND_FACTOR_REQUIRED' } } })
  again.close()
})
