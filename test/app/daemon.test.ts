import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { gatehouse, runToEnd, startDaemon } from '../support/process.ts'
import { ada, configText, folder, headers, start, withConfig } from './daemon-folder.ts'

t.test('without a config the gateway starts on defaults, and the first admin finds the secret in a file', async (t) => {
  const probe = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(8480, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  const cwd = folder(t)
  if (!isFree) {
    const refused = await runToEnd(gatehouse, ['serve'], { cwd })
    t.match(refused, { code: 1, stderr: /cannot listen on 127\.0\.0\.1:8480: another program uses that port/ })
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
