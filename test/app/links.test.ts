import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { createLogger } from '../../src/platform/index.ts'
import { cheapHash, people, siteUrl, testGateway, tinyPng } from '../support/gateway.ts'
import { startDaemon } from '../support/process.ts'

t.setTimeout(120_000)
const photosPath = '/api/whms/evidence/photos'

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-links-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function configured(t: Test): { cwd: string; file: string; state: string } {
  const cwd = newFolder(t)
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(
    file,
    `site: { id: links, url: ${siteUrl} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
`,
  )
  return { cwd, file, state: join(cwd, 'state') }
}

t.test(
  'a daemon does not start while a link stands below its data folder, and touches nothing behind it',
  async (t) => {
    for (const name of [
      'gatehouse.db',
      'gatehouse.lock',
      'photos',
      'keys/box.key',
      'photos/ab',
      'clips/7.mp4',
      'lists',
    ]) {
      const { cwd, file, state } = configured(t)
      const target = join(cwd, 'of-somebody-else')
      mkdirSync(dirname(join(state, name)), { recursive: true })
      symlinkSync(target, join(state, name))
      const started = startDaemon(['--config', file], { cwd })
      t.teardown(async () => (await started.catch(() => undefined))?.end('SIGKILL'))
      const words = `${join(state, name)} is a symbolic link to ${target}`
      await t.rejects(started, { message: new RegExp(`${words}.*remove it.*mount --bind`, 's') }, name)
      t.notOk(existsSync(target), name)
    }
  },
)

t.test('the data folder itself may be a link, and is resolved once', async (t) => {
  const { cwd, file, state } = configured(t)
  mkdirSync(join(cwd, 'big-disk'))
  symlinkSync(join(cwd, 'big-disk'), state)
  const daemon = await startDaemon(['--config', file], { cwd })
  t.teardown(() => daemon.end('SIGKILL'))
  t.ok(existsSync(join(cwd, 'big-disk', 'gatehouse.db')))
  rmSync(state)
  symlinkSync(join(cwd, 'another'), state)
  const headers = {
    Authorization: 'Bearer ada-secret',
    'X-Storage-Instance': siteUrl,
    'X-Storage-Username': 'ada',
    'Content-Type': 'image/png',
  }
  const sent = await fetch(`${daemon.url}${photosPath}`, { method: 'POST', headers, body: tinyPng })
  t.equal(sent.status, 201)
  t.ok(existsSync(join(cwd, 'big-disk', 'photos')))
  t.notOk(existsSync(join(cwd, 'another')))
})

t.test('a photo that was exchanged for a link is not shown, and comes back when it is sent again', async (t) => {
  const lines: string[] = []
  const gateway = await testGateway({ log: createLogger({ write: (line) => lines.push(line) }) })
  t.teardown(() => gateway.end())
  const by = people.olga
  const { sha256 } = (await gateway.ask('POST', photosPath, { by, bytes: tinyPng })).body
  const file = join(gateway.folder, 'state', 'photos', sha256.slice(0, 2), `${sha256}.png`)
  const copy = join(gateway.folder, 'of-somebody-else')
  renameSync(file, copy)
  symlinkSync(copy, file)
  t.equal((await gateway.ask('GET', `${photosPath}/${sha256}`, { by })).status, 404)
  t.match(lines.join(''), /a file that is written down is a symbolic link/)
  t.equal((await gateway.ask('POST', photosPath, { by, bytes: tinyPng })).status, 201)
  t.equal((await gateway.ask('GET', `${photosPath}/${sha256}`, { by })).status, 200)
  t.same(readFileSync(copy), tinyPng)
})
