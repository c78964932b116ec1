import { join } from 'node:path'
import t from 'tap'
import { serviceManager } from '../../src/platform/index.ts'
import { notifySocket } from '../support/notify-socket.ts'
import { isInstalled, startDaemon } from '../support/process.ts'
import { folder, withConfig } from './daemon-folder.ts'

// The daemon speaks to a socket that is not Node's: that systemd would hear it is shown by another program's sockets.
const python = { skip: isInstalled('python3', '--version') ? false : 'no Python here', timeout: 120_000 }
const intervalSeconds = 3

t.test('systemd hears that the gateway serves, lives, reloads and stops', python, async (t) => {
  const { cwd, file } = withConfig(t)
  const path = join(cwd, 'notify')
  const systemd = await notifySocket(t, path, intervalSeconds)
  const env = { ...process.env, NOTIFY_SOCKET: path, WATCHDOG_USEC: String(intervalSeconds * 1e6) }
  const daemon = await startDaemon(['--config', file], { cwd, env })
  t.teardown(() => daemon.end('SIGKILL'))
  const ready = await systemd.heard('READY=1')
  t.match(ready.message, ['READY=1', `STATUS=Serving daemon-test on ${daemon.url}`])
  t.equal((await fetch(`${daemon.url}/api/ping`)).status < 500, true, 'and by then it does')
  const alive = await systemd.heard('WATCHDOG=1', ready.at)
  await systemd.heard('WATCHDOG=1', alive.at + 1)

  daemon.child.kill('SIGHUP')
  const reloading = await systemd.heard('RELOADING=1')
  t.match(reloading.message[1], /^MONOTONIC_USEC=\d+$/)
  // What it hears while it waits: that the gateway lives.
  const first = await systemd.heard('WATCHDOG=1', reloading.at)
  const ended = systemd.heard('READY=1', reloading.at)
  const next = await Promise.race([ended, systemd.heard('WATCHDOG=1', first.at + 1)])
  t.equal(next.message[0], 'READY=1', 'and soon that the reload has ended')

  const before = systemd.messages.length
  daemon.child.kill('SIGSTOP')
  const { at } = await systemd.heard('TIMEOUT', before)
  daemon.child.kill('SIGCONT')
  await systemd.heard('WATCHDOG=1', at)
  const stopped = daemon.end('SIGTERM')
  await systemd.heard('STOPPING=1')
  t.equal(await stopped, 0)
})

t.test('a socket in no folder is reached too, and child processes get none of it', python, async (t) => {
  const name = `@gatehouse-test-${process.pid}`
  const systemd = await notifySocket(t, name, 60)
  const env = { NOTIFY_SOCKET: name, WATCHDOG_USEC: '60000000', WATCHDOG_PID: String(process.pid), PATH: '/bin' }
  const manager = serviceManager(env)
  t.equal(manager?.watchdogMs, 60_000)
  manager?.ready('a status\nof two lines')
  const { message } = await systemd.heard('READY=1')
  t.same(message, ['READY=1', 'STATUS=a status of two lines'])
  t.same(env, { PATH: '/bin' })
})

t.test('a gateway that systemd did not start tells nobody; one that cannot reach systemd does not start', async (t) => {
  t.equal(serviceManager({}), undefined)
  t.throws(() => serviceManager({ NOTIFY_SOCKET: join(folder(t), 'none') }), /no socket .* takes datagrams/)
  t.throws(() => serviceManager({ NOTIFY_SOCKET: `/${'x'.repeat(107)}` }), /longer than a socket's path/)
})

t.test('a watchdog that is meant for another process is not fed by this one', python, async (t) => {
  const path = join(folder(t), 'notify')
  await notifySocket(t, path, 60)
  t.equal(serviceManager({ NOTIFY_SOCKET: path, WATCHDOG_USEC: '1', WATCHDOG_PID: '1' })?.watchdogMs, undefined)
  t.equal(serviceManager({ NOTIFY_SOCKET: path })?.watchdogMs, undefined)
})
