import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { unitFile } from '../support/unit-file.ts'

const script = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/slot')

/**
 * A box in a folder that has started image 2.0 from slot B, beside an image in slot A.
 * Limits are short here: health must come within 20 s, and the trial has 100 s.
 * @param health what the gateway says of itself, as a test(1) of $n, how many pauses there were: true is healthy
 * @param other what the bootloader thinks of slot A
 */
function box(t: Test, { health, other = 'good' }: { health: string; other?: string }) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-slot-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['state/update', 'etc', 'proc', 'tools']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'etc/gatehouse-image'), '2.0\n')
  writeFileSync(join(root, 'proc/cmdline'), 'quiet rauc.slot=B panic=10\n')
  writeFileSync(join(root, 'state/set-up'), '')
  const [did, pauses] = [join(root, 'did'), join(root, 'pauses')]
  writeFileSync(pauses, '')
  const program = (name: string, lines: string) =>
    writeFileSync(join(root, 'tools', name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  const states = [
    ...["RAUC_SLOT_STATE_1='inactive'", `RAUC_SLOT_BOOT_STATUS_1='${other}'`],
    ...["RAUC_SLOT_STATE_2='booted'", "RAUC_SLOT_BOOT_STATUS_2='good'"],
  ]
  program(
    'rauc',
    `if [ "$2" = --output-format=shell ]; then cat <<X\n${states.join('\n')}\nX\nelse echo "rauc $*" >> ${did}; fi`,
  )
  program('systemctl', `case "$*" in *is-active*) exit 0;; esac; echo "systemctl $*" >> ${did}`)
  program('sleep', `echo >> ${pauses}`)
  program(
    'curl',
    `n=$(wc -l < ${pauses}); if [ ${health} ]; then echo '{"health":"degraded"}'; else echo '{"health":"unhealthy"}'; fi`,
  )
  const start = () => {
    const path = `${join(root, 'tools')}:${process.env['PATH']}`
    const env = { PATH: path, GATEHOUSE_ROOT: root, HEALTHY_WITHIN_SECONDS: '20', TRIAL_SECONDS: '100' }
    const ran = spawnSync(script, { env, encoding: 'utf8' })
    const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
    const note = (name: string) => read(join(root, 'state/update', name))
    return { ...ran, did: read(did), pauses: read(pauses).length, noted: note('healthy-B'), refused: note('refused') }
  }
  const notSetUp = () => rmSync(join(root, 'state/set-up'))
  const pass = () => appendFileSync(pauses, '\n')
  /** A note that cannot be written. */
  const full = () => mkdirSync(join(root, 'state/update/refused.new'))
  return { start, notSetUp, pass, full }
}

t.test('on a box, health has ten minutes to come, and the trial has ten more', async (t) => {
  const unit = unitFile(join(import.meta.dirname, '../../firmware/root/usr/lib/systemd/system/gatehouse-slot.service'))
  t.same(unit.get('Service.Environment'), ['HEALTHY_WITHIN_SECONDS=600 TRIAL_SECONDS=600'])
})

t.test('a new system keeps its slot when its trial is over, and the bootloader hears of it then', async (t) => {
  const { start } = box(t, { health: '$n -ge 5' })
  t.match(start(), { status: 0, did: /^rauc status mark-good booted\n$/, pauses: 5 + 10, noted: /^B 2\.0\n$/ })
  t.match(start(), { pauses: 5 + 10 }, 'there is no second trial')
})

t.test('a new system that lives but becomes unhealthy for a minute gives its slot up', async (t) => {
  const ran = box(t, { health: '$n -lt 4' }).start()
  t.match(ran, { status: 0, did: /^rauc status mark-bad booted\nsystemctl --no-block reboot\n$/, noted: /^$/ })
  t.match(ran.stdout, /was healthy, and has not been for 60 s; slot B is given up/)
})

t.test('a new system that never becomes healthy gives its slot up', async (t) => {
  const ran = box(t, { health: '1 -eq 0' }).start()
  t.match(ran, { status: 0, did: /mark-bad booted\nsystemctl --no-block reboot\n$/, pauses: 10, noted: /^$/ })
})

t.test('a system that gives its slot up is not to be installed again, and one that stays may be', async (t) => {
  t.equal(box(t, { health: '$n -lt 4' }).start().refused, '2.0\n')
  t.equal(box(t, { health: '1 -eq 0' }).start().refused, '2.0\n')
  t.equal(box(t, { health: '$n -ge 5' }).start().refused, '')
  t.equal(box(t, { health: '1 -eq 0', other: 'bad' }).start().refused, '')
  const { start, full } = box(t, { health: '1 -eq 0' })
  full()
  t.match(start(), { status: 0, did: /mark-bad booted\n.*reboot\n$/ }, 'a full disk does not keep the box in it')
})

t.test('half a minute without health ends no trial, and the trial does not end in it', async (t) => {
  t.match(box(t, { health: '$((n % 6)) -gt 2' }).start(), {
    did: /^rauc status mark-good booted\n$/,
    noted: /^B 2\.0\n$/,
  })
})

t.test('a system stays that has proved itself, or that has no other one beside it', async (t) => {
  const proven = box(t, { health: '$n -le 10' })
  proven.start()
  proven.pass()
  const later = proven.start()
  t.match(later, { status: 1, stdout: /was before, so it stays/, did: /^rauc status mark-good booted\n$/ })
  const alone = box(t, { health: '1 -eq 0', other: 'bad' }).start()
  t.match(alone, { status: 1, stdout: /no other system to go back to/, did: /^$/, noted: /^$/ })
})

t.test('a box that nobody has set up is well when ssh runs, and proves nothing', async (t) => {
  const { start, notSetUp } = box(t, { health: '1 -eq 0' })
  notSetUp()
  t.match(start(), { status: 0, did: /^rauc status mark-good booted\n$/, pauses: 0, noted: /^$/ })
})
