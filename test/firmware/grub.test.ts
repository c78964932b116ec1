import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const root = join(import.meta.dirname, '../..')
const player = join(root, 'scripts/appliance/play-grub.sh')
const config = join(root, 'firmware/boot/grub.cfg')
const look = join(root, 'firmware/root/usr/lib/gatehouse-appliance/slot')

/** A PC whose GRUB is played, with readable slots and the content of its file of variables. */
function pc(t: Test, { slots = 'AB', says }: { slots?: string; says: string[] | string }) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-grub-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const slot of 'AB') {
    mkdirSync(join(folder, slot))
    if (!slots.includes(slot)) continue
    for (const file of ['vmlinuz', 'initrd.img']) writeFileSync(join(folder, slot, file), '')
  }
  const file = join(folder, 'grubenv')
  const text = typeof says === 'string' ? says : ['# GRUB Environment Block', ...says, ''].join('\n').padEnd(1024, '#')
  writeFileSync(file, text)
  return {
    /** Returns the output of GRUB. */
    start: () => {
      const args = [player, file, config, join(folder, 'A'), join(folder, 'B')]
      const { status, stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8' })
      t.equal(status, 0, stderr)
      return stdout
    },
    has: (line: string) => readFileSync(file, 'utf8').split('\n').includes(line),
    size: () => readFileSync(file).length,
    /**
     * Lets the system of a slot check its health, which is good. The other slot was healthy before or not. Plays the change
     * that RAUC makes in GRUB's file when it marks a slot as good. Returns the output.
     */
    healthyIn: (slot: 'A' | 'B', isOtherProven: boolean) => {
      const other = slot === 'A' ? 'B' : 'A'
      for (const name of ['efi', 'tools', 'etc', 'proc', 'state/update'])
        mkdirSync(join(folder, name), { recursive: true })
      symlinkSync(folder, join(folder, 'efi/grub'))
      writeFileSync(join(folder, 'etc/gatehouse-image'), '1.9\n')
      writeFileSync(join(folder, 'proc/cmdline'), `rauc.slot=${slot}\n`)
      if (isOtherProven) writeFileSync(join(folder, `state/update/healthy-${other}`), `${other} 2.0\n`)
      const program = (name: string, lines: string) =>
        writeFileSync(join(folder, 'tools', name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
      program(
        'rauc',
        `case $3 in booted) n=${slot};; other) n=${other};; esac; sed -i "s/^$n.TRY=.*/\${n}_TRY=0/" ${file}`,
      )
      program('systemctl', 'exit 0')
      const env = { PATH: `${join(folder, 'tools')}:${process.env['PATH']}`, GATEHOUSE_ROOT: folder }
      const limits = { HEALTHY_WITHIN_SECONDS: '20', TRIAL_SECONDS: '100' }
      const ran = spawnSync(look, { env: { ...env, ...limits }, encoding: 'utf8' })
      t.equal(ran.status, 0, ran.stderr)
      return ran.stdout
    },
  }
}

const asMade = ['ORDER=A B', 'A_OK=1', 'B_OK=0', 'A_TRY=0', 'B_TRY=0']
const updated = ['ORDER=B A', 'A_OK=1', 'B_OK=1', 'A_TRY=0', 'B_TRY=0']

t.test('a new disk starts from its first slot, and the start is counted', async (t) => {
  const { start, has, size } = pc(t, { slots: 'A', says: asMade })
  t.match(start(), /^boot root=PARTLABEL=gatehouse-root-a rootfstype=squashfs ro rauc\.slot=A /m)
  t.ok(has('A_TRY=1') && has('B_TRY=0'), 'the start is counted')
  t.equal(size(), 1024, 'GRUB writes over its file, which keeps its length')
})

t.test('a new system that does not prove itself has three starts', async (t) => {
  const { start, has } = pc(t, { says: updated })
  for (const time of [1, 2, 3]) {
    t.match(start(), /^boot root=PARTLABEL=gatehouse-root-b .*rauc\.slot=B /m)
    t.ok(has(`B_TRY=${time}`), `start ${time}`)
  }
  t.match(start(), /rauc\.slot=A /, 'then the one before starts')
  t.ok(has('B_TRY=3') && has('A_TRY=1'))
})

t.test('a system that cannot be read uses its starts up by itself', async (t) => {
  const said = pc(t, { slots: 'A', says: updated }).start()
  t.equal(said.match(/gatehouse: slot B cannot be started/g)?.length, 3)
  t.match(said, /rauc\.slot=A /)
})

t.test('a system that was given up is not started', async (t) => {
  const says = ['ORDER=B A', 'A_OK=1', 'B_OK=0', 'A_TRY=0', 'B_TRY=0']
  t.match(pc(t, { says }).start(), /rauc\.slot=A /)
})

t.test('a proven system that lost its power three times in a row starts again after the next good start', async (t) => {
  const { start, has, healthyIn } = pc(t, { says: updated })
  for (const _ of [1, 2, 3]) t.match(start(), /rauc\.slot=B /)
  t.match(start(), /rauc\.slot=A /)
  t.match(
    healthyIn('A', true),
    /slot B has used its starts up, and had proved itself before \(B 2\.0\); the next start/,
  )
  t.ok(has('A_TRY=0') && has('B_TRY=0'))
  t.match(start(), /rauc\.slot=B /)
})

t.test('a new system that used its starts up before it proved itself gets none back', async (t) => {
  const { start, healthyIn } = pc(t, { says: updated })
  for (const _ of [1, 2, 3, 4]) start()
  t.notMatch(healthyIn('A', false), /used its starts up/)
  t.match(start(), /rauc\.slot=A /)
})

t.test('a box whose starts are all used up begins anew', async (t) => {
  const { start, has } = pc(t, { says: ['ORDER=B A', 'A_OK=1', 'B_OK=1', 'A_TRY=3', 'B_TRY=3'] })
  t.match(start(), /rauc\.slot=B /)
  t.ok(has('B_TRY=1') && has('A_TRY=0'))
})

t.test('a file of variables that a power cut has eaten starts the first slot', async (t) => {
  for (const says of ['', '\0'.repeat(1024)]) t.match(pc(t, { says }).start(), /rauc\.slot=A /)
})

t.test(
  'the file of variables, which everyone can write who has the disk, changes nothing but the choice',
  async (t) => {
    const said = pc(t, { says: [...asMade, 'pick=B', 'part=3', 'root=elsewhere'] }).start()
    t.match(said, /^boot root=PARTLABEL=gatehouse-root-a /m)
  },
)
