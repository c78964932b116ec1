import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import t, { type Test } from 'tap'
import { parseVkey } from '../support/evidence/note.ts'
import { mirrorLog } from '../support/evidence/tiles.ts'
import { people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { place, signedLedger } from '../support/tamper.ts'

t.setTimeout(300_000)

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mirror-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Answer = (path: string, headers?: Headers) => Promise<{ status: number; body: Uint8Array | string }>

/** Serves a log whose answers a test may change. */
async function served(t: Test, answer: () => Answer): Promise<string> {
  const server = createServer(
    getRequestListener(async (request) => {
      const { status, body } = await answer()(new URL(request.url).pathname, request.headers)
      return new Response(typeof body === 'string' ? body : new Uint8Array(body), { status })
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The API of a gateway, as its auditor sees it. */
const logOf =
  (gateway: TestGateway): Answer =>
  async (path) => {
    const { status, bytes } = await gateway.ask('GET', `/api/log${path}`, { by: people.ada })
    return { status, body: bytes }
  }

async function keyOf(gateway: TestGateway): Promise<string> {
  return (await gateway.ask('GET', '/api/health', { by: people.ada })).body.logKey
}

function mirroring(cwd: string, url: string, key: string) {
  return (...more: string[]) =>
    runToEnd(gatehouse, ['mirror', '--log', url, '--key', key, '--dir', 'copy', '--once', ...more], { cwd })
}

const rootOf = (url: string) => ({
  fetch: async (path: string) => {
    const response = await fetch(`${url}/${path}`)
    return response.ok ? Buffer.from(await response.arrayBuffer()) : undefined
  },
})

t.test('a mirror follows a gateway over restarts, and a stranger checks the log at the mirror alone', async (t) => {
  const gateway = await signedLedger(t)
  const key = await keyOf(gateway)
  const url = await served(t, () => logOf(gateway))
  const cwd = newFolder(t)
  const visit = mirroring(cwd, url, key)
  t.match(await visit(), { code: 0, stdout: '7 leaves, 7 of them new\n', stderr: '' })
  t.match(await visit(), { code: 0, stdout: '7 leaves, nothing new\n' })
  for (let n = 10; n < 280; n += 1) await place(gateway, n)
  await gateway.checkpoints.make()
  const args = ['mirror', '--log', url, '--key', key, '--dir', 'copy', '--listen', '127.0.0.1:0']
  const child = spawn(gatehouse, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.setEncoding('utf8')
  for await (const text of child.stdout) {
    said += text
    if (/leaves, 270 of them new/.test(said)) break
  }
  const [at = ''] = said.split('\n')
  const mirror = await mirrorLog({ ...rootOf(at), keys: [parseVkey(key)] })
  t.equal(mirror.size, 277)
  t.equal((await fetch(`${at}/tile/0/000.p/7`)).status, 200, 'also the partial tile of an earlier checkpoint')
  t.equal((await fetch(`${at}/tile/0/001.p/22`)).status, 404, 'and nothing beyond the newest one')
  t.equal((await fetch(`${at}/tile/0/%2e%2e/checkpoint`)).status, 404)
  t.equal((await fetch(`${at}/checkpoint`, { method: 'POST' })).status, 405, 'it only reads')
  child.kill('SIGTERM')
  t.same((await once(child, 'close'))[0], 143)
  t.same(readdirSync(join(cwd, 'copy', 'tile', '0')), ['000', '001.p'], 'one file for each number')
})

t.test('a log that was forked is refused with both checkpoints as evidence, and the copy stays', async (t) => {
  const gateway = await signedLedger(t)
  const key = await keyOf(gateway)
  gateway.close()
  const other = newFolder(t)
  cpSync(gateway.folder, other, { recursive: true })
  let log = await gateway.restart()
  t.teardown(() => log.close())
  const url = await served(t, () => logOf(log))
  const cwd = newFolder(t)
  const visit = mirroring(cwd, url, key)
  await place(log, 8)
  await log.checkpoints.make()
  t.match(await visit(), { code: 0, stdout: /^8 leaves/ })
  const held = readFileSync(join(cwd, 'copy', 'checkpoint'))
  log.close()
  log = await testGateway({ folder: other, clock: gateway.clock, config: { cameras: [] } })
  await place(log, 9)
  await log.checkpoints.make()
  t.match(await visit(), { code: 1, stderr: /REFUSED: the log was forked: two roots are signed over 8 leaves/ })
  await place(log, 10)
  await log.checkpoints.make()
  t.match(await visit(), { code: 1, stderr: /REFUSED: the log was forked: its 9 leaves do not begin with the 8 that/ })
  t.same(readFileSync(join(cwd, 'copy', 'checkpoint')), held)
  const evidence = readdirSync(join(cwd, 'copy', 'evidence'))
  t.equal(evidence.length, 6)
  for (const name of evidence.filter((one) => one.endsWith('.held.note'))) {
    t.same(readFileSync(join(cwd, 'copy', 'evidence', name)), held)
  }
  await visit()
  t.equal(readdirSync(join(cwd, 'copy', 'evidence')).length, 6, 'the same checkpoint is stored once')
  t.notOk(existsSync(join(cwd, 'copy', 'incoming')))
})

t.test('a forged, cut, shrinking, endless or missing answer is refused in words, and nothing is taken', async (t) => {
  const gateway = await signedLedger(t)
  const key = await keyOf(gateway)
  const real = logOf(gateway)
  const before = await real('/checkpoint')
  let answer: Answer = real
  const url = await served(t, () => answer)
  const cwd = newFolder(t)
  const visit = mirroring(cwd, url, key)
  const note = Buffer.from(before.body as Uint8Array).toString('utf8')
  const replaced =
    (path: string, status: number, body: Uint8Array | string): Answer =>
    async (asked) =>
      asked.startsWith(path) ? { status, body } : real(asked)

  const otherRoot = note.replace(/\n7\n.{6}/, '\n7\nAAAAAA')
  answer = replaced('/checkpoint', 200, otherRoot)
  t.match(await visit(), { code: 1, stderr: /REFUSED: a signature does not verify: the checkpoint is a forgery/ })
  answer = replaced('/checkpoint', 200, '<html>')
  t.match(await visit(), { code: 1, stderr: /REFUSED: this is no signed checkpoint/ })
  answer = replaced('/checkpoint', 200, Buffer.alloc(65 * 1024, 97))
  t.match(await visit(), { code: 1, stderr: /more than 65536 bytes/ })
  answer = replaced('/checkpoint', 401, 'no')
  t.match(await visit(), { code: 1, stderr: /HTTP 401; --username and --secret-file/ })
  const bundle = Buffer.from((await real('/tile/entries/000.p/7')).body as Uint8Array)
  bundle[40] = (bundle[40] ?? 0) ^ 1
  answer = replaced('/tile/entries/', 200, bundle)
  t.match(await visit(), {
    code: 1,
    stderr: /REFUSED: the leaves do not lead to the root that is signed over 7 leaves/,
  })
  answer = replaced('/tile/entries/', 200, bundle.subarray(0, 60))
  t.match(await visit(), { code: 1, stderr: /REFUSED: tile\/entries\/000\.p\/7 has fewer than 7 whole leaves/ })
  answer = replaced('/tile/entries/', 302, '')
  t.match(await visit(), { code: 1, stderr: /tile\/entries\/000\.p\/7: HTTP 302/ })
  t.notOk(existsSync(join(cwd, 'copy', 'checkpoint')))
  t.notOk(existsSync(join(cwd, 'copy', 'tile')))

  answer = real
  await place(gateway, 8)
  await gateway.checkpoints.make()
  t.match(await visit(), { code: 0, stdout: /^8 leaves, 8 of them new/ })
  answer = replaced('/checkpoint', 200, note)
  t.match(await visit(), { code: 1, stderr: /REFUSED: the log shows 7 leaves, and had signed 8: it was cut/ })
  const wrong = mirroring(cwd, url, key.replace('test-site', 'other'))
  t.match(await wrong(), { code: 2, stderr: /is not a verifier key/ })
  writeFileSync(join(cwd, 'copy', 'checkpoint'), otherRoot)
  t.match(await visit(), { code: 1, stderr: /copy\/checkpoint: a signature does not verify/ })
})

t.test('a gateway wants an account that may read leaves', async (t) => {
  const gateway = await signedLedger(t)
  const answer: Answer = async (path, headers) => {
    const asked = { headers: Object.fromEntries(headers ?? []) }
    const { status, bytes } = await gateway.ask('GET', `/api/log${path}`, asked)
    return { status, body: bytes }
  }
  const url = await served(t, () => answer)
  const cwd = newFolder(t)
  const visit = mirroring(cwd, url, await keyOf(gateway))
  writeFileSync(join(cwd, 'secret'), 'vera-secret')
  const signIn = ['--username', 'vera', '--secret-file', 'secret']
  t.match(await visit(), { code: 1, stderr: /HTTP 401/ })
  t.match(await visit('--username', 'vera'), { code: 2, stderr: /belong together/ })
  t.match(await visit(...signIn), { code: 1, stderr: /HTTP 401/ }, 'a gateway with another address')
  t.match(await visit(...signIn, '--instance', siteUrl), { code: 1, stderr: /entries.*HTTP 403/ }, 'a viewer')
  writeFileSync(join(cwd, 'secret'), 'ada-secret')
  t.match(await visit('--username', 'ada', '--secret-file', 'secret', '--instance', siteUrl), { code: 0 })
})
