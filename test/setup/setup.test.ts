import { spawn } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '../../scripts/demo-parts/ports.ts'
import { importer, startGateway } from '../../src/app/index.ts'
import { checkConfig, loadConfig } from '../../src/config/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { silentLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { StorageServer } from '../support/storage-server.ts'

t.setTimeout(240_000)

function folderOf(t: Test): string {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-set-up-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  return cwd
}

/** `gatehouse setup` with these flags, and these answers, one a line. */
async function setup(cwd: string, flags: readonly string[], answers: readonly string[] = []) {
  const args = ['setup', '--config', 'etc/gatehouse.yaml', '--json', ...flags]
  const { code, stdout, stderr } = await runToEnd(gatehouse, args, {
    cwd,
    input: answers.map((a) => `${a}\n`).join(''),
  })
  return { code, stderr, made: code === 0 ? JSON.parse(stdout) : undefined }
}

/** The bytes of every file below a folder but those of the ledger. */
function filesBelow(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => !name.startsWith('data') && statSync(join(folder, name)).isFile())
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  )
}

async function serve(t: Test, configFile: string) {
  const outside = { clock: systemClock, random: systemRandom, log: silentLogger(), version: '1.2.3', configFile }
  const running = await startGateway(loadConfig(configFile).config, outside, configFile)
  let isOver = false
  const stop = async () => {
    if (!isOver) await running.stop()
    isOver = true
  }
  t.teardown(stop)
  return { running, stop }
}

/** The first placement on a box that was set up: a list of slots, then the scan, both as the admin. */
async function place(
  url: string,
  gateway: Awaited<ReturnType<typeof serve>>['running']['gateway'],
  admin: string,
  secret: string,
) {
  const list = { kind: 'slots', dryRun: false, createZones: true, grid: true, warehouse: undefined } as const
  await importer(gateway)(Buffer.from('slot_id\nA-01-01\n'), list, 'root')
  const headers = { Authorization: `Bearer ${secret}`, 'X-Storage-Instance': url, 'X-Storage-Username': admin }
  const photo_url = 'https://photos.example/1.jpg'
  const event = { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: '4711', photo_url }
  return fetch(`${url}/api/whms/events`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(event),
  })
}

t.test('a box is set up by answering questions, and the first pallet is placed with the printed sign-in', async (t) => {
  const cwd = folderOf(t)
  const auth = { username: 'viewer', password: 'pass of the camera' }
  const camera = await startRtspServer({
    streams: { hall: await footage('passer') },
    auth,
    clockAheadMs: 3 * 3_600_000,
  })
  t.teardown(() => camera.stop())
  const url = `http://127.0.0.1:${await freePort()}`
  const answers = [
    ...['bad id!', 'dc-7', 'none', url, 'ada', ''],
    ...['http://no-camera', camera.url('hall'), auth.username, auth.password, ''],
    ...['Nordhalle', 'Nowhere/Land', 'Europe/Berlin'],
  ]
  const { code, made, stderr } = await setup(cwd, ['--data-dir', 'data'], answers)
  t.equal(code, 0, stderr)
  t.match(stderr, /Id of this site.*\n? {2}[^\n]*/)
  t.match(stderr, /gives pictures: 320 x 180, h264/)
  t.match(stderr, /CHANGE clock of the camera, 3 hours ahead: .*set the time server \(NTP\) of the camera\./)
  const configFile = join(cwd, 'etc/gatehouse.yaml')
  t.strictSame(made, {
    url,
    admin: 'ada',
    secretFile: join(cwd, 'etc/secrets/account-ada'),
    caFingerprint: null,
    configFile,
  })
  const text = readFileSync(configFile, 'utf8')
  t.notMatch(text, auth.password)
  const secret = readFileSync(made.secretFile, 'utf8').trim()
  t.notMatch(text + stderr, secret)
  t.equal(statSync(made.secretFile).mode & 0o777, 0o600)
  t.match(checkConfig(configFile), { problems: { length: 0 }, faults: { length: 0 } })
  t.match(loadConfig(configFile).config, {
    site: { id: 'dc-7', url },
    cameras: [{ id: 1, url: camera.url('hall'), username: 'viewer' }],
  })
  const { running } = await serve(t, configFile)
  const placed = await place(url, running.gateway, 'ada', secret)
  t.equal(placed.status, 201, await placed.text())
})

t.test('each question is a flag as well: whoever gives all of them is asked nothing', async (t) => {
  const cwd = folderOf(t)
  const auth = { username: 'viewer', password: 'pass of the camera' }
  const camera = await startRtspServer({ streams: { hall: await footage('passer') }, auth })
  t.teardown(() => camera.stop())
  const server = await StorageServer.start({ users: [{ id: 'gw', groups: [], appPasswords: ['of the cloud'] }] })
  t.teardown(() => server.stop())
  writeFileSync(join(cwd, 'camera'), `${auth.password}\n`, { mode: 0o600 })
  writeFileSync(join(cwd, 'storage'), 'of the cloud\n', { mode: 0o600 })
  const url = `http://127.0.0.1:${await freePort()}`
  const site = ['--site-id', 'dc-7', '--url', url, '--tls', 'none', '--admin', 'ada', '--data-dir', 'data']
  const hall = ['--warehouse', 'Nordhalle', '--timezone', 'Europe/Berlin']
  const cameras = ['--camera', camera.url('hall'), '--camera-username', 'viewer', '--camera-password-file', 'camera']
  const storage = ['--storage', server.url, '--storage-username', 'gw', '--storage-password-file', 'storage']
  const receivers = ['--webhook-network', '10.1.0.0/16', 'fd00::/8']
  const all = await setup(cwd, [...site, ...hall, ...cameras, ...storage, ...receivers])
  t.match(all, { code: 0, made: { url, admin: 'ada' } }, all.stderr)
  t.notMatch(all.stderr, /: $|\]: /m, 'no question')
  t.match(loadConfig(join(cwd, 'etc/gatehouse.yaml')).config, {
    ...{ site: { id: 'dc-7', url }, auth: { users: [{ username: 'ada', role: 'admin' }] } },
    ...{ cameras: [{ username: 'viewer' }], storage: { upload: { username: 'gw' } } },
    webhooks: { allowNetworks: ['10.1.0.0/16', 'fd00::/8'] },
  })
  const bare = folderOf(t)
  const none = await setup(bare, [...site, ...hall, '--camera', '', '--storage', ''])
  t.match(none, { code: 0 }, 'the end of the input is no network')
  t.strictSame(loadConfig(join(bare, 'etc/gatehouse.yaml')).config.cameras, [])
})

t.test('setup run again changes no byte of what it is not asked, and adds what it is', async (t) => {
  const cwd = folderOf(t)
  const [port, localPort] = [await freePort(), await freePort()]
  const flags = ['--yes', '--data-dir', 'data', '--site-id', 'dc-7', '--url', `https://gate.example:${port}`]
  const first = await setup(cwd, [...flags, '--port', `${port}`, '--local-port', `${localPort}`, '--timezone', 'UTC'])
  t.equal(first.code, 0, first.stderr)
  const ca = new X509Certificate(readFileSync(join(cwd, 'etc/tls/ca.pem')))
  t.equal(first.made.caFingerprint, ca.fingerprint256)
  const before = filesBelow(cwd)
  const again = await setup(cwd, ['--yes'])
  t.match(again, { code: 0, made: first.made })
  t.strictSame(filesBelow(cwd), before)
  const more = await setup(cwd, ['--yes', '--admin', 'grace'])
  t.match(more, { code: 0, made: { configFile: join(cwd, 'etc/conf.d/50-setup.yaml') } })
  const after = filesBelow(cwd)
  for (const [name, hash] of Object.entries(before)) t.equal(after[name], hash, name)
  t.strictSame(
    loadConfig(join(cwd, 'etc/gatehouse.yaml')).config.auth.users.map(({ username }) => username),
    ['admin', 'grace'],
  )
})

t.test('a config that is there keeps its bytes; the box has an authority, and serves by its certificate', async (t) => {
  const cwd = folderOf(t)
  const example = (await runToEnd(gatehouse, ['config', 'example'])).stdout
  t.equal((await runToEnd('mkdir', ['etc'], { cwd })).code, 0)
  writeFileSync(join(cwd, 'etc/gatehouse.yaml'), example)
  const [port, localPort] = [await freePort(), await freePort()]
  const ports = ['--port', `${port}`, '--local-port', `${localPort}`]
  const flags = ['--yes', '--data-dir', 'data', '--site-id', 'dc-9', '--url', `https://localhost:${port}`, ...ports]
  const { code, made, stderr } = await setup(cwd, flags)
  t.equal(code, 0, stderr)
  t.equal(readFileSync(join(cwd, 'etc/gatehouse.yaml'), 'utf8'), example)
  t.equal(made.configFile, join(cwd, 'etc/conf.d/50-setup.yaml'))
  await serve(t, join(cwd, 'etc/gatehouse.yaml'))
  const answer = request({ host: 'localhost', port, path: '/api/ping', ca: readFileSync(join(cwd, 'etc/tls/ca.pem')) })
  answer.end()
  const [response] = (await once(answer, 'response')) as [{ statusCode: number }]
  t.equal(response.statusCode, 200)
  t.equal((await fetch(`http://127.0.0.1:${localPort}/api/ping`)).status, 200)
})

t.test('site.id may be set again while the ledger has no event, and never after', async (t) => {
  const cwd = folderOf(t)
  const url = `http://127.0.0.1:${await freePort()}`
  const flags = ['--yes', '--url', url, '--tls', 'none', '--data-dir', 'data', '--timezone', 'UTC']
  t.equal((await setup(cwd, [...flags, '--site-id', 'first'])).code, 0)
  const configFile = join(cwd, 'etc/gatehouse.yaml')
  // A gateway that served has signed the empty log.
  const empty = await serve(t, configFile)
  const refused = await setup(cwd, ['--yes', '--site-id', 'second'])
  t.match(refused, { code: 1, stderr: /stop the gateway before site\.id is changed/ })
  await empty.stop()
  t.match(await setup(cwd, ['--yes', '--site-id', 'second']), { code: 0 })
  const { running, stop } = await serve(t, configFile)
  t.equal(running.gateway.logIdentity.siteId, 'second')
  const secret = readFileSync(join(cwd, 'etc/secrets/account-admin'), 'utf8').trim()
  t.equal((await place(url, running.gateway, 'admin', secret)).status, 201)
  await running.gateway.checkpoints.make()
  await stop()
  const verified = verifyLedger(join(cwd, 'data'))
  t.match(verified, { ok: true, siteId: 'second', size: 1 }, JSON.stringify(verified.mismatches))
  const late = await setup(cwd, ['--yes', '--site-id', 'third'])
  t.match(late, { code: 1, stderr: /belongs to site second, and its log has 1 leaves: site\.id is chosen once/ })
  t.equal(loadConfig(configFile).config.site.id, 'second')
})

t.test('passwords that come in files are copied for the gateway, which can read no file of root', async (t) => {
  const cwd = folderOf(t)
  const server = await StorageServer.start({ users: [{ id: 'gw', groups: [], appPasswords: ['of the cloud'] }] })
  t.teardown(() => server.stop())
  writeFileSync(join(cwd, 'pw'), 'of the cloud\n', { mode: 0o600 })
  const flags = ['--yes', '--tls', 'none', '--url', `http://127.0.0.1:${await freePort()}`, '--data-dir', 'data']
  const account = ['--storage', server.url, '--storage-username', 'gw', '--storage-password-file', 'pw']
  const { code, stderr } = await setup(cwd, [...flags, ...account])
  t.equal(code, 0, stderr)
  rmSync(join(cwd, 'pw'))
  const configFile = join(cwd, 'etc/gatehouse.yaml')
  t.match(checkConfig(configFile), { problems: { length: 0 }, faults: { length: 0 } })
  const file = loadConfig(configFile).config.storage.upload?.passwordFile ?? ''
  t.equal(file, join(cwd, 'etc/secrets/storage'))
  t.equal(statSync(file).mode & 0o777, 0o640)
  t.equal(readFileSync(file, 'utf8'), 'of the cloud\n')
})

t.test('a password file that the admin keeps beside the config is used where it is', async (t) => {
  const cwd = folderOf(t)
  const auth = { username: 'viewer', password: 'of the camera' }
  const camera = await startRtspServer({ streams: { hall: await footage('passer') }, auth })
  t.teardown(() => camera.stop())
  mkdirSync(join(cwd, 'etc/secrets'), { recursive: true })
  writeFileSync(join(cwd, 'etc/secrets/hall'), `${auth.password}\n`, { mode: 0o640 })
  const flags = ['--yes', '--tls', 'none', '--url', `http://127.0.0.1:${await freePort()}`, '--data-dir', 'data']
  const account = ['--camera-username', auth.username, '--camera-password-file', 'etc/secrets/hall']
  const { code, stderr } = await setup(cwd, [...flags, '--camera', camera.url('hall'), ...account])
  t.equal(code, 0, stderr)
  const [only] = loadConfig(join(cwd, 'etc/gatehouse.yaml')).config.cameras
  t.equal(only?.passwordFile, join(cwd, 'etc/secrets/hall'))
  t.strictSame(readdirSync(join(cwd, 'etc/secrets')).sort(), ['account-admin', 'hall'])
})

t.test(
  'a storage server that is not there yet is taken untried when that is asked for, and one that refuses is not',
  async (t) => {
    const cwd = folderOf(t)
    const server = await StorageServer.start({ users: [{ id: 'gw', groups: [], appPasswords: ['right'] }] })
    t.teardown(() => server.stop())
    writeFileSync(join(cwd, 'pw'), 'of the cloud\n', { mode: 0o600 })
    const flags = [
      '--yes',
      '--take-silent',
      '--tls',
      'none',
      '--url',
      `http://127.0.0.1:${await freePort()}`,
      '--data-dir',
      'data',
    ]
    const account = ['--storage-username', 'gw', '--storage-password-file', 'pw']
    const refused = await setup(cwd, [...flags, '--storage', server.url, ...account])
    t.match(refused, { code: 1, stderr: /gw cannot sign in at .*HTTP 401/ })
    const silent = `http://127.0.0.1:${await freePort()}`
    const taken = await setup(cwd, [...flags, '--storage', silent, ...account])
    t.match(taken, { code: 0, stderr: /taken untried: .* does not answer as a storage server/ }, taken.stderr)
    const { storage } = loadConfig(join(cwd, 'etc/gatehouse.yaml')).config
    t.match(storage, {
      instances: [{ url: silent }],
      upload: { username: 'gw', passwordFile: join(cwd, 'etc/secrets/storage') },
    })
  },
)

t.test('an answer that does not work is refused, and nothing is written', async (t) => {
  const cwd = folderOf(t)
  const server = await StorageServer.start({ users: [{ id: 'gw', groups: [], appPasswords: ['right'] }] })
  t.teardown(() => server.stop())
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  writeFileSync(join(cwd, 'pw'), 'wrong\n', { mode: 0o600 })
  const free = ['--yes', '--tls', 'none', '--url', `http://127.0.0.1:${await freePort()}`, '--data-dir', 'data']
  const account = ['--storage', server.url, '--storage-username', 'gw', '--storage-password-file', 'pw']
  const tries = await Promise.all([
    setup(cwd, ['--yes', '--tls', 'none', '--url', `http://127.0.0.1:${port}`]),
    setup(cwd, [...free, '--camera', 'rtsp://127.0.0.1:1/none']),
    setup(cwd, [...free, '--camera', 'rtsp://u:hidden@127.0.0.1:1/none']),
    setup(cwd, [...free, ...account]),
    setup(cwd, [...free, '--timezone', 'Nowhere/Land']),
    setup(cwd, [...free, '--site-id', 'not an id']),
    setup(cwd, ['--data-dir', 'data'], ['dc-7']),
  ])
  const expected = [
    /another program listens at 127\.0\.0\.1:\d+; --port/,
    /gives no picture: Nothing answers at the address of the camera/,
    /leave user name and password out/,
    /gw cannot sign in at .*HTTP 401/,
    /Nowhere\/Land.*IANA/,
    /not an id/,
    /there is no answer to "TLS.*nothing was changed/,
  ]
  // A malformed value is an error of the command line. Everything else was tried and failed.
  const isUsage = [false, false, true, false, true, true, false]
  for (const [at, pattern] of expected.entries()) t.match(tries[at], { code: isUsage[at] ? 2 : 1, stderr: pattern })
  t.notMatch(tries.map(({ stderr }) => stderr).join(''), /hidden/)
  t.strictSame(readdirSync(cwd), ['pw'])
})

/** Runs a command at a separate terminal, and types each answer after its question. Returns the text on the screen. */
async function atTerminal(
  cwd: string,
  command: string,
  answers: readonly (readonly [question: string, answer: string])[],
) {
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = [...answers]
  let screen = ''
  let lookFrom = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    const [next] = waiting
    const at = next === undefined ? -1 : screen.indexOf(next[0], lookFrom)
    if (next === undefined || at < 0) return
    lookFrom = at + next[0].length
    waiting.shift()
    child.stdin.write(`${next[1]}\r`)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, screen }
}

t.test('at a terminal a password is not shown, and the address comes as a QR code', needs('script'), async (t) => {
  const cwd = folderOf(t)
  const auth = { username: 'viewer', password: 'never-on-the-screen' }
  const camera = await startRtspServer({ streams: { hall: await footage('passer') }, auth })
  t.teardown(() => camera.stop())
  const url = `http://127.0.0.1:${await freePort()}`
  const flags = `--tls none --url ${url} --data-dir data --site-id dc-7 --admin ada --storage '' --warehouse Hall --timezone UTC`
  const { code, screen } = await atTerminal(cwd, `'${gatehouse}' setup --config etc/g.yaml ${flags}`, [
    ['no camera): ', camera.url('hall')],
    ['user name (empty: none): ', auth.username],
    ['its password: ', auth.password],
    ['no further one): ', ''],
    ['no network): ', ''],
  ])
  t.equal(code, 0, screen)
  t.match(screen, /sign in as {3}ada at http/)
  t.match(screen, /█|▀/)
  t.notMatch(screen, auth.password)
  t.equal(readFileSync(join(cwd, 'etc/secrets/camera-1'), 'utf8'), `${auth.password}\n`)
})

t.test(
  'a first installation asks for the networks of webhook receivers, and a later one adds what a flag names',
  async (t) => {
    const cwd = folderOf(t)
    const url = `http://127.0.0.1:${await freePort()}`
    const networks = () => loadConfig(join(cwd, 'etc/gatehouse.yaml')).config.webhooks.allowNetworks
    const flags = [
      '--site-id',
      'dc-7',
      '--url',
      url,
      '--tls',
      'none',
      '--admin',
      'ada',
      '--data-dir',
      'data',
      '--camera',
      '',
    ]
    const others = [...flags, '--storage', '', '--warehouse', 'Nordhalle', '--timezone', 'Europe/Berlin']
    const bad = await setup(cwd, [...others, '--webhook-network', '10.0.0/8'])
    t.not(bad.code, 0)
    t.match(bad.stderr, /webhook receivers.*"10\.0\.0\/8"/)
    t.strictSame(filesBelow(cwd), {}, 'nothing was written')
    const first = await setup(cwd, others, ['the office', '10.1.2.3/16', 'fd00::/8', ''])
    t.equal(first.code, 0, first.stderr)
    t.match(first.stderr, /Private network of webhook receivers/)
    t.strictSame(networks(), ['10.1.0.0/16', 'fd00::/8'])
    const again = await setup(cwd, [...flags, '--storage', '', '--warehouse', ''])
    t.equal(again.code, 0, again.stderr)
    t.notMatch(again.stderr, /webhook receivers/, 'it is not asked again')
    t.strictSame(networks(), ['10.1.0.0/16', 'fd00::/8'])
    const files = filesBelow(cwd)
    const same = await setup(cwd, [
      ...flags,
      '--storage',
      '',
      '--warehouse',
      '',
      '--webhook-network',
      '10.1.2.3/16',
      '',
    ])
    t.equal(same.code, 0, same.stderr)
    t.strictSame(filesBelow(cwd), files, 'a network that is there changes no byte')
    const more = await setup(cwd, [...flags, '--storage', '', '--warehouse', '', '--webhook-network', '192.168.7.0/24'])
    t.equal(more.code, 0, more.stderr)
    t.strictSame(networks(), ['10.1.0.0/16', 'fd00::/8', '192.168.7.0/24'])
  },
)
