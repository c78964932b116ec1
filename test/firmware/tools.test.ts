import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const script = join(import.meta.dirname, '../../scripts/image.ts')

/** Runs the command on a machine that has these programs and no other. */
function makeImage(t: Test, programs: readonly string[], args: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tools-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const program of programs) writeFileSync(join(folder, program), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { PATH: folder, NODE_NO_WARNINGS: '1' },
  })
  return { status, words: `${stdout}${stderr}` }
}

const ofDebian = ['mmdebstrap', 'mksquashfs', 'mcopy', 'mkfs.vfat', 'mke2fs', 'openssl']

t.test('an image that cannot be made here says at once what apt has to install', async (t) => {
  const { status, words } = makeImage(t, ofDebian)
  t.equal(status, 1)
  t.match(words, /: apt-get install fdisk rauc grub-common/, 'each package once')
})

t.test('the image of a Pi needs no boot loader of a PC', async (t) => {
  const { status, words } = makeImage(t, ofDebian, ['--box', 'pi'])
  t.equal(status, 1)
  t.match(words, /: apt-get install fdisk rauc( qemu-user-static)?\n/)
})
