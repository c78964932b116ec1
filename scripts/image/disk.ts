import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import { run } from './run.ts'

const mib = 1 << 20
const bootMib = 128
/** Room for a root that grows for years. */
const slotMib = 1536
const stateMib = 512
const startMib = 1
export const types = {
  efi: 'C12A7328-F81F-11D2-BA4B-00A0C93EC93B',
  data: 'EBD0A0A2-B9E5-4433-87C0-68B6B72699C7',
  linux: '0FC63DAF-8483-4772-8E79-3D69D8477DE4',
}

export type Partition = {
  readonly name: string
  readonly mib: number
  readonly type: string
  /** The file that lies in it; without one it is empty. */
  readonly content?: string
}

const modules = [
  ...['part_gpt', 'fat', 'squash4', 'gzio', 'linux', 'normal', 'configfile', 'loadenv', 'regexp', 'test', 'echo'],
  ...['search', 'all_video', 'boot', 'efi_gop', 'reboot'],
]

/** Makes the disk without mounting anything: boot partition, two root slots of which the first is filled, state. */
export async function makeDisk({ work, squashfs, to }: { work: string; squashfs: string; to: string }): Promise<void> {
  await layOut(to, [
    { name: 'gatehouse-boot', mib: bootMib, type: types.efi, content: await bootPartition(work) },
    ...(await slotsAndState(work, squashfs)),
  ])
}

/** Partitions behind the boot partitions of every box. */
export async function slotsAndState(work: string, squashfs: string): Promise<Partition[]> {
  if (statSync(squashfs).size > slotMib * mib) throw new Error(`the root does not fit its slot of ${slotMib} MiB`)
  const state = join(work, 'state.ext4')
  emptyFile(state, stateMib)
  await run('mke2fs', ['-q', '-t', 'ext4', '-L', 'gatehouse-state', '-O', 'metadata_csum', '-m', '1', state])
  return [
    { name: 'gatehouse-root-a', mib: slotMib, type: types.linux, content: squashfs },
    { name: 'gatehouse-root-b', mib: slotMib, type: types.linux },
    { name: 'gatehouse-state', mib: stateMib, type: types.linux, content: state },
  ]
}

/** Makes a disk of these partitions, one after the other; the last one can grow. */
export async function layOut(disk: string, partitions: readonly Partition[]): Promise<void> {
  emptyFile(disk, startMib + partitions.reduce((sum, one) => sum + one.mib, 0) + 1)
  const lines = partitions.map(({ name, mib: size, type }) => `size=${size}MiB, type=${type}, name=${name}`)
  const child = spawn('sfdisk', ['--quiet', disk], { stdio: ['pipe', 'inherit', 'inherit'] })
  child.stdin.end(['label: gpt', `start=${startMib}MiB, ${lines[0]}`, ...lines.slice(1), ''].join('\n'))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`sfdisk ended with ${code}`)
  let at = startMib
  for (const { mib: size, content } of partitions) {
    if (content !== undefined) await copyTo(disk, content, at)
    at += size
  }
}

export function emptyFile(path: string, size: number): void {
  rmSync(path, { force: true })
  writeFileSync(path, '')
  truncateSync(path, size * mib)
}

const copyTo = (disk: string, from: string, atMib: number) =>
  run('dd', [`if=${from}`, `of=${disk}`, 'bs=1M', `seek=${atMib}`, 'conv=notrunc,sparse', 'status=none'])

/** FAT, which every PC can open: GRUB, its choice of the slot, and the place of first-boot.txt. */
async function bootPartition(work: string): Promise<string> {
  const esp = join(work, 'boot.fat')
  const grub = join(work, 'BOOTX64.EFI')
  const environment = join(work, 'grubenv')
  await run('grub-mkimage', ['-O', 'x86_64-efi', '-o', grub, '-p', '/grub', ...modules])
  await run('grub-editenv', [environment, 'create'])
  await run('grub-editenv', [environment, 'set', 'ORDER=A B', 'A_OK=1', 'B_OK=0', 'A_TRY=0', 'B_TRY=0'])
  emptyFile(esp, bootMib)
  await run('mkfs.vfat', ['-F', '32', '-n', 'GATEHOUSE', esp])
  await run('mmd', ['-i', esp, '::EFI', '::EFI/BOOT', '::grub'])
  for (const [from, place] of [
    [grub, 'EFI/BOOT/BOOTX64.EFI'],
    [environment, 'grub/grubenv'],
    [join(root, 'firmware/boot/grub.cfg'), 'grub/grub.cfg'],
    [join(root, 'firmware/boot/first-boot.example.txt'), 'first-boot.example.txt'],
  ] as const) {
    await run('mcopy', ['-i', esp, from, `::${place}`])
  }
  return esp
}

/** Puts a file on the boot partition of a disk image, as a person does with a PC. */
export async function putOnBootPartition(disk: string, from: string, name: string): Promise<void> {
  await run('mcopy', ['-o', '-i', `${disk}@@${startMib}M`, from, `::${name}`])
}

/** Copies a disk image sparsely and makes it `gib` large. */
export async function copyDisk(from: string, to: string, gib: number): Promise<void> {
  mkdirSync(join(to, '..'), { recursive: true })
  await run('cp', ['--sparse=always', '--reflink=auto', from, to])
  truncateSync(to, gib * 1024 * mib)
}
