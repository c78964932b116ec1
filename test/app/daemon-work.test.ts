import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import t from 'tap'
import { gatehouse, runToEnd } from '../support/process.ts'
import { ada, configText, headers, start, withConfig } from './daemon-folder.ts'

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
    t.match(refused, { code: 2, stdout: /^$/, stderr: /no user name/ }, JSON.stringify(name))
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
