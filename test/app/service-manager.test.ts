import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createLogger, serviceManager } from '../../src/platform/index.ts'
import { needs } from '../support/needs.ts'
import { notifySocket } from '../support/notify-socket.ts'
import { startDaemon } from '../support/process.ts'
import { folder, withConfig } from './daemon-folder.ts'

// The daemon speaks to a socket that is not Node's: that systemd would hear it is shown by another program's sockets.
const python = { ...needs('python3'), timeout: 120_000 }
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
  // While it reloads, the daemon still sends WATCHDOG=1.
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

t.test('the journal gets the facts of a message as fields, and no fact passes for another field', python, async (t) => {
  const path = join(folder(t), 'journal')
  const journald = await notifySocket(t, path, 60)
  const log = createLogger({ format: 'journal', journalSocket: path, name: 'cameras' })
  log.warn({ cameraId: 7, url: 'rtsp://viewer:xyzzy@10.0.0.1/main', password: 'xyzzy' }, 'Dock door gives no pictures.')
  const { message } = await journald.heard('GATEHOUSE_CAMERA_ID=7')
  // systemd.journal-fields(7): 4 is a warning.
  for (const line of ['PRIORITY=4', 'SYSLOG_IDENTIFIER=gatehouse', 'GATEHOUSE_THREAD=cameras'])
    t.ok(message.includes(line), line)
  t.match(message[0], /^MESSAGE=WARN {2}Dock door gives no pictures\. \[cameras\] cameraId=7 /)
  t.notMatch(message.join('\n'), 'xyzzy')
  log.info({ note: 'a\nPRIORITY=0\nb', bad_key: 1, nested: { of: 2 } }, 'forged')
  const forged = (await journald.heard('GATEHOUSE_BAD_KEY=1')).message
  // Native journal protocol: the name, eight bytes of length, the value.
  const at = forged.indexOf('GATEHOUSE_NOTE')
  t.strictSame(forged.slice(at, at + 4), [
    'GATEHOUSE_NOTE',
    `${String.fromCodePoint(14, 0, 0, 0, 0, 0, 0, 0)}a`,
    'PRIORITY=0',
    'b',
  ])
  t.notMatch(forged.join('\n'), 'GATEHOUSE_NESTED')
})

t.test('what the journal does not take as an entry goes to stderr with its priority', python, async (t) => {
  const cwd = folder(t)
  const file = join(cwd, 'stderr')
  const fd = openSync(file, 'w')
  t.teardown(() => closeSync(fd))
  createLogger({ format: 'journal', fd, journalSocket: join(cwd, 'none') }).error('no journald')
  const path = join(cwd, 'journal')
  await notifySocket(t, path, 60)
  const log = createLogger({ format: 'journal', fd, journalSocket: path })
  log.warn(`too long: ${'x'.repeat(1_000_000)}`)
  t.match(readFileSync(file, 'utf8'), /^<3>ERROR no journald\n<4>WARN {2}too long: x+\n$/)
})
