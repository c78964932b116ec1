import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import { emptyFile, layOut, slotsAndState, types } from './disk.ts'
import { run } from './run.ts'

const choiceMib = 128
const kernelMib = 256
const firmware = join(root, 'firmware/pi/boot')

const commandLine = (slot: 'A' | 'B') =>
  `root=PARTLABEL=gatehouse-root-${slot.toLowerCase()} rootfstype=squashfs ro rauc.slot=${slot} quiet panic=10 console=tty0 console=ttyS1,115200\n`

/**
 * Makes the FAT that a Raspberry Pi 4 starts a slot from: its firmware, kernel, initramfs and device trees, as the tree has them. It has
 * the command line of both slots, because one image is for either; as it is made it is for A.
 */
export async function packKernel({ work, tree }: { work: string; tree: string }): Promise<string> {
  const content = join(work, 'kernel')
  rmSync(content, { recursive: true, force: true })
  mkdirSync(content)
  const blobs = join(tree, 'usr/lib/raspi-firmware')
  for (const name of only(blobs, /^(start4|fixup4)\w*\.(elf|dat)$/))
    copyFileSync(join(blobs, name), join(content, name))
  const [version = ''] = only(join(tree, 'lib/modules'), /arm64$/)
  copyFileSync(join(tree, `boot/vmlinuz-${version}`), join(content, 'vmlinuz'))
  copyFileSync(join(tree, `boot/initrd.img-${version}`), join(content, 'initrd.img'))
  const trees = join(tree, `usr/lib/linux-image-${version}/broadcom`)
  for (const name of only(trees, /^bcm2711-rpi-.*\.dtb$/)) copyFileSync(join(trees, name), join(content, name))
  copyFileSync(join(firmware, 'config.txt'), join(content, 'config.txt'))
  writeFileSync(join(content, 'cmdline-a.txt'), commandLine('A'))
  writeFileSync(join(content, 'cmdline-b.txt'), commandLine('B'))
  writeFileSync(join(content, 'cmdline.txt'), commandLine('A'))
  const files = readdirSync(content).map((name) => join(content, name))
  return fat(join(work, 'kernel.fat'), 'GATEKERNEL', kernelMib, files)
}

/** Makes the disk of a Raspberry Pi 4: what it starts from, two kernels, two roots, state. */
export async function makePiDisk(order: { work: string; squashfs: string; kernel: string; to: string }): Promise<void> {
  const choice = [join(firmware, 'autoboot.txt'), join(root, 'firmware/boot/first-boot.example.txt')]
  const boot = await fat(join(order.work, 'choice.fat'), 'GATEHOUSE', choiceMib, choice)
  await layOut(order.to, [
    { name: 'gatehouse-boot', mib: choiceMib, type: types.data, content: boot },
    { name: 'gatehouse-kernel-a', mib: kernelMib, type: types.data, content: order.kernel },
    { name: 'gatehouse-kernel-b', mib: kernelMib, type: types.data },
    ...(await slotsAndState(order.work, order.squashfs)),
  ])
}

async function fat(path: string, label: string, size: number, files: readonly string[]): Promise<string> {
  emptyFile(path, size)
  await run('mkfs.vfat', ['-F', '32', '-n', label, path])
  await run('mcopy', ['-i', path, ...files, '::'])
  return path
}

/** The names in a folder that fit. Throws when there is none: such an image would not start. */
function only(folder: string, fits: RegExp): string[] {
  const names = readdirSync(folder).filter((name) => fits.test(name))
  if (names.length === 0) throw new Error(`there is nothing like ${fits} in ${folder}`)
  return names
}
