import { gunzipSync } from 'node:zlib'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { consoleFiles } from '../../src/console/files.ts'
import { databaseFile } from '../../src/database/index.ts'
import { type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

const hourMs = 3_600_000

type Test = { teardown(work: () => void): void }

async function gatewayFor(t: Test, config: Record<string, unknown> = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  return gateway
}

/** The credentials that a browser has after a sign-in. */
type Browser = { cookie: string; csrfToken: string }

const credentialsOf = ({ username }: Person) => ({ username, secret: `${username}-secret` })

async function signIn(gateway: TestGateway, person: Person): Promise<Browser> {
  const answer = await gateway.ask('POST', '/api/session', { body: credentialsOf(person) })
  if (answer.status !== 201) throw new Error(answer.text)
  return { cookie: cookieOf(answer.headers), csrfToken: answer.body.csrfToken }
}

const cookieOf = (headers: Headers): string => headers.getSetCookie()[0]?.split(';')[0] ?? ''

/** As the browser sends it: the cookie always, the token only where the page adds it. */
const withCookie = ({ cookie }: Browser) => ({ headers: { Cookie: cookie } })
const fromThePage = ({ cookie, csrfToken }: Browser) => ({ headers: { Cookie: cookie, 'X-CSRF-Token': csrfToken } })

function audited(
  gateway: TestGateway,
): { action: string; actor: string | null; operator: string | null; changes: unknown }[] {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  try {
    const rows = db
      .prepare(
        `SELECT action, changes, auth_mode AS mode, address,
           (SELECT name FROM person WHERE id = p.actor_id) AS actor,
           (SELECT name FROM person WHERE id = p.operator_id) AS operator
         FROM audit_entry a LEFT JOIN audit_person p ON p.entry_id = a.id WHERE entity = 'caller' ORDER BY id`,
      )
      .all() as { action: string; actor: string | null; operator: string | null; changes: string | null }[]
    return rows.map((row) => ({ ...row, changes: row.changes === null ? null : JSON.parse(row.changes) }))
  } finally {
    db.close()
  }
}

t.test('WebAssembly is sent as it lies on the disk, with gzip, and never unpacked for a client', async (t) => {
  const gateway = await gatewayFor(t)
  const packed = [...(await consoleFiles())]
    .filter(([, { packed }]) => packed !== undefined)
    .map(([name]) => `/${name}`)
  t.ok(packed.length > 1)
  for (const path of packed) {
    for (const headers of [{}, { 'Accept-Encoding': 'br, gzip;q=0.5' }, { 'Accept-Encoding': '*' }]) {
      const answer = await gateway.api.request(path, { headers })
      t.match([answer.status, answer.headers.get('content-type')], [200, 'application/wasm'])
      t.match([answer.headers.get('content-encoding'), answer.headers.get('vary')], ['gzip', /accept-encoding/i])
      const bytes = gunzipSync(await answer.arrayBuffer())
      t.equal(bytes.subarray(0, 4).toString('latin1'), '\0asm')
    }
    for (const accepted of ['identity', 'gzip;q=0, *', 'br']) {
      const answer = await gateway.ask('GET', path, { headers: { 'Accept-Encoding': accepted } })
      t.match(answer, {
        status: 400,
        body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: 'Accept-Encoding' }] } },
      })
      t.notMatch(answer.headers.get('cache-control') ?? '', /immutable/)
    }
  }
})

t.test('without JavaScript the pages say what to do, in English and German', async (t) => {
  const gateway = await gatewayFor(t)
  for (const path of ['/', '/scan']) {
    const page = await (await gateway.api.request(path)).text()
    const [, notice = ''] = /<noscript>(.*?)<\/noscript>/s.exec(page) ?? []
    t.match(notice, /needs JavaScript\. Allow it for this address/, path)
    t.match(notice, /<p lang="de">Die \S+( dieses Gateways)? braucht JavaScript\. Erlauben Sie es/, path)
  }
})

t.test('a right secret is exchanged once for a cookie that no script and no other site can use', async (t) => {
  const gateway = await gatewayFor(t)
  const nobody = await gateway.ask('GET', '/api/session')
  t.match(nobody, {
    status: 200,
    body: { siteId: 'test-site', instance: 'http://127.0.0.1:8480', caller: null, csrfToken: null },
  })
  const answer = await gateway.ask('POST', '/api/session', { body: credentialsOf(people.olga) })
  t.match(answer, { status: 201, body: { caller: { username: 'olga', role: 'operator' }, csrfToken: /^[\w-]{43}$/ } })
  t.equal(answer.headers.get('location'), '/api/session')
  t.equal(answer.headers.get('cache-control'), 'no-store')
  const [cookie = ''] = answer.headers.getSetCookie()
  t.match(cookie, /^gatehouse=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/)
  t.notMatch(answer.text, cookie.slice(10, 53), 'the token stands in the cookie only')
  const session = await gateway.ask('GET', '/api/session', { headers: { Cookie: cookieOf(answer.headers) } })
  t.match(session.body, { caller: { username: 'olga', role: 'operator' }, csrfToken: answer.body.csrfToken })
  t.notOk(session.body.caller.permissions.includes('webhooks:manage'))
  const slots = await gateway.ask('GET', '/api/whms/slots', { headers: { Cookie: cookieOf(answer.headers) } })
  t.equal(slots.status, 200, 'and it stands for the caller')
})

t.test('over TLS the cookie is Secure, with the prefix that keeps others from setting it', async (t) => {
  const gateway = await gatewayFor(t, { http: { trustedProxies: ['10.0.0.0/8'] } })
  const signInOver = (socket: object, headers: Record<string, string> = {}) =>
    gateway.api.request(
      '/api/session',
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(credentialsOf(people.vera)),
      },
      { incoming: { socket } },
    )
  const secure = /^__Host-gatehouse=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/
  const direct = await signInOver({ encrypted: true, remoteAddress: '192.168.1.9' })
  t.match(direct.headers.getSetCookie(), [secure])
  const proxied = { 'X-Forwarded-Proto': 'https' }
  t.match(
    (await signInOver({ remoteAddress: '10.0.0.1' }, proxied)).headers.getSetCookie(),
    [secure],
    'by a proxy of ours',
  )
  t.match(
    (await signInOver({ remoteAddress: '192.168.1.9' }, proxied)).headers.getSetCookie(),
    [/^gatehouse=/],
    'what a stranger claims counts for nothing',
  )
  const cookie = cookieOf(direct.headers)
  t.equal((await gateway.ask('GET', '/api/whms/slots', { headers: { Cookie: cookie } })).status, 401, 'not without TLS')
  const overTls = await gateway.api.request(
    '/api/whms/slots',
    { headers: { Cookie: cookie } },
    { incoming: { socket: { encrypted: true } } },
  )
  t.equal(overTls.status, 200)
})

t.test('what changes something needs the token that only the page can read', async (t) => {
  const gateway = await gatewayFor(t)
  const ada = await signIn(gateway, people.ada)
  const other = await signIn(gateway, people.ada)
  const post = (headers: Record<string, string>) =>
    gateway.ask('POST', '/api/whms/warehouses', { body: { name: 'Hall', timezone: 'UTC' }, headers })
  const refused = { status: 403, body: { error: { code: 'CSRF_TOKEN_WRONG' } } }
  t.match(await post({ Cookie: ada.cookie }), refused, 'no token')
  t.match(await post({ Cookie: ada.cookie, 'X-CSRF-Token': `${ada.csrfToken}x` }), refused, 'another token')
  t.match(await post({ Cookie: ada.cookie, 'X-CSRF-Token': other.csrfToken }), refused, 'the token of another session')
  t.match(await gateway.ask('DELETE', '/api/session', withCookie(ada)), refused, 'not even signing out')
  // A form and a fetch without CORS can send each of these: a Blob without a type has no Content-Type.
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
    undefined,
  ]) {
    const bytes = Buffer.from(JSON.stringify({ name: 'Hall', timezone: 'UTC' }))
    const headers = { Cookie: ada.cookie, ...(type !== undefined && { 'Content-Type': type }) }
    t.match(await gateway.ask('POST', '/api/whms/warehouses', { bytes, headers }), refused, type ?? 'no type')
  }
  t.match(await post(fromThePage(ada).headers), { status: 201 })
  t.match(
    await gateway.ask('POST', '/api/whms/warehouses', {
      by: people.ada,
      body: { name: 'B', timezone: 'UTC' },
      ...withCookie(ada),
    }),
    { status: 201 },
    'with Authorization the cookie counts for nothing, so no token is asked for',
  )
  const form = await gateway.ask('POST', '/api/session', {
    bytes: 'username=ada&secret=ada-secret',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  t.equal(form.status, 415, 'and no form of another site signs anybody in')
})

t.test('a session may do what its role may, and no more', async (t) => {
  const gateway = await gatewayFor(t)
  const vera = await signIn(gateway, people.vera)
  t.match(await gateway.ask('POST', '/api/whms/warehouses', { body: {}, ...fromThePage(vera) }), {
    status: 403,
    body: { error: { code: 'PERMISSION_DENIED' } },
  })
  t.equal((await gateway.ask('GET', '/api/webhooks', withCookie(vera))).status, 403)
  t.equal((await gateway.ask('GET', '/api/there/is/nothing', withCookie(vera))).status, 404)
})

/** Waits until the counted attempts are in the audit trail. */
async function tenMinutesLater(gateway: TestGateway): Promise<void> {
  gateway.clock.advance(10 * 60_000)
  await gateway.audit('flushed', {})
}

t.test('a thousand sign-ins are one row of the audit trail', async (t) => {
  const gateway = await gatewayFor(t)
  const firstMs = gateway.clock.now()
  for (let n = 0; n < 1000; n += 1) {
    if (n === 999) gateway.clock.advance(60_000)
    t.equal((await gateway.ask('POST', '/api/session', { body: credentialsOf(people.olga) })).status, 201)
  }
  await gateway.ask('POST', '/api/session', { body: credentialsOf(people.sven) })
  t.same(audited(gateway), [], 'nothing is written before it is complete')
  await tenMinutesLater(gateway)
  const first = new Date(firstMs).toISOString()
  const last = new Date(firstMs + 60_000).toISOString()
  t.match(audited(gateway), [
    { action: 'caller.signed_in', actor: 'olga', changes: { count: 1000, first, last } },
    { action: 'caller.signed_in', actor: 'sven', changes: { count: 1, first: last, last } },
  ])
})

t.test('signing out ends the session at the gateway, not only in the browser', async (t) => {
  const gateway = await gatewayFor(t)
  const olga = await signIn(gateway, people.olga)
  const elsewhere = await signIn(gateway, people.olga)
  const out = await gateway.ask('DELETE', '/api/session', fromThePage(olga))
  t.equal(out.status, 204)
  t.match(out.headers.getSetCookie(), [/^gatehouse=; Max-Age=0; Path=\//])
  t.match(await gateway.ask('GET', '/api/whms/slots', withCookie(olga)), {
    status: 401,
    body: { error: { code: 'SESSION_ENDED' } },
  })
  t.match((await gateway.ask('GET', '/api/session', withCookie(olga))).body, { caller: null })
  t.equal(
    (await gateway.ask('GET', '/api/whms/slots', withCookie(elsewhere))).status,
    200,
    'her other tablet stays signed in',
  )
  await tenMinutesLater(gateway)
  t.match(audited(gateway), [
    { action: 'caller.signed_in', actor: 'olga', mode: 'session', changes: { count: 2 } },
    { action: 'caller.signed_out', actor: 'olga', mode: 'session', changes: { count: 1 } },
  ])
})

t.test('who signs in again in the same browser leaves no session behind', async (t) => {
  const gateway = await gatewayFor(t)
  const first = await signIn(gateway, people.olga)
  const again = await gateway.ask('POST', '/api/session', { body: credentialsOf(people.sven), ...withCookie(first) })
  t.match(again, { status: 201, body: { caller: { username: 'sven' } } })
  t.equal((await gateway.ask('GET', '/api/whms/slots', withCookie(first))).status, 401)
})

t.test('a session lasts twelve hours from its last use, and thirty days at most', async (t) => {
  const gateway = await gatewayFor(t)
  const idle = await signIn(gateway, people.vera)
  const used = await signIn(gateway, people.olga)
  const statusOf = async (browser: Browser) => (await gateway.ask('GET', '/api/whms/slots', withCookie(browser))).status
  for (let hours = 0; hours < 11; hours += 1) {
    gateway.clock.advance(hourMs)
    t.equal(await statusOf(used), 200)
  }
  gateway.clock.advance(hourMs)
  t.equal(await statusOf(idle), 401, 'twelve hours unused')
  t.equal(await statusOf(used), 200)
  for (let days = 0; days < 29 * 2 + 1; days += 1) {
    gateway.clock.advance(12 * hourMs - 1000)
    t.equal(await statusOf(used), 200)
  }
  gateway.clock.advance(12 * hourMs - 1000)
  t.equal(await statusOf(used), 401, 'thirty days after sign-in, though it was used all the time')
})

t.test('role and account are those of now: changed, removed or with another secret', async (t) => {
  const gateway = await gatewayFor(t)
  const olga = await signIn(gateway, people.olga)
  const config = gateway.live.config
  const change = (users: typeof config.auth.users) => {
    gateway.live.config = { ...config, auth: { ...config.auth, users } }
  }
  const session = () => gateway.ask('GET', '/api/session', withCookie(olga))
  change(config.auth.users.map((user) => (user.username === 'olga' ? { ...user, role: 'viewer' as const } : user)))
  t.match((await session()).body.caller, { username: 'olga', role: 'viewer' }, 'a new role at once')
  t.equal((await gateway.ask('POST', '/api/whms/evidence/photos', { bytes: 'x', ...fromThePage(olga) })).status, 403)
  change(config.auth.users.filter((user) => user.username !== 'olga'))
  t.equal((await gateway.ask('GET', '/api/whms/slots', withCookie(olga))).status, 401, 'removed')
  change(config.auth.users)
  t.equal(
    (await gateway.ask('GET', '/api/whms/slots', withCookie(olga))).status,
    401,
    'and it does not come back with the account',
  )
  const sven = await signIn(gateway, people.sven)
  const adasHash = config.auth.users.find((user) => user.username === 'ada')?.secretHash ?? ''
  change(config.auth.users.map((user) => (user.username === 'sven' ? { ...user, secretHash: adasHash } : user)))
  t.equal((await gateway.ask('GET', '/api/whms/slots', withCookie(sven))).status, 401, 'another secret')
})

t.test('a restart signs nobody out, and the file holds no token', async (t) => {
  const before = await testGateway()
  const olga = await signIn(before, people.olga)
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  t.equal((await gateway.ask('GET', '/api/whms/slots', withCookie(olga))).status, 200)
  t.match((await gateway.ask('GET', '/api/session', withCookie(olga))).body, { csrfToken: olga.csrfToken })
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  t.teardown(() => db.close())
  const rows = db.prepare('SELECT * FROM console_session').all() as Record<string, unknown>[]
  t.equal(rows.length, 1)
  const token = olga.cookie.slice('gatehouse='.length)
  const stored = rows
    .flatMap((row) => Object.values(row))
    .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
  t.notOk(
    stored.some((value) => value.includes(token) || value.includes(Buffer.from(token, 'base64url').toString('latin1'))),
  )
})

t.test(
  'wrong secrets are refused alike, slowed down by address, and told in the audit trail with a count',
  async (t) => {
    const gateway = await gatewayFor(t, { rateLimit: { requestsPerMinute: 5 } })
    const attempt = (username: string, secret: string) =>
      gateway.ask('POST', '/api/session', { body: { username, secret } })
    const wrong = await attempt('olga', 'guess')
    const unknown = await attempt('nobody-at-all', 'olga-secret')
    t.match(wrong, { status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } })
    const { requestId: _, ...said } = wrong.body.error
    t.match(unknown.body.error, said, 'nobody learns which names exist')
    t.same(wrong.headers.getSetCookie(), [])
    t.match(
      await gateway.ask('POST', '/api/session', {
        body: { ...credentialsOf(people.olga), instance: 'https://evil.example' },
      }),
      {
        status: 401,
        body: { error: { code: 'STORAGE_INSTANCE_NOT_ALLOWED' } },
      },
    )
    for (let n = 0; n < 2; n += 1) t.equal((await attempt('olga', `guess-${n}`)).status, 401)
    const slowed = await attempt('olga', 'guess-9')
    t.match(slowed, { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
    t.ok(Number(slowed.headers.get('retry-after')) > 0)
    t.match(await attempt('sven', 'sven-secret'), { status: 201 }, 'the right secret, from the same address')
    t.same(audited(gateway), [])
    await tenMinutesLater(gateway)
    t.match(audited(gateway), [
      { action: 'caller.refused', actor: null, operator: 'olga', changes: { code: 'INVALID_CREDENTIALS', count: 4 } },
      { action: 'caller.refused', actor: null, operator: null, changes: { code: 'INVALID_CREDENTIALS', count: 1 } },
      { action: 'caller.refused', operator: null, changes: { code: 'STORAGE_INSTANCE_NOT_ALLOWED', count: 1 } },
      { action: 'caller.signed_in', actor: 'sven' },
    ])
  },
)

t.test('what was counted of refused sign-ins is written when the gateway stops', async (t) => {
  const before = await testGateway()
  for (const secret of ['a', 'b', 'c']) await before.ask('POST', '/api/session', { body: { username: 'olga', secret } })
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  t.match(audited(gateway), [{ changes: { count: 3 } }])
})

t.test('an open console leaves the rate of the same user’s scanner alone', async (t) => {
  const gateway = await gatewayFor(t, { rateLimit: { requestsPerMinute: 5 } })
  const olga = await signIn(gateway, people.olga)
  gateway.clock.advance(60_000)
  for (let n = 0; n < 5; n += 1) t.equal((await gateway.ask('GET', '/api/whms/slots', { by: people.olga })).status, 200)
  t.equal((await gateway.ask('GET', '/api/whms/slots', { by: people.olga })).status, 429)
  for (let n = 0; n < 5; n += 1) t.equal((await gateway.ask('GET', '/api/whms/slots', withCookie(olga))).status, 200)
  t.equal((await gateway.ask('GET', '/api/whms/slots', withCookie(olga))).status, 429, 'and has one of its own')
})

t.test('what can be no session is none, and a malformed sign-in says which field', async (t) => {
  const gateway = await gatewayFor(t)
  for (const value of ['', 'x', 'a'.repeat(43), "' OR 1=1 --", 'a'.repeat(4000)]) {
    const answer = await gateway.ask('GET', '/api/whms/slots', { headers: { Cookie: `gatehouse=${value}` } })
    t.equal(answer.status, 401, value.slice(0, 50))
  }
  t.match(await gateway.ask('POST', '/api/session', { body: { username: 'olga' } }), {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: 'secret' }] } },
  })
})

t.test('the page and its files are public, fixed, and let nothing foreign run', async (t) => {
  const gateway = await gatewayFor(t)
  const page = await gateway.ask('GET', '/')
  t.equal(page.status, 200)
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.equal(page.headers.get('cache-control'), 'no-cache')
  t.notMatch(page.text, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/, 'nothing inline')
  const policy = page.headers.get('content-security-policy') ?? ''
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ])
    t.ok(policy.split('; ').includes(rule), rule)
  t.notMatch(policy, /unsafe/)
  t.match(Object.fromEntries(page.headers), { 'x-content-type-options': 'nosniff', 'referrer-policy': 'same-origin' })
  const files = [...page.text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  t.equal(files.length, 3, 'script, style and icon')
  for (const path of files) {
    t.match(path, /^\/assets\/\w+-[A-Z0-9]{8}\.(js|css|svg)$/, 'named by what it says')
    const file = await gateway.ask('GET', path)
    t.equal(file.status, 200)
    t.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    const zipped = await gateway.api.request(path, { headers: { 'Accept-Encoding': 'gzip, br' } })
    t.equal(zipped.headers.get('content-encoding'), 'gzip')
    t.ok((await zipped.arrayBuffer()).byteLength < file.text.length + 32)
    const plain = await gateway.api.request(path, { headers: { 'Accept-Encoding': 'gzip;q=0' } })
    t.equal(plain.headers.get('content-encoding'), null)
  }
  const workers = [...(await consoleFiles())].filter(([, { isWorker }]) => isWorker)
  t.ok(workers.length > 0)
  for (const [name] of workers) {
    const worker = await gateway.ask('GET', `/${name}`)
    const rules = (worker.headers.get('content-security-policy') ?? '').split('; ')
    t.ok(rules.includes("default-src 'none'"), 'a worker asks nobody')
    t.notMatch(rules.join(), /connect-src|'unsafe-eval'|'self'/)
  }
  for (const path of ['/assets/index.html', '/assets/..%2fconsole.json', '/assets/__proto__', '/console.json'])
    t.equal((await gateway.ask('GET', path)).status, 404, path)
})

t.test('each page starts from one script', async (t) => {
  const gateway = await gatewayFor(t)
  for (const path of ['/', '/scan']) {
    const page = await gateway.ask('GET', path, { headers: { Accept: 'text/html' } })
    const scripts = [...page.text.matchAll(/<script type="module" src="([^"]+)">/g)].map(([, name = '']) => name)
    t.equal(scripts.length, 1, path)
    const script = await gateway.ask('GET', scripts[0] ?? '')
    t.equal(script.status, 200)
    t.equal(script.text.match(/\bimport\s*["{*]|\bfrom\s*"\.\//), null, `${path}: it imports no other file at once`)
    t.ok(/\bimport\("\.\/undrawn-/.test(script.text), `${path}: it loads the rest later`)
  }
})
