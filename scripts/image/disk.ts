import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import { run } from './run.ts'

const mib = 1 << 20
const bootMib = 128
/** Room for what a root becomes in years. */
const slotMib = 1536
const stateMib = 512
const startMib = 1
export const diskMib = startMib + bootMib + 2 * slotMib + stateMib + 1

const modules = [
  ...['part_gpt', 'fat', 'squash4', 'gzio', 'linux', 'normal', 'configfile', 'loadenv', 'regexp', 'test', 'echo'],
  ...['search', 'all_video', 'boot', 'efi_gop', 'reboot'],
]

/** Makes the disk without mounting anything: boot partition, two root slots of which the first is filled, state. */
export async function makeDisk({ work, squashfs, to }: { work: string; squashfs: string; to: string }): Promise<void> {
  if (statSync(squashfs).size > slotMib * mib) throw new Error(`the root does not fit its slot of ${slotMib} MiB`)
  const esp = await bootPartition(work)
  const state = join(work, 'state.ext4')
  writeFileSync(state, '')
  truncateSync(state, stateMib * mib)
  await run('mke2fs', ['-q', '-t', 'ext4', '-L', 'gatehouse-state', '-O', 'metadata_csum', '-m', '1', state])
  rmSync(to, { force: true })
  writeFileSync(to, '')
  truncateSync(to, diskMib * mib)
  await partition(to)
  const at = { esp: startMib, rootA: startMib + bootMib, state: startMib + bootMib + 2 * slotMib }
  await copyTo(to, esp, at.esp)
  await copyTo(to, squashfs, at.rootA)
  await copyTo(to, state, at.state)
}

async function partition(disk: string): Promise<void> {
  const linux = '0FC63DAF-8483-4772-8E79-3D69D8477DE4'
  const lines = [
    'label: gpt',
    `start=${startMib}MiB, size=${bootMib}MiB, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, name=gatehouse-boot`,
    `size=${slotMib}MiB, type=${linux}, name=gatehouse-root-a`,
    `size=${slotMib}MiB, type=${linux}, name=gatehouse-root-b`,
    `size=${stateMib}MiB, type=${linux}, name=gatehouse-state`,
    '',
  ]
  const child = spawn('sfdisk', ['--quiet', disk], { stdio: ['pipe', 'inherit', 'inherit'] })
  child.stdin.end(lines.join('\n'))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`sfdisk ended with ${code}`)
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
  writeFileSync(esp, '')
  truncateSync(esp, bootMib * mib)
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
