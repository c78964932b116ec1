import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Box } from './root.ts'

/** Programs with which an image is made, and the packages of Debian that bring them. */
const packageOf: Readonly<Record<string, string>> = {
  mmdebstrap: 'mmdebstrap',
  mksquashfs: 'squashfs-tools',
  mcopy: 'mtools',
  'mkfs.vfat': 'dosfstools',
  mke2fs: 'e2fsprogs',
  sfdisk: 'fdisk',
  rauc: 'rauc',
  openssl: 'openssl',
}
const forPc = { 'grub-mkimage': 'grub-common', 'grub-editenv': 'grub-common' }
const modulesOfGrub = { folder: '/usr/lib/grub/x86_64-efi', package: 'grub-efi-amd64-bin' }
const emulatorForPi = { 'qemu-aarch64-static': 'qemu-user-static' }

/** Throws, before minutes have gone by, what apt has to install so that the image of this box can be made here. */
export function demandTools(box: Box): void {
  const wanted = { ...packageOf, ...(box === 'amd64' ? forPc : process.arch === 'arm64' ? {} : emulatorForPi) }
  const missing = Object.entries(wanted).flatMap(([program, name]) => (isInPath(program) ? [] : [name]))
  if (box === 'amd64' && !existsSync(modulesOfGrub.folder)) missing.push(modulesOfGrub.package)
  if (missing.length === 0) return
  throw new Error(`an image cannot be made without more programs: apt-get install ${[...new Set(missing)].join(' ')}`)
}

const isInPath = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => folder !== '' && canRun(join(folder, program)))

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
