import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isInstalled } from '../support/process.ts'

const script = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/update')
const dpkg = { skip: isInstalled('dpkg', '--version') ? false : 'no dpkg here' }

/** A box in a folder that runs image 1.9, and a bundle whose version RAUC reports as `version`. */
function box(t: Test, version: string) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-update-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['state/update', 'etc', 'tools']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'etc/gatehouse-image'), '1.9\n')
  const did = join(root, 'did')
  const program = (name: string, lines: string) =>
    writeFileSync(join(root, 'tools', name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  program('rauc', `if [ "$1" = info ]; then echo "RAUC_MF_VERSION='${version}'"; else echo "$1" >> ${did}; fi`)
  program('systemctl', `echo "$*" >> ${did}`)
  program('curl', `echo "curl $*" >> ${did}; while [ "$1" != -o ]; do shift; done; echo bundle > "$2"`)
  const run = (...args: string[]) => {
    const path = `${join(root, 'tools')}:${process.env['PATH']}`
    const ran = spawnSync(script, args, { env: { PATH: path, GATEHOUSE_ROOT: root }, encoding: 'utf8' })
    return { ...ran, did: existsSync(did) ? readFileSync(did, 'utf8') : '' }
  }
  const url = (address: string) => writeFileSync(join(root, 'state/update/url'), `${address}\n`)
  return { run, url }
}

t.test('a newer image is installed by night, and fetched by https only', dpkg, async (t) => {
  const { run, url } = box(t, '1.10')
  url('https://updates.example.com/gatehouse.raucb')
  const ran = run()
  t.match(ran, { status: 0, did: /--proto =https [\s\S]*^install\n--no-block reboot\n$/m }, ran.stderr)
  url('http://updates.example.com/gatehouse.raucb')
  const plain = run()
  t.match(plain, { status: 1, stderr: /https:\/\/ only/ })
  t.equal(plain.did, ran.did, 'nothing was fetched')
})

t.test('an older image, which has known faults, is installed by hand only', dpkg, async (t) => {
  const { run, url } = box(t, '1.8')
  url('https://updates.example.com/gatehouse.raucb')
  const byNight = run()
  t.match(byNight, { status: 1, stderr: /1\.8 is not newer than 1\.9/ })
  t.notMatch(byNight.did, 'install')
  t.equal(run('/tmp/older.raucb').status, 1)
  t.match(run('--allow-older', '/tmp/older.raucb'), { status: 0, did: /^install$/m })
})

t.test('a bundle that RAUC does not trust is not installed', dpkg, async (t) => {
  t.match(box(t, '').run('--allow-older', '/tmp/strange.raucb'), { status: 1, stderr: /signature/, did: /^$/ })
})
