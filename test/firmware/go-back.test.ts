import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { applianceImage } from '../../src/platform/index.ts'

const script = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/go-back')

/**
 * A box in a folder that runs image 2.0 from slot B; in slot A is image 1.9.
 * @param serves how the gatehouse of 1.9 ends when it is asked about the ledger
 */
function box(t: Test, { isProven = true, serves = 0 }: { isProven?: boolean; serves?: number }) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-go-back-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const at = (path: string) => join(root, path)
  for (const folder of ['state/update', 'etc', 'proc', 'run', 'tools', 'other/etc', 'other/usr/bin']) {
    mkdirSync(at(folder), { recursive: true })
  }
  writeFileSync(at('etc/gatehouse-image'), '2.0\n')
  writeFileSync(at('proc/cmdline'), 'quiet rauc.slot=B panic=10\n')
  if (isProven) writeFileSync(at('state/update/healthy-A'), 'A 1.9\n')
  writeFileSync(at('other/etc/gatehouse-image'), '1.9\n')
  const program = (path: string, lines: string) => writeFileSync(at(path), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  program(
    'other/usr/bin/gatehouse',
    `[ "$2" = states ] || exit 2; [ ${serves} = 0 ] || echo 'the ledger is newer' >&2; exit ${serves}`,
  )
  program('tools/mount', `echo "mount $5" >> ${at('did')}; cp -r ${at('other')}/. "$6"`)
  program('tools/umount', `echo umount >> ${at('did')}`)
  for (const name of ['rauc', 'systemctl']) program(`tools/${name}`, `echo "${name} $*" >> ${at('did')}`)
  const goBack = (...args: string[]) => {
    const env = { PATH: `${at('tools')}:${process.env['PATH']}`, GATEHOUSE_ROOT: root }
    const ran = spawnSync(script, args, { env, encoding: 'utf8' })
    return { ...ran, did: existsSync(at('did')) ? readFileSync(at('did'), 'utf8') : '' }
  }
  return { root, at, goBack }
}

const looks = 'mount /dev/disk/by-partlabel/gatehouse-root-a\n'

t.test(
  'a person goes back to the system in the other slot, and the box does not take the newer one again',
  async (t) => {
    const { root, at, goBack } = box(t, {})
    t.match(goBack('--check'), { status: 0, stdout: '1.9\n', did: `${looks}umount\n` })
    const went = goBack()
    t.match(went, { status: 0, stdout: '1.9\n', stderr: '' })
    t.match(went.did, /rauc status mark-active other\nsystemctl --no-block reboot\numount\n$/)
    t.equal(readFileSync(at('state/update/refused'), 'utf8'), '2.0\n')
    writeFileSync(at('etc/gatehouse-image'), '1.9\n')
    t.match(applianceImage(root), { version: '1.9', openUpdate: null, lastUpdate: { result: 'current' } }, 'no alarm')
  },
)

t.test('there is no way back to a system that could not serve the ledger, or that proved nothing', async (t) => {
  const older = box(t, { serves: 1 })
  t.match(older.goBack(), {
    status: 1,
    stdout: '',
    stderr: /1\.9 cannot serve the ledger as it is now: the ledger is newer/,
    did: `${looks}umount\n`,
  })
  const unproven = box(t, { isProven: false })
  t.match(unproven.goBack(), { status: 1, stderr: /slot A holds no system that has proved itself/, did: '' })
})
