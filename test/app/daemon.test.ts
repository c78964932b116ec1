import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { cheapHash } from '../support/gateway.ts'
import { type Daemon, gatehouse, runToEnd, startDaemon } from '../support/process.ts'

function folder(t: { teardown(end: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-daemon-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const configText = (more = '') => `site: { id: daemon-test, url: http://127.0.0.1:8480 }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
${more}`

function withConfig(t: { teardown(end: () => void): void }, more = ''): { cwd: string; file: string } {
  const cwd = folder(t)
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText(more))
  return { cwd, file }
}

async function start(t: { teardown(end: () => unknown): void }, cwd: string, file: string): Promise<Daemon> {
  const daemon = await startDaemon(['--config', file], { cwd })
  t.teardown(() =>
    daemon.child.exitCode === null && daemon.child.signalCode === null ? daemon.end('SIGKILL') : undefined,
  )
  return daemon
}

const headers = (username: string, secret: string) => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': 'http://127.0.0.1:8480',
  'X-Storage-Username': username,
  'Content-Type': 'application/json',
})
const ada = headers('ada', 'ada-secret')

t.test('without a config the gateway starts on defaults, and the first admin finds the secret in a file', async (t) => {
  const probe = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(8480, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  const cwd = folder(t)
  if (!isFree) {
    const refused = await runToEnd(gatehouse, ['serve'], { cwd })
    t.match(refused, { code: 1, stderr: /can't listen on 127\.0\.0\.1:8480: another program uses that port/ })
    return
  }
  const daemon = await startDaemon([], { cwd })
  t.teardown(() => daemon.end('SIGKILL'))
  const file = join(cwd, 'var', 'first-admin')
  t.equal(statSync(file).mode & 0o777, 0o600)
  const secret = readFileSync(file, 'utf8').trim()
  t.match(daemon.log(), file, 'the path is printed')
  t.notMatch(daemon.log(), secret, 'the secret is not')
  const answer = await fetch(`${daemon.url}/api/metrics`, { headers: headers('admin', secret) })
  t.equal(answer.status, 200, 'the secret opens')
  t.equal(await daemon.end('SIGTERM'), 0)
  const again = await startDaemon([], { cwd })
  t.teardown(() => again.end('SIGKILL'))
  t.equal(readFileSync(file, 'utf8').trim(), secret, 'a second start makes no second admin')
  t.equal((await fetch(`${again.url}/api/metrics`, { headers: headers('admin', secret) })).status, 200)
  t.equal(await again.end('SIGINT'), 0)
})

t.test('SIGTERM lets a request under way finish, and ends with 0', async (t) => {
  const { cwd, file } = withConfig(t)
  const daemon = await start(t, cwd, file)
  const body = JSON.stringify({ name: 'Hall', timezone: 'UTC' })
  const socket: Socket = connect(Number(new URL(daemon.url).port), '127.0.0.1')
  const lines = Object.entries(ada).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(
    `POST /api/whms/warehouses HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}Expect: 100-continue\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
  )
  await new Promise((resolve) => socket.once('data', resolve))
  const ended = daemon.end('SIGTERM')
  await daemon.logged('stopping')
  socket.write(body)
  const answer = await new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (part) => {
      text += part.toString()
    })
    socket.on('close', () => resolve(text))
  })
  t.match(answer, /HTTP\/1\.1 201/)
  t.equal(await ended, 0)
  t.notOk(existsSync(join(cwd, 'run', 'control.sock')), 'the control socket is gone')
})

t.test('SIGHUP applies what is live; a bad config changes nothing and is told with its line', async (t) => {
  const { cwd, file } = withConfig(t)
  const daemon = await start(t, cwd, file)
  const zones = async () => (await fetch(`${daemon.url}/api/whms/zones`, { headers: ada })).status
  t.equal(await zones(), 200)
  writeFileSync(file, configText('rateLimit: { requestsPerMinuet: 1 }'))
  daemon.child.kill('SIGHUP')
  await daemon.logged('the old one stays')
  t.match(daemon.log(), /gatehouse\.yaml:6:14.*requestsPerMinute/)
  t.equal(await zones(), 200)
  writeFileSync(file, configText('rateLimit: { requestsPerMinute: 1 }').replace('dataDir: state', 'dataDir: other'))
  daemon.child.kill('SIGHUP')
  await daemon.logged('config reloaded')
  t.match(daemon.log(), /"live":\["rateLimit\.requestsPerMinute"\],"restart":\["dataDir"\]/)
  t.equal(await zones(), 429, 'the new rate holds')
  t.notOk(existsSync(join(cwd, 'other')), 'the new folder waits for a restart')
})

t.test('a bad config ends the start with 78, names line, column and the key that was meant', async (t) => {
  const { cwd, file } = withConfig(t, 'webhooks: { retryShedule: [0s] }\n')
  for (const args of [
    ['serve', '--config', file],
    ['config', 'check', file],
  ]) {
    const { code, stderr, stdout } = await runToEnd(gatehouse, args, { cwd })
    t.equal(code, 78, args.join(' '))
    t.match(`${stderr}${stdout}`, /gatehouse\.yaml:6:13.*retryShedule.*retrySchedule/s)
  }
  t.notOk(existsSync(join(cwd, 'state')), 'nothing was made')
})

t.test('a second daemon on the same ledger is refused, and so is the ledger of another site', async (t) => {
  const { cwd, file } = withConfig(t)
  const daemon = await start(t, cwd, file)
  t.match(await runToEnd(gatehouse, ['serve', '--config', file], { cwd }), { code: 1, stderr: /another gatehouse/ })
  await daemon.end('SIGTERM')
  writeFileSync(file, configText().replace('id: daemon-test', 'id: elsewhere'))
  t.match(await runToEnd(gatehouse, ['serve', '--config', file], { cwd }), {
    code: 1,
    stderr: /belongs to site daemon-test/,
  })
})

t.test('ledger verify asks the running daemon over its socket, and reads the file when none runs', async (t) => {
  const { cwd, file } = withConfig(t)
  const daemon = await start(t, cwd, file)
  t.equal(statSync(join(cwd, 'run', 'control.sock')).mode & 0o777, 0o660)
  const verify = () => runToEnd(gatehouse, ['ledger', 'verify', '--config', file, '--json'], { cwd })
  const running = await verify()
  t.equal(running.code, 0, running.stderr)
  await daemon.end('SIGKILL')
  t.ok(existsSync(join(cwd, 'run', 'control.sock')), 'kill -9 leaves the socket behind')
  const stopped = await verify()
  t.same(JSON.parse(running.stdout), JSON.parse(stopped.stdout))
  t.match(JSON.parse(stopped.stdout), { ok: true, size: 0, siteId: 'daemon-test' })
  const again = await start(t, cwd, file)
  t.equal((await verify()).code, 0, 'and the next start takes its place')
  t.equal(await again.end('SIGTERM'), 0)
})

t.test('what was acknowledged is there after kill -9, and nothing twice', async (t) => {
  const { cwd, file } = withConfig(t, 'rateLimit: { requestsPerMinute: 100000 }\n')
  let daemon = await start(t, cwd, file)
  const post = (path: string, body: object, more = {}) =>
    fetch(`${daemon.url}/api/whms/${path}`, {
      method: 'POST',
      headers: { ...ada, ...more },
      body: JSON.stringify(body),
    })
  await post('warehouses', { name: 'Hall', timezone: 'UTC' })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await post('slots', { slot_id: 'A', zone: 'S', floor_plan_polygon })
  const acknowledged = new Set<string>()
  const scan = async (n: number) => {
    const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: `P-${n}` }
    const answer = await post('events', body, { 'Idempotency-Key': `k-${n}` }).catch(() => undefined)
    if (answer?.status === 201) acknowledged.add(`P-${n}`)
  }
  const all = Array.from({ length: 400 }, (_, n) => n)
  for (const round of [0, 1, 2]) {
    let sent = 0
    const killAfter = 60 + round * 70
    await Promise.all(
      Array.from({ length: 8 }, async (_, lane) => {
        for (const n of all.filter((m) => m % 8 === lane && !acknowledged.has(`P-${m}`))) {
          sent += 1
          if (sent === killAfter) daemon.child.kill('SIGKILL')
          await scan(n)
        }
      }),
    )
    await daemon.end('SIGKILL')
    daemon = await start(t, cwd, file)
  }
  for (const n of all) if (!acknowledged.has(`P-${n}`)) await scan(n)
  t.equal(acknowledged.size, 400)
  const found: string[] = []
  for (let after = 0; ; ) {
    const page = (await (
      await fetch(`${daemon.url}/api/whms/events?limit=500&after_seq=${after}`, { headers: ada })
    ).json()) as {
      data: { asset_barcode: string; seq: number }[]
    }
    if (page.data.length === 0) break
    found.push(...page.data.map((e) => e.asset_barcode))
    after = page.data.at(-1)?.seq ?? 0
  }
  t.same(found.toSorted(), [...acknowledged].toSorted(), 'each once')
  t.equal((await runToEnd(gatehouse, ['ledger', 'verify', '--config', file], { cwd })).code, 0)
})

t.test('what is no HTTP at all is answered, and a secret reaches neither log nor answer', async (t) => {
  const { cwd, file } = withConfig(t)
  const daemon = await start(t, cwd, file)
  const raw = (text: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1', () => socket.write(text))
      let answer = ''
      socket.on('data', (part) => {
        answer += part.toString()
      })
      socket.on('close', () => resolve(answer))
    })
  t.match(await raw('hello\r\n\r\n'), /400 Bad Request.*"success":false/s)
  t.match(await raw(`GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`), /400 Bad Request.*headers are too large/s)
  const wrong = await fetch(`${daemon.url}/api/whms/zones`, { headers: headers('ada', 'not-the-secret') })
  t.notMatch(await wrong.text(), 'not-the-secret')
  await fetch(`${daemon.url}/api/whms/zones`, { headers: ada })
  await daemon.end('SIGTERM')
  t.notMatch(daemon.log(), /ada-secret|not-the-secret/)
})

t.test('a credential works as it is printed, as bearer and as password, once its entry is in the config', async (t) => {
  const { cwd, file } = withConfig(t)
  const made = await runToEnd(
    gatehouse,
    ['credential', '--username', 'scanner-1', '--role', 'operator', '--config', file, '--json'],
    { cwd },
  )
  t.equal(made.code, 0, made.stderr)
  const { username, role, secret, secretHash, instance, ...rest } = JSON.parse(made.stdout)
  t.match(
    { username, role, instance, rest },
    { username: 'scanner-1', role: 'operator', instance: 'http://127.0.0.1:8480', rest: {} },
  )
  t.match(secretHash, /^scrypt:/)
  writeFileSync(
    file,
    configText().replace('users: [', `users: [{ username: scanner-1, role: operator, secretHash: "${secretHash}" }, `),
  )
  const daemon = await start(t, cwd, file)
  for (const Authorization of [`Bearer ${secret}`, `Basic ${btoa(`scanner-1:${secret}`)}`]) {
    const answer = await fetch(`${daemon.url}/api/whms/zones`, {
      headers: { ...headers('scanner-1', ''), Authorization },
    })
    t.equal(answer.status, 200, `as ${Authorization.split(' ')[0]}`)
  }
  for (const name of ['', 'x:y', ' x']) {
    const refused = await runToEnd(gatehouse, ['credential', '--username', name, '--role', 'viewer'], { cwd })
    t.match(refused, { code: 1, stdout: /^$/, stderr: /no user name/ }, JSON.stringify(name))
  }
  t.match(await runToEnd(gatehouse, ['credential', '--username', 'x', '--role', 'king'], { cwd }), {
    code: 2,
    stderr: /viewer, operator, supervisor, admin/,
  })
})

t.test('version says what runs here, and from where its ffmpeg comes', async (t) => {
  const { code, stdout } = await runToEnd(gatehouse, ['version', '--json'])
  t.equal(code, 0)
  t.match(JSON.parse(stdout), {
    version: /^\d+\.\d+\.\d+/,
    commit: String,
    node: /^24\./,
    sqlite: /^3\./,
    ffmpeg: { origin: /system|bundled/, path: String, version: String },
  })
})

t.test('the daemon prints labels by itself, also those that waited for its start', async (t) => {
  const printed: string[] = []
  const twice = Promise.withResolvers<void>()
  const printer = createServer({ allowHalfOpen: true }, (socket) => {
    let text = ''
    socket.on('data', (part) => {
      text += part
    })
    socket.on('end', () => {
      socket.end()
      if (printed.push(text) === 2) twice.resolve()
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => printer.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = printer.address() as { port: number }
  await new Promise((resolve) => printer.close(resolve)) // off, until the gateway was killed
  t.teardown(() => printer.close())
  const { cwd, file } = withConfig(t, `printers: [{ name: dock, host: 127.0.0.1, port: ${port} }]\n`)
  const first = await start(t, cwd, file)
  const post = (url: string, path: string, body: object) =>
    fetch(`${url}/api/whms/${path}`, { method: 'POST', headers: ada, body: JSON.stringify(body) })
  await post(first.url, 'assets', { asset_id: '00106141412345678908', type: 'pallet' })
  const asked = await post(first.url, 'labels/print', { asset_barcode: '00106141412345678908' })
  t.equal(asked.status, 201)
  t.equal((await post(first.url, 'labels/jobs/1/reprint', {})).status, 201)
  await first.end('SIGKILL')
  t.equal(printed.length, 0)
  await listen(port)
  await start(t, cwd, file)
  await twice.promise
  t.ok(printed.every((label) => label.includes('\\3E\\3B\\3E800106141412345678908^FS') && label.endsWith('^XZ\n')))
})
