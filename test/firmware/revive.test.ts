import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const firmware = join(import.meta.dirname, '../../firmware/root')
const script = join(firmware, 'usr/lib/gatehouse-appliance/revive')
const day = 86_400

type Box = { hasFailed?: boolean; exitCode?: number; state?: 'rw' | 'ro'; upSeconds?: number }

/** A box in a folder, which `look` checks once. Returns its commands to systemd. */
function box(t: Test) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-revive-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['run', 'proc', 'tools']) mkdirSync(join(root, folder))
  const did = join(root, 'did')
  const look = ({ hasFailed = false, exitCode = 1, state = 'rw', upSeconds = 3 * day }: Box) => {
    rmSync(did, { force: true })
    const answers = `case "$1" in is-failed) exit ${hasFailed ? 0 : 1};; show) echo ${exitCode};; *) echo "$*" >> ${did};; esac`
    writeFileSync(join(root, 'tools/systemctl'), `#!/bin/sh\n${answers}\n`, { mode: 0o755 })
    writeFileSync(join(root, 'proc/uptime'), `${upSeconds}.25 1.00\n`)
    const mounts = ['/dev/sda2 / squashfs ro 0 0', `/dev/sda4 /state ext4 ${state},noatime,errors=remount-ro 0 0`]
    writeFileSync(join(root, 'proc/mounts'), `${mounts.join('\n')}\n`)
    const env = { PATH: `${join(root, 'tools')}:${process.env['PATH']}`, GATEHOUSE_ROOT: root }
    const ran = spawnSync(script, { env, encoding: 'utf8' })
    t.equal(ran.status, 0, ran.stderr)
    return existsSync(did) ? readFileSync(did, 'utf8') : ''
  }
  return { look }
}

const startsIt = 'reset-failed gatehouse.service\n--no-block start gatehouse.service\n'
const startsTheBox = '--no-block reboot\n'

t.test('a gateway that systemd has given up is started again, and after an hour the whole box', async (t) => {
  const { look } = box(t)
  t.equal(look({}), '')
  for (const _ of [1, 2, 3]) t.equal(look({ hasFailed: true }), startsIt)
  t.equal(look({ hasFailed: true }), startsIt + startsTheBox)
})

t.test('a gateway that came back in between is no reason to start the box anew', async (t) => {
  const { look } = box(t)
  for (const _ of [1, 2, 3]) look({ hasFailed: true })
  t.equal(look({}), '')
  for (const _ of [1, 2, 3]) t.equal(look({ hasFailed: true }), startsIt)
})

t.test('the box starts anew at most once a day', async (t) => {
  const { look } = box(t)
  for (let n = 0; n < 10; n += 1) t.equal(look({ hasFailed: true, upSeconds: day - 1 }), startsIt)
  t.equal(look({ hasFailed: true, upSeconds: day }), startsIt + startsTheBox)
})

t.test('a bad config (78) is left to the admin', async (t) => {
  const { look } = box(t)
  for (let n = 0; n < 10; n += 1) t.equal(look({ hasFailed: true, exitCode: 78 }), '')
})

t.test('a state partition that a fault has made read-only is checked by a new start of the box', async (t) => {
  const { look } = box(t)
  for (const _ of [1, 2, 3]) t.equal(look({ state: 'ro' }), '')
  t.equal(look({ state: 'ro' }), startsTheBox)
})

/** Runs the script of the initramfs with programs that only note their arguments. `check` is the exit code of `e2fsck -p`. */
function mounts(t: Test, check: number): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-state-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const text = readFileSync(join(firmware, 'etc/initramfs-tools/scripts/init-bottom/gatehouse-state'), 'utf8')
  writeFileSync(join(folder, 'device'), '')
  const played = text
    .replace('. /scripts/functions', 'panic() { echo "panic $*" >> did; exit 1; }')
    .replace(/^device=.*$/m, 'device=device')
  for (const name of ['e2fsck', 'mount', 'chroot']) {
    const code = name === 'e2fsck' ? `[ "$1" != -p ] || exit ${check}` : ':'
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $1" >> did\n${code}\n`, { mode: 0o755 })
  }
  const env = { PATH: `${folder}:${process.env['PATH']}`, rootmnt: folder }
  const ran = spawnSync('sh', ['-c', played, 'gatehouse-state'], { cwd: folder, env, encoding: 'utf8' })
  t.equal(ran.status, 0, ran.stderr)
  return readFileSync(join(folder, 'did'), 'utf8').trim().split('\n')
}

t.test('a state partition with errors that need an answer is mended before it is mounted', async (t) => {
  t.strictSame(mounts(t, 0).slice(0, 2), ['e2fsck -p', 'mount -t'])
  for (const mended of [1, 2]) t.notOk(mounts(t, mended).includes('e2fsck -y'), `${mended}: mended without a question`)
  for (const left of [4, 5, 12])
    t.strictSame(mounts(t, left).slice(0, 3), ['e2fsck -p', 'e2fsck -y', 'mount -t'], `${left}`)
})
