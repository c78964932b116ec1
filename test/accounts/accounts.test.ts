import t, { type Test } from 'tap'
import { byPage, headersFor, signInAt } from '../support/console-browser.ts'
import { people, siteUrl, testGateway } from '../support/gateway.ts'

async function site(
  t: Test,
  config: Record<string, unknown> = {},
  folk: (typeof people)[keyof typeof people][] = [people.ada, people.olga],
) {
  const gateway = await testGateway({ config, people: folk })
  t.teardown(() => gateway.end())
  const admin = (method: string, path: string, body?: unknown) => gateway.ask(method, path, { by: people.ada, body })
  const made = async (username: string, more: object = { role: 'operator' }): Promise<string> => {
    const answer = await admin('POST', '/api/accounts', { username, ...more })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.body.secret
  }
  const slotsAs = async (username: string, secret: string) =>
    (await gateway.ask('GET', '/api/whms/slots', { headers: headersFor(username, secret) })).status
  return { gateway, admin, made, slotsAs }
}

type Entry = { readonly action: string }

/** Entries of the trail about accounts and sessions, without those of sign-ins; the newest first. */
const actionsOf = async (admin: (method: string, path: string) => Promise<{ body: { data: Entry[] } }>) =>
  (await admin('GET', '/api/governance/audit?entity=caller&limit=100')).body.data.filter(({ action }) =>
    /^account\.|sessions_ended$/.test(action),
  )

t.test('an admin makes an account, and its secret is shown once', async (t) => {
  const { admin, slotsAs } = await site(t)
  const answer = await admin('POST', '/api/accounts', {
    username: 'nora',
    role: 'supervisor',
    groups: ['leads', 'leads'],
  })
  t.match(answer, {
    status: 201,
    body: {
      success: true,
      username: 'nora',
      role: 'supervisor',
      groups: ['leads'],
      source: 'database',
      status: 'active',
    },
  })
  t.equal(answer.headers.get('location'), '/api/accounts/nora')
  t.match(answer.body.secret, /^[\w-]{32}$/)
  t.equal(await slotsAs('nora', answer.body.secret), 200)
  t.equal(await slotsAs('nora', 'another secret'), 401)
  const { body: list } = await admin('GET', '/api/accounts')
  t.match(list.data, [
    { username: 'ada', source: 'config', status: 'active', createdAt: null },
    { username: 'olga', source: 'config' },
    { username: 'nora', source: 'database', createdAt: String },
  ])
  t.notMatch(JSON.stringify(list), answer.body.secret)
  t.match(await actionsOf(admin), [
    { action: 'account.created', operator: 'nora', actor: 'ada', changes: { role: 'supervisor' } },
  ])
  t.notMatch(JSON.stringify(await actionsOf(admin)), answer.body.secret)
})

t.test('accounts outlive a restart', async (t) => {
  const { gateway, made } = await site(t)
  const secret = await made('nora')
  const again = await gateway.restart()
  t.equal((await again.ask('GET', '/api/whms/slots', { headers: headersFor('nora', secret) })).status, 200)
  again.close()
})

t.test('a name is one caller: of the config, of the database, of a device or of a badge', async (t) => {
  const { admin, made } = await site(t)
  await made('nora')
  await admin('POST', '/api/devices', { name: 'handheld-7' })
  await admin('POST', '/api/operators', { username: 'piet', badge: 'B-1', pin: '2580' })
  for (const username of ['nora', 'olga', 'handheld-7', 'piet']) {
    t.match(
      await admin('POST', '/api/accounts', { username, role: 'viewer' }),
      { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } },
      username,
    )
  }
  t.match(await admin('POST', '/api/devices', { name: 'nora' }), { status: 400 })
  t.match(await admin('POST', '/api/accounts', { username: 'a:b', role: 'viewer' }), { status: 400 })
  t.match(await admin('POST', '/api/accounts', { username: 'x', role: 'king' }), { status: 400 })
})

t.test('a disabled account is out at once, and comes back with its password', async (t) => {
  const { gateway, admin, made, slotsAs } = await site(t)
  const secret = await made('nora')
  const { browser } = await signInAt(gateway, 'nora', secret)
  t.equal((await byPage(gateway, browser, 'GET', '/api/whms/slots')).status, 200)
  t.match(await admin('POST', '/api/accounts/nora/disable'), { status: 200, body: { status: 'disabled' } })
  t.equal(await slotsAs('nora', secret), 401)
  t.match(await byPage(gateway, browser, 'GET', '/api/whms/slots'), {
    status: 401,
    body: { error: { code: 'SESSION_ENDED' } },
  })
  t.match(await admin('POST', '/api/accounts/nora/disable'), { body: { error: { code: 'INVALID_TRANSITION' } } })
  t.match(await admin('POST', '/api/devices', { name: 'nora' }), { status: 400 }, 'the name stays taken')
  t.match(await admin('POST', '/api/accounts/nora/enable'), {
    status: 200,
    body: { status: 'active', disabledAt: null },
  })
  t.equal(await slotsAs('nora', secret), 200)
  t.equal((await byPage(gateway, browser, 'GET', '/api/whms/slots')).status, 401, 'the old session stays ended')
})

t.test('a reset gives a new secret, and ends the old one with its sessions', async (t) => {
  const { gateway, admin, made, slotsAs } = await site(t)
  const secret = await made('nora')
  const { browser } = await signInAt(gateway, 'nora', secret)
  const { body } = await admin('POST', '/api/accounts/nora/reset')
  t.not(body.secret, secret)
  t.equal(await slotsAs('nora', secret), 401)
  t.equal(await slotsAs('nora', body.secret), 200)
  t.equal((await byPage(gateway, browser, 'GET', '/api/whms/slots')).status, 401)
  t.match((await actionsOf(admin))[0], { action: 'account.secret_reset', operator: 'nora' })
})

t.test('role and groups change with the next request', async (t) => {
  const { gateway, admin, made } = await site(t)
  const secret = await made('nora', { role: 'viewer' })
  const webhooks = async () =>
    (await gateway.ask('GET', '/api/webhooks', { headers: headersFor('nora', secret) })).status
  t.equal(await webhooks(), 403)
  t.match(await admin('PATCH', '/api/accounts/nora', { role: 'admin', groups: ['b', 'a'] }), {
    status: 200,
    body: { role: 'admin', groups: ['a', 'b'] },
  })
  t.equal(await webhooks(), 200)
  t.match((await actionsOf(admin))[0], {
    action: 'account.changed',
    changes: { role: { from: 'viewer', to: 'admin' } },
  })
  const { length } = await actionsOf(admin)
  await admin('PATCH', '/api/accounts/nora', { role: 'admin' })
  await admin('PATCH', '/api/accounts/nora', (await admin('GET', '/api/accounts/nora')).body)
  t.equal((await actionsOf(admin)).length, length, 'the same again changes nothing')
  t.match(await admin('PATCH', '/api/accounts/nora', { groups: null }), {
    status: 200,
    body: { groups: { length: 0 } },
  })
  t.match(await admin('PATCH', '/api/accounts/nora', { role: null }), { status: 400 })
})

t.test('accounts of the config are read-only here, and win on a clash', async (t) => {
  const { gateway, admin, made, slotsAs } = await site(t)
  const secret = await made('sven')
  for (const act of ['disable', 'enable', 'reset']) {
    t.match(await admin('POST', `/api/accounts/olga/${act}`), {
      status: 400,
      body: { error: { code: 'INVALID_TRANSITION', message: /config/ } },
    })
  }
  t.match(await admin('POST', '/api/accounts/nobody/disable'), { status: 404 })
  gateway.live.config = {
    ...gateway.live.config,
    auth: {
      ...gateway.live.config.auth,
      users: [...gateway.live.config.auth.users, { ...gateway.live.config.auth.users[0], username: 'sven' } as never],
    },
  }
  t.equal(await slotsAs('sven', secret), 401)
  t.equal(await slotsAs('sven', 'ada-secret'), 200)
  const { body } = await admin('GET', '/api/accounts')
  t.match(
    body.data.filter((one: { username: string }) => one.username === 'sven'),
    [{ source: 'config' }, { source: 'database', status: 'overridden' }],
  )
})

t.test('the last admin cannot lock himself out', async (t) => {
  const { gateway, admin, made } = await site(t)
  const secret = await made('nora', { role: 'admin' })
  t.match(await admin('POST', '/api/accounts/nora/disable'), { status: 200 }, 'ada of the config is left')
  await admin('POST', '/api/accounts/nora/enable')
  gateway.live.config = { ...gateway.live.config, auth: { ...gateway.live.config.auth, users: [] } }
  const nora = (method: string, path: string, body?: unknown) =>
    gateway.ask(method, path, { headers: headersFor('nora', secret), body })
  const refused = { status: 400, body: { error: { code: 'INVALID_TRANSITION', message: /last admin/ } } }
  t.match(await nora('POST', '/api/accounts/nora/disable'), refused)
  t.match(await nora('PATCH', '/api/accounts/nora', { role: 'viewer' }), refused)
  t.match(await nora('POST', '/api/accounts', { username: 'zoe', role: 'admin' }), { status: 201 })
  t.match(await nora('POST', '/api/accounts/nora/disable'), { status: 200 })
})

t.test('people change their own password by the rules of NIST SP 800-63B', async (t) => {
  const { gateway, admin, made, slotsAs } = await site(t)
  const secret = await made('nora')
  const { browser } = await signInAt(gateway, 'nora', secret)
  const other = (await signInAt(gateway, 'nora', secret)).browser
  const change = (current: string, password: string) =>
    byPage(gateway, browser, 'PUT', '/api/own-account/password', { current, password })
  t.match(await byPage(gateway, browser, 'GET', '/api/own-account'), {
    body: { username: 'nora', canChangePassword: true, sessions: 2 },
  })
  t.match(await change('wrong', 'correct-horse-battery'), {
    status: 400,
    body: { error: { fields: [{ path: 'current' }] } },
  })
  for (const password of [
    ...[
      'elevenchars',
      'aaaaaaaaaaaaaa',
      'password1234',
      '123456789012',
      'qwertyuiop12',
      'nora20262026!',
      'passwordpassword',
    ],
    ...['abcdefghijklmn', 'test-site2026', 'x'.repeat(1025)],
  ]) {
    t.match(
      await change(secret, password),
      { status: 400, body: { error: { fields: [{ path: 'password' }] } } },
      password,
    )
  }
  t.match(await change(secret, 'correct-horse-battery'), { status: 204 })
  for (const one of [browser, other]) t.equal((await byPage(gateway, one, 'GET', '/api/whms/slots')).status, 401)
  t.equal(await slotsAs('nora', secret), 401)
  t.equal(await slotsAs('nora', 'correct-horse-battery'), 200)
  t.match((await actionsOf(admin))[0], { action: 'account.password_changed', actor: 'nora' })
  t.match(
    await gateway.ask('PUT', '/api/own-account/password', {
      by: people.olga,
      body: { current: 'olga-secret', password: 'correct-horse-battery' },
    }),
    { status: 400, body: { error: { code: 'INVALID_TRANSITION' } } },
    'the config has her hash',
  )
})

t.test('a password works in each form of Unicode', async (t) => {
  const { gateway, made, slotsAs } = await site(t)
  const secret = await made('nora')
  await gateway.ask('PUT', '/api/own-account/password', {
    headers: headersFor('nora', secret),
    body: { current: secret, password: 'größere-häfen-öffnen'.normalize('NFD') },
  })
  const basic = (password: string) => ({
    ...headersFor('nora', ''),
    Authorization: `Basic ${Buffer.from(`nora:${password}`).toString('base64')}`,
  })
  const password = 'größere-häfen-öffnen'.normalize('NFC')
  t.equal((await gateway.ask('GET', '/api/whms/slots', { headers: basic(password) })).status, 200)
  t.equal(await slotsAs('nora', secret), 401)
})

t.test('sessions are listed, and ended one by one and all at once', async (t) => {
  const { gateway, admin, made } = await site(t)
  const secret = await made('nora')
  const sessionsOf = async (username: string, password: string) => (await signInAt(gateway, username, password)).browser
  const [first, second, third] = [
    await sessionsOf('nora', secret),
    await sessionsOf('nora', secret),
    await sessionsOf('nora', secret),
  ]
  const olga = await sessionsOf('olga', 'olga-secret')
  const list = async (browser = first) => (await byPage(gateway, browser, 'GET', '/api/sessions')).body.data
  const own = await list()
  t.equal(own.length, 3)
  t.match(
    own.filter((one: { current: boolean }) => one.current),
    [{ username: 'nora', instance: siteUrl, address: String }],
  )
  const { body } = await admin('GET', '/api/sessions')
  t.equal(body.data.length, 4, 'an admin sees all of them')
  const ofOlga = body.data.find((one: { username: string }) => one.username === 'olga').id
  t.match(await byPage(gateway, first, 'DELETE', `/api/sessions/${ofOlga}`), { status: 404 }, 'not hers')
  const ofSecond = (await list(second)).find((one: { current: boolean }) => one.current).id
  t.match(await byPage(gateway, first, 'DELETE', `/api/sessions/${ofSecond}`), { status: 204 })
  t.equal((await byPage(gateway, second, 'GET', '/api/whms/slots')).status, 401)
  t.match(await byPage(gateway, first, 'POST', '/api/sessions/end', {}), { status: 200, body: { ended: 1 } })
  t.equal((await byPage(gateway, third, 'GET', '/api/whms/slots')).status, 401)
  t.equal((await byPage(gateway, first, 'GET', '/api/whms/slots')).status, 200, 'this one stays')
  for (const body of [{ all: true }, { username: 'olga' }]) {
    t.match(await byPage(gateway, first, 'POST', '/api/sessions/end', body), { status: 403 })
  }
  t.match(await admin('POST', '/api/sessions/end', { username: 'olga' }), { body: { ended: 1 } })
  t.equal((await byPage(gateway, olga, 'GET', '/api/whms/slots')).status, 401)
  t.match(await admin('POST', '/api/sessions/end', { all: true }), { body: { ended: 1 } })
  t.equal((await byPage(gateway, first, 'GET', '/api/whms/slots')).status, 401)
  t.equal((await actionsOf(admin)).filter(({ action }) => action === 'caller.sessions_ended').length, 4)
})

t.test('only admins manage accounts', async (t) => {
  const { gateway } = await site(t)
  for (const [method, path] of [
    ['GET', '/api/accounts'],
    ['POST', '/api/accounts'],
    ['POST', '/api/accounts/ada/reset'],
  ] as const) {
    t.match(await gateway.ask(method, path, { by: people.olga, ...(method === 'POST' && { body: {} }) }), {
      status: 403,
    })
  }
  t.match(await gateway.ask('GET', '/api/own-account', { by: people.olga }), {
    body: { username: 'olga', source: 'config', canChangePassword: false },
  })
})

t.test('an erased person has no account, and the last admin is not erased', async (t) => {
  const { gateway, admin, made, slotsAs } = await site(t)
  const secret = await made('nora')
  t.equal(await slotsAs('nora', secret), 200)
  t.match(await gateway.erasePerson({ name: 'nora', texts: false }, 'dora'), { outcome: 'erased' })
  t.equal(await slotsAs('nora', secret), 401)
  t.match(await admin('GET', '/api/accounts/nora'), { status: 404 })
  await made('zoe', { role: 'admin' })
  gateway.live.config = { ...gateway.live.config, auth: { ...gateway.live.config.auth, users: [] } }
  await t.rejects(gateway.erasePerson({ name: 'zoe', texts: false }, 'dora'), { code: 'INVALID_TRANSITION' })
})
