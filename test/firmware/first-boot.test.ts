import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const script = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/first-boot')

/** Applies the network part of a first-boot.txt to a box in a folder. */
function apply(t: Test, ...settings: string[]) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-first-boot-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const at = (path: string) => join(root, path)
  for (const folder of ['efi', 'etc', 'state/ssh', 'state/network', 'state/update'])
    mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('efi/first-boot.txt'), settings.map((line) => `${line}\r\n`).join(''))
  const env = { ...process.env, GATEHOUSE_ROOT: root, GATEHOUSE_BOOT: at('efi'), GATEHOUSE_STATE: at('state') }
  const ran = spawnSync(script, ['network'], { env, encoding: 'utf8' })
  const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : undefined)
  return { status: ran.status, read }
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
