import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '../../scripts/demo-parts/ports.ts'
import { loadConfig } from '../../src/config/index.ts'
import { footage } from '../support/footage.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { StorageServer } from '../support/storage-server.ts'

const script = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/first-boot')

t.setTimeout(120_000)

/** A box in a folder, with a first-boot.txt. */
function box(t: Test, ...settings: string[]) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-first-boot-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const at = (path: string) => join(root, path)
  for (const folder of ['efi', 'etc', 'run', 'usr/bin', 'state/ssh', 'state/network', 'state/update'])
    mkdirSync(at(folder), { recursive: true })
  const fill = (...lines: string[]) =>
    writeFileSync(at('efi/first-boot.txt'), lines.map((line) => `${line}\r\n`).join(''))
  fill(...settings)
  const env = { ...process.env, GATEHOUSE_ROOT: root, GATEHOUSE_BOOT: at('efi'), GATEHOUSE_STATE: at('state') }
  const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : undefined)
  const network = () => spawnSync(script, ['network'], { env, encoding: 'utf8' }).status
  /** @param localPort where the gateway listens for programs of the box */
  const setUp = async (localPort: number) => {
    const own = `--config ${at('etc/gatehouse/gatehouse.yaml')} --data-dir ${at('data')} --local-port ${localPort}`
    writeFileSync(at('usr/bin/gatehouse'), `#!/bin/sh\nexec ${gatehouse} "$@" ${own}\n`, { mode: 0o755 })
    return runToEnd(script, ['gatehouse'], { env })
  }
  return { network, setUp, fill, read, at }
}

/** Applies the network part of a first-boot.txt. */
function apply(t: Test, ...settings: string[]) {
  const { network, read } = box(t, ...settings)
  return { status: network(), read }
}

t.test('a file from Windows gives the box its name, its keys, its address and its place of updates', async (t) => {
  const { status, read } = apply(
    t,
    '# about this box',
    'siteId = DC_7',
    'sshKey=ssh-ed25519 AAAA1 ada@laptop',
    'sshKey=ssh-ed25519 AAAA2 ben@laptop',
    ...['address=10.0.0.5/24', 'gateway=10.0.0.1', 'dns=10.0.0.2', 'ntp=10.0.0.3'],
    'updates=https://updates.example.com/gatehouse-amd64.raucb',
  )
  t.equal(status, 0)
  t.equal(read('etc/hostname'), 'dc-7\n')
  t.equal(read('state/ssh/authorized_keys'), 'ssh-ed25519 AAAA1 ada@laptop\nssh-ed25519 AAAA2 ben@laptop\n')
  const network = read('state/network/10-first-boot.network')
  for (const line of ['Address=10.0.0.5/24', 'Gateway=10.0.0.1', 'DNS=10.0.0.2', 'NTP=10.0.0.3', 'MulticastDNS=yes']) {
    t.ok(network?.split('\n').includes(line), line)
  }
  t.equal(read('state/update/url'), 'https://updates.example.com/gatehouse-amd64.raucb\n')
})

t.test('what is wrong is said on the boot partition, and nothing is applied', async (t) => {
  const unknown = apply(t, 'siteId=dc-7', 'sshKeys=ssh-ed25519 AAAA1')
  t.equal(unknown.status, 1)
  t.match(
    unknown.read('efi/first-boot.result.txt'),
    /there is no setting sshKeys; the settings are: siteId admin sshKey/,
  )
  t.equal(unknown.read('state/ssh/authorized_keys'), undefined)
  const bare = apply(t, 'address=10.0.0.5')
  t.equal(bare.status, 1)
  t.match(bare.read('efi/first-boot.result.txt'), /address "10\.0\.0\.5" needs the length of its network/)
  const name = apply(t, 'hostname=dc 7')
  t.equal(name.status, 1)
  t.match(name.read('efi/first-boot.result.txt'), /hostname "dc 7" may have letters/)
})

t.test('time servers and name servers count with DHCP too, and a fixed address is not lost by them', async (t) => {
  const { network, fill, read } = box(t, 'ntp=10.0.0.3', 'dns=10.0.0.2')
  t.equal(network(), 0)
  const lines = () => read('state/network/10-first-boot.network')?.split('\n') ?? []
  for (const line of ['DHCP=yes', 'DNS=10.0.0.2', 'NTP=10.0.0.3']) t.ok(lines().includes(line), line)
  fill('address=10.0.0.5/24', 'gateway=10.0.0.1')
  t.equal(network(), 0)
  fill('ntp=10.0.0.4')
  t.equal(network(), 1)
  t.match(read('efi/first-boot.result.txt'), /this box has a fixed address; give it again as address=/)
  fill('sshKey=ssh-ed25519 AAAA1 ada@laptop')
  t.equal(network(), 0)
  t.ok(lines().includes('Address=10.0.0.5/24'))
  fill('address=dhcp')
  t.equal(network(), 0)
  t.strictSame(lines(), [])
})

t.test('the gateway keeps the passwords of first-boot.txt, and the box keeps them nowhere else', async (t) => {
  const password = 'pass | of & the "camera"'
  const auth = { username: 'viewer', password }
  const camera = await startRtspServer({ streams: { hall: await footage('passer') }, auth })
  t.teardown(() => camera.stop())
  const server = await StorageServer.start({ users: [{ id: 'gw', groups: [], appPasswords: ['of the cloud'] }] })
  t.teardown(() => server.stop())
  const { network, setUp, read, at } = box(
    t,
    ...['siteId=dc-7', 'admin=ada', `url=https://dc-7.local:${await freePort()}`],
    ...['warehouse=Hall | North', 'timezone=Europe/Berlin'],
    ...[`storage=${server.url}`, 'storageUsername=gw', 'storagePassword=of the cloud'],
    ...[`camera=${camera.url('hall')}`, 'cameraUsername=viewer', `cameraPassword=${password}`],
  )
  t.equal(network(), 0)
  const ran = await setUp(await freePort())
  t.equal(ran.code, 0, ran.stderr)
  const { config } = loadConfig(at('etc/gatehouse/gatehouse.yaml'))
  const files = [config.storage.upload?.passwordFile ?? '', config.cameras[0]?.passwordFile ?? '']
  t.strictSame(
    files.map((file) => readFileSync(file, 'utf8').trim()),
    ['of the cloud', password],
  )
  for (const file of files) t.equal(statSync(file).mode & 0o777, 0o640)
  t.strictSame(readdirSync(at('run')), [])
  t.equal(read('efi/first-boot.txt'), undefined)
  const said = read('efi/first-boot.result.txt') ?? ''
  t.match(said, /gatehouse is set up: .*"admin":"ada"[\s\S]*first-boot\.txt is applied/)
  t.notMatch(said + ran.stderr, /of the cloud|of & the/)
  t.equal(read('state/set-up'), '')
})

t.test('a box is set up before its camera hangs, and a file with a mistake stays until it is corrected', async (t) => {
  const auth = { username: 'viewer', password: 'right' }
  const camera = await startRtspServer({ streams: { hall: await footage('passer') }, auth })
  t.teardown(() => camera.stop())
  const [port, localPort, nobody] = [await freePort(), await freePort(), await freePort()]
  const all = (password: string) => [
    ...['siteId=dc-7', 'admin=ada', `url=https://dc-7.local:${port}`, `camera=rtsp://127.0.0.1:${nobody}/later`],
    ...[`camera=${camera.url('hall')}`, 'cameraUsername=viewer', `cameraPassword=${password}`],
  ]
  const { network, setUp, fill, read, at } = box(t, 'adress=10.0.0.5/24', ...all('right'))
  t.equal(network(), 1)
  t.equal((await setUp(localPort)).code, 0, 'nothing to try again before the file is corrected')
  t.equal(read('state/set-up'), undefined)
  t.ok(read('efi/first-boot.txt'))
  fill(...all('wrong'))
  t.equal(network(), 0)
  for (const _ of [1, 2]) t.equal((await setUp(localPort)).code, 1)
  t.equal(read('efi/first-boot.result.txt')?.match(/refuses the user name or the password/g)?.length, 1)
  fill(...all('right'))
  t.equal(network(), 0)
  const ran = await setUp(localPort)
  t.equal(ran.code, 0, ran.stderr)
  t.match(read('efi/first-boot.result.txt'), /taken untried: .*later: Nothing answers at the address of the camera/)
  t.strictSame(
    loadConfig(at('etc/gatehouse/gatehouse.yaml')).config.cameras.map(({ url }) => url),
    [`rtsp://127.0.0.1:${nobody}/later`, camera.url('hall')],
  )
})
