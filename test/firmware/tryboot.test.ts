import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const firmware = join(import.meta.dirname, '../../firmware/pi')
const script = join(firmware, 'root/usr/lib/gatehouse-appliance/tryboot')

/** A Raspberry Pi in a folder, which runs the slot that it is given. */
function pi(t: Test) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-tryboot-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['efi', 'state/update', 'run', 'proc']) mkdirSync(join(root, folder), { recursive: true })
  const file = join(root, 'efi/autoboot.txt')
  copyFileSync(join(firmware, 'boot/autoboot.txt'), file)
  const env = {
    ...process.env,
    ...{ GATEHOUSE_ROOT: root, GATEHOUSE_BOOT: join(root, 'efi'), GATEHOUSE_STATE: join(root, 'state') },
  }
  const argument = join(root, 'run/gatehouse-reboot-argument')
  /** Runs the script as RAUC does, and returns its answer. */
  const ask = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(script, words, { env, encoding: 'utf8' })
    t.equal(status, 0, `${words.join(' ')} ${stderr}`)
    return stdout.trim()
  }
  /** Starts as the bootloader does: [tryboot] when the previous system asked for it, else [all]. Returns the slot that runs. */
  const start = (isPowerCut = false) => {
    const isTried = existsSync(argument) && readFileSync(argument, 'utf8') === '0 tryboot' && !isPowerCut
    rmSync(argument, { force: true })
    const [, all, tried] = /\[all\]\ntryboot_a_b=1\nboot_partition=(\d)\n\[tryboot\]\nboot_partition=(\d)\n$/.exec(
      readFileSync(file, 'utf8'),
    ) as string[]
    const slot = (isTried ? tried : all) === '2' ? 'A' : 'B'
    writeFileSync(join(root, 'proc/cmdline'), `quiet rauc.slot=${slot} panic=10\n`)
    return slot
  }
  return { ask, start }
}

t.test('a new system is tried once, and stays when it has proved itself', async (t) => {
  const { ask, start } = pi(t)
  t.equal(start(), 'A')
  t.equal(ask('get-primary'), 'A')
  ask('set-state', 'B', 'bad')
  t.equal(ask('get-state', 'B'), 'bad', 'while it is written')
  ask('set-primary', 'B')
  t.equal(ask('get-primary'), 'B')
  t.equal(ask('get-state', 'B'), 'good')
  t.equal(start(), 'B')
  ask('set-state', 'B', 'good')
  t.equal(ask('get-primary'), 'B')
  t.equal(start(), 'B', 'from now on')
  ask('set-primary', 'A')
  t.equal(start(), 'A')
})

t.test('a system on trial that fails, or loses its power, gives way to the one before', async (t) => {
  const { ask, start } = pi(t)
  start()
  ask('set-primary', 'B')
  t.equal(start(), 'B')
  t.equal(start(true), 'A', 'it hung')
  ask('set-state', 'A', 'good')
  t.equal(ask('get-primary'), 'A', 'the try is over')
  t.equal(start(), 'A')
  ask('set-primary', 'B')
  t.equal(start(true), 'A', 'the power went before the new start')
  ask('set-primary', 'B')
  start()
  ask('set-state', 'B', 'bad')
  t.equal(ask('get-primary'), 'A')
  t.equal(start(), 'A')
  t.equal(ask('get-state', 'B'), 'bad')
})

t.test('a word that RAUC does not use is refused', async (t) => {
  t.equal(spawnSync(script, ['set-primary', 'C']).status, 2)
})
