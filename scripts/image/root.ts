import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Arch } from '../../src/platform/bundle.ts'
import { buildFolder, root, say } from '../build/inputs.ts'
import { debianArch } from '../package/deb.ts'
import type { Keys } from './keys.ts'
import { run } from './run.ts'

export const suite = 'bookworm'
/** A PC with UEFI, or a Raspberry Pi 4. */
export type Box = 'amd64' | 'pi'
export const archOf: Readonly<Record<Box, Arch>> = { amd64: 'x64', pi: 'arm64' }

/** Debian packages that every box needs. */
const common = [
  ...['systemd', 'systemd-sysv', 'systemd-resolved', 'systemd-timesyncd', 'libpam-systemd', 'dbus', 'udev', 'kmod'],
  ...['initramfs-tools', 'firmware-realtek', 'zstd', 'e2fsprogs', 'dosfstools', 'fdisk', 'rauc', 'rauc-service'],
  ...['openssh-server', 'sudo', 'curl', 'ca-certificates', 'ffmpeg', 'smartmontools', 'iproute2', 'procps', 'less'],
  ...['init-system-helpers', 'debconf'],
]
const packages: Readonly<Record<Box, readonly string[]>> = {
  amd64: [...common, 'linux-image-amd64', 'intel-microcode', 'amd64-microcode', 'grub-common'],
  pi: [...common, 'linux-image-arm64', 'raspi-firmware'],
}
const left = ['doc', 'man', 'locale', 'info']

/** Numbers stand in the files of the state partition, so they are the same in every image. */
const people = { gatehouse: 800, admin: 1000 }

const enabled = [
  ...['systemd-networkd', 'systemd-resolved', 'systemd-timesyncd', 'ssh', 'gatehouse', 'gatehouse-network'],
  ...['gatehouse-first-boot', 'gatehouse-slot', 'gatehouse-grow', 'gatehouse-scales', 'gatehouse-update.timer'],
  'gatehouse-revive.timer',
]
// Keys from a keyboard scanner must reach neither a sign-in nor a restart. The next image brings the changes of apt.
const masked = [
  'getty@tty1',
  'ctrl-alt-del.target',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  // The doctor needs only the program of the package.
  'smartmontools.service',
  // For LVM, which is not there; it holds up every start.
  ...['e2scrub_reap.service', 'e2scrub_all.timer'],
]

/** A Debian of today as a tar, made once for a day: a rebuild brings its security corrections. */
async function debian(box: Box): Promise<string> {
  const day = new Date().toISOString().slice(0, 10)
  const wanted = packages[box].join()
  const what = createHash('sha256').update(wanted).digest('hex').slice(0, 12)
  const tar = join(buildFolder, `appliance-${suite}-${day}-${what}.tar`)
  if (existsSync(tar)) return tar
  say('fetching a Debian (mmdebstrap), some minutes')
  const without = left.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
  const sources = ['', '-updates'].map(
    (more) => `deb http://deb.debian.org/debian ${suite}${more} main non-free-firmware`,
  )
  sources.push(`deb http://deb.debian.org/debian-security ${suite}-security main non-free-firmware`)
  const part = `${tar}.part.tar`
  const options = ['--variant=minbase', `--architectures=${debianArch[archOf[box]]}`, ...without, `--include=${wanted}`]
  await run('mmdebstrap', [...options, suite, part, ...sources])
  renameSync(part, tar)
  return tar
}

type TreeOrder = { readonly box: Box; readonly work: string; readonly deb: string; readonly keys: Keys }

/** Makes the folder that becomes the root: Debian, the package, and what firmware adds. */
export async function makeTree({ box, work, deb, keys }: TreeOrder): Promise<string> {
  const tree = join(work, 'root')
  mkdirSync(tree)
  await run('tar', ['-xf', await debian(box), '-C', tree, '--exclude=./dev/*'])
  const inside = (script: string) =>
    run('chroot', [tree, '/bin/sh', '-euc', script], { LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' })
  const { gatehouse, admin } = people
  await inside(`groupadd -g ${gatehouse} gatehouse
    useradd -u ${gatehouse} -g ${gatehouse} -d /var/lib/gatehouse -s /usr/sbin/nologin -c gatehouse gatehouse
    useradd -u ${admin} -m -s /bin/bash -G sudo,systemd-journal,gatehouse admin
    echo 'admin ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/admin
    chmod 0440 /etc/sudoers.d/admin`)
  await run('cp', ['-a', '--no-preserve=ownership', `${join(root, 'firmware/root')}/.`, tree])
  if (box === 'pi') await run('cp', ['-a', '--no-preserve=ownership', `${join(root, 'firmware/pi/root')}/.`, tree])
  copyFileSync(keys.cert, join(tree, 'etc/rauc/keyring.pem'))
  copyFileSync(deb, join(tree, basename(deb)))
  await inside(`dpkg -i /${basename(deb)} && rm /${basename(deb)}
    systemctl -q enable ${enabled.join(' ')}
    systemctl -q mask ${masked.join(' ')}
    install -d -o gatehouse -g gatehouse -m 0750 /var/lib/gatehouse
    install -d -o gatehouse -g gatehouse -m 0700 /var/cache/gatehouse
    mkdir -p /state /efi
    ln -s /state/network/10-first-boot.network /etc/systemd/network/
    rm -f /etc/ssh/ssh_host_* /etc/resolv.conf
    ln -s /run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
    update-initramfs -u -k all
    rm -rf /boot/firmware /var/cache/apt/* /var/lib/apt/lists/* /var/log/* /tmp/* /var/cache/debconf/*-old`)
  writeFileSync(join(tree, 'etc/hostname'), 'gatehouse\n')
  writeFileSync(join(tree, 'etc/machine-id'), '')
  return tree
}

/**
 * Packs the folder as it is now into the read-only root, which calls itself `version`.
 * @param isQuick packs for an emulator, which unpacks this in a fraction of the time, into a larger file; for tests
 */
export async function packRoot(tree: string, version: string, to: string, isQuick = false): Promise<void> {
  writeFileSync(join(tree, 'etc/gatehouse-image'), `${version}\n`)
  // GRUB reads the kernel out of it, and knows gzip and lzo.
  const packing = isQuick ? ['-comp', 'lzo', '-Xalgorithm', 'lzo1x_1'] : ['-comp', 'gzip', '-Xcompression-level', '6']
  await run('mksquashfs', [tree, to, ...packing, '-b', '256K', '-noappend', '-quiet', '-no-progress'])
}
