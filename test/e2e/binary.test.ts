import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { makeAccount, stateOf, writeConfig } from '../../scripts/bench/site.ts'
import { buildBinary, thisArch } from '../../scripts/build.ts'
import { playStory, titles } from '../../scripts/demo-parts/story.ts'
import { databaseFile } from '../../src/database/index.ts'
import { startResponder } from '../support/onvif/responder.ts'
import { type Daemon, isInstalled, runToEnd, startDaemon } from '../support/process.ts'

// Building takes some ten seconds, and longer on a busy machine.
t.setTimeout(300_000)

t.test('the single binary plays the whole story from an empty folder with an empty environment', async (t) => {
  const { path } = await buildBinary({ arch: thisArch() })
  const steps = await playStory({ command: path, bare: true, print: () => {} })
  t.same(
    steps.map((step) => step.step),
    Object.values(titles),
    'every step, in order',
  )
})

t.test('the single binary carries its own ffmpeg, Node and SQLite, and unpacks only under its cache', async (t) => {
  const { path } = await buildBinary({ arch: thisArch() })
  const cache = mkdtempSync(join(tmpdir(), 'gatehouse-binary-'))
  t.teardown(() => rmSync(cache, { recursive: true, force: true }))
  const run = (...args: string[]) =>
    execFileSync(path, args, {
      cwd: cache,
      env: { PKG_NATIVE_CACHE_PATH: cache },
      encoding: 'utf8',
      maxBuffer: 16 << 20,
    })
  const version = JSON.parse(run('version', '--json'))
  t.match(JSON.parse(run('version', '--sbom')), { bomFormat: 'CycloneDX', specVersion: '1.6', components: Array })
  t.match(version, { node: '24.21.0', sqlite: /^3\./, ffmpeg: { origin: 'bundled', version: String } })
  t.ok(version.ffmpeg.path.startsWith(cache))
  t.equal(statSync(version.ffmpeg.path).mode & 0o777, 0o755)
  t.match(JSON.parse(run('openapi')), { openapi: '3.1.0', paths: { '/api/whms/events': {} } })
  t.match(run('config', 'example'), /^site:$/m)
})

const asNumber = ['--user', '--map-user=54321', '--map-group=54321']
const noNumbers = !isInstalled('unshare', ...asNumber, 'true') && 'needs user namespaces'
t.test('the single binary serves a user who is only a number, as in a container', { skip: noNumbers }, async (t) => {
  const { path } = await buildBinary({ arch: thisArch() })
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-binary-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const run = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    runToEnd('unshare', [...asNumber, path, ...args], { cwd: folder, env: { PATH: process.env['PATH'], ...env } })
  t.match(await run({}, 'version'), { code: 1, stderr: /^gatehouse: this user has no home folder.*\n$/ })
  const made = await run({ PKG_NATIVE_CACHE_PATH: folder }, 'warehouse', 'add', '--name', 'A', '--timezone', 'UTC')
  t.match(made, { code: 0, stdout: 'warehouse 1: A\n', stderr: '' })
})

t.test('the single binary verifies a large ledger in two threads, running or by itself', async (t) => {
  const { path } = await buildBinary({ arch: thisArch() })
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-binary-'))
  let daemon: Daemon | undefined
  t.teardown(async () => {
    await daemon?.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  const args = ['--config', writeConfig(folder, await makeAccount())]
  const env = { PKG_NATIVE_CACHE_PATH: folder, PATH: process.env['PATH'] }
  const serve = () => startDaemon(args, { cwd: folder, command: path, env })
  await (await serve()).end('SIGTERM')
  const db = new BetterSqlite3(databaseFile(stateOf(folder)))
  db.exec('CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(20000000)); DROP TABLE padding')
  db.close()
  const verify = () => runToEnd(path, ['ledger', 'verify', '--json', ...args], { cwd: folder, env })
  const byItself = await verify()
  t.match(byItself, { code: 0, stderr: '' })
  daemon = await serve()
  t.equal(readFileSync(`/proc/${daemon.child.pid}/comm`, 'utf8'), 'gatehouse\n')
  daemon.child.kill('SIGUSR1')
  const byDaemon = await verify()
  t.notMatch(daemon.log(), 'Debugger listening')
  t.match(byDaemon, { code: 0, stderr: '' })
  t.same(JSON.parse(byDaemon.stdout), JSON.parse(byItself.stdout))
})

t.test('the single binary finds a camera and its streams', async (t) => {
  const { path } = await buildBinary({ arch: thisArch() })
  const shown = { source: 'lens', encoding: 'H264', width: 640, height: 360, fps: 10 } as const
  const camera = await startResponder({ profiles: [{ ...shown, token: 'a', name: 'a', url: 'rtsp://127.0.0.1/a' }] })
  t.teardown(() => camera.stop())
  const { code, stdout } = await runToEnd(path, ['camera', 'discover', '--target', `127.0.0.1:${camera.port}`])
  t.equal(code, 0)
  t.match(stdout, 'url: rtsp://127.0.0.1/a')
})
