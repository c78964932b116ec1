import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { controlSocketPath, daemonServes } from '../../src/app/control/client.ts'
import { type ControlActions, ControlSocket } from '../../src/app/control/control.ts'
import { ExitError } from '../../src/errors/index.ts'
import { nameOfUid, silentLogger } from '../../src/platform/index.ts'

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-control-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function socketOf(t: Test, runtimeDir: string, dataDir: string, more: Partial<ControlActions> = {}): ControlSocket {
  const verify = () => Promise.reject(new Error('not asked for'))
  const control = new ControlSocket({
    runtimeDir,
    actions: {
      dataDir,
      verify,
      verified: () => undefined,
      status: verify,
      metrics: verify,
      erasePerson: verify,
      import: verify,
      addWarehouse: verify,
      user: verify,
      prove: verify,
      rotateKeys: verify,
      backup: verify,
      beginExport: verify,
      ...more,
    },
    log: silentLogger(),
  })
  t.teardown(() => control.stop())
  return control
}

t.test('a second gateway with the same runtimeDir refuses to start, and the first is still reached', async (t) => {
  const runtimeDir = folder(t)
  await socketOf(t, runtimeDir, '/data/one').start()
  const refused = await socketOf(t, runtimeDir, '/data/two')
    .start()
    .catch((error: unknown) => error)
  t.ok(refused instanceof ExitError)
  t.match((refused as ExitError).message, controlSocketPath(runtimeDir))
  t.equal(await daemonServes(runtimeDir, '/data/one'), true)
  t.equal(lstatSync(controlSocketPath(runtimeDir)).mode & 0o777, 0o660)
})

t.test('a folder with blanks, colons and letters of other alphabets is reached too', async (t) => {
  const runtimeDir = join(folder(t), 'box 7: Häfen %41')
  await socketOf(t, runtimeDir, '/data/one').start()
  t.equal(await daemonServes(runtimeDir, '/data/one'), true)
})

t.test('a socket that nobody listens at any more is replaced', async (t) => {
  const runtimeDir = folder(t)
  const path = controlSocketPath(runtimeDir)
  // Bound, then closed under another name: what a kill -9 leaves.
  const dead = createServer()
  await new Promise<void>((resolve) => dead.listen(`${path}.old`, resolve))
  renameSync(`${path}.old`, path)
  await new Promise((resolve) => dead.close(resolve))
  t.ok(existsSync(path))
  await socketOf(t, runtimeDir, '/data/one').start()
  t.equal(await daemonServes(runtimeDir, '/data/one'), true)
})

t.test('stopping takes away its own socket, never another one', async (t) => {
  const runtimeDir = folder(t)
  const path = controlSocketPath(runtimeDir)
  const first = socketOf(t, runtimeDir, '/data/one')
  await first.start()
  await first.stop()
  t.notOk(existsSync(path))

  const second = socketOf(t, runtimeDir, '/data/one')
  await second.start()
  rmSync(path)
  const third = socketOf(t, runtimeDir, '/data/two')
  await third.start()
  await second.stop()
  t.equal(await daemonServes(runtimeDir, '/data/two'), true)
})

/** Sends a command as a user of the system. The request says that `ada` gives it. */
async function commandAs(path: string, uid: number, command: string, body: string): Promise<void> {
  const script = `require('node:http').request({ socketPath: process.argv[1], path: process.argv[2], method: 'POST',
    headers: { 'Content-Type': 'application/json' } }, (answer) => answer.resume()).end(process.argv[3])`
  const child = spawn(process.execPath, ['-e', script, path, command, body], { uid, gid: uid, stdio: 'inherit' })
  await once(child, 'exit')
}

t.test('a command is recorded in the name that the kernel states, whatever its message says', async (t) => {
  const runtimeDir = folder(t)
  const names: string[] = []
  const refused = (by: string) => {
    names.push(by)
    return Promise.reject(new Error('only the name counts'))
  }
  const control = socketOf(t, runtimeDir, '/data/one', {
    rotateKeys: refused,
    erasePerson: ({ by }) => refused(by),
    backup: ({ by }) => refused(by),
    import: (_, __, by) => refused(by),
    addWarehouse: (_, by) => refused(by),
    user: (_, by) => refused(by),
    beginExport: ({ by }) => refused(by),
  })
  await control.start()
  const path = controlSocketPath(runtimeDir)
  chmodSync(runtimeDir, 0o755)
  chmodSync(path, 0o666)
  const isRoot = process.getuid?.() === 0
  const uid = isRoot ? 65_534 : (process.getuid?.() ?? 0)
  const body = JSON.stringify({ by: 'ada', name: 'x' })
  const commands = [
    '/keys/rotate',
    '/person/erase',
    '/backup',
    '/warehouse/add',
    '/import/slots?by=ada',
    '/user',
    '/export',
  ]
  for (const command of commands) await commandAs(path, uid, command, body)
  t.equal(names.length, commands.length)
  t.strictSame([...new Set(names)], [nameOfUid(uid)])
  // Root can write any name into the file as well, so the name in front of sudo is kept.
  if (isRoot) await commandAs(path, 0, '/keys/rotate', body)
  t.strictSame(names.slice(commands.length), isRoot ? ['ada'] : [])
})
