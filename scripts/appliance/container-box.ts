import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, cpSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../build/inputs.ts'
import { type Partitions, PowerDisk } from './power-disk.ts'
import { run } from './trial.ts'

const restarts = 133
const path = '/run/tools:/usr/sbin:/usr/bin:/sbin:/bin'
const plainEnvironment = { PATH: path, HOME: '/root', TERM: 'dumb', LC_ALL: 'C.UTF-8' }
// For plain bundles RAUC calls it as `unsquashfs -dest FOLDER BUNDLE FILE`; the image needs it for nothing else, and has it not.
const unsquashfs = `#!/bin/sh
set -eu
at=$(mktemp -d)
mount -o ro,loop "$3" "$at"
mkdir -p "$2"
cp "$at/$4" "$2/"
umount "$at"
`

type Needs = {
  readonly folder: string
  readonly image: string
  readonly firstBoot: string
  /** A volume with the updates. */
  readonly stick: string
}

/**
 * Runs the system of the image in a container, on a disk whose power can be cut. It has its own systemd and units, state partition,
 * RAUC and both slots, and runs at the speed of this machine. The kernel is the one of this machine. The script of the initramfs
 * and grub.cfg are played, and the boot partition is a folder. The kernel may lack dm-verity, so RAUC takes plain bundles.
 */
export class ContainerBox {
  readonly #needs: Needs
  readonly #disk: PowerDisk
  #partitions: Partitions | undefined
  #nspawn: ChildProcess | undefined
  #proxy: ChildProcess | undefined
  #isOn = false

  constructor(needs: Needs) {
    this.#needs = needs
    this.#disk = new PowerDisk(needs.folder, needs.image)
    for (const name of ['efi/grub', 'conf', 'root', 'stick', 'by-partlabel'])
      mkdirSync(this.#at(name), { recursive: true })
    cpSync(needs.firstBoot, this.#at('efi/first-boot.txt'))
    const conf = (name: string, text: string) => writeFileSync(this.#at(`conf/${name}`), text)
    conf('fstab', 'tmpfs /tmp tmpfs nosuid,nodev,mode=1777 0 0\n')
    conf('nothing', '')
    conf('unsquashfs', unsquashfs)
    chmodSync(this.#at('conf/unsquashfs'), 0o755)
    conf('path.conf', `[Manager]\nDefaultEnvironment=PATH=${path}\n`)
    conf('rauc.service.conf', `[Service]\nEnvironment=PATH=/usr/lib/gatehouse-appliance/bin:${path}\n`)
    conf('cmdline.conf', '[Service]\nExecStartPre=/bin/mount --bind /run/cmdline /proc/cmdline\n')
    const rauc = readFileSync(join(root, 'firmware/root/etc/rauc/system.conf'), 'utf8')
    conf('rauc.conf', rauc.replace('bundle-formats=verity', 'bundle-formats=plain'))
  }

  #at(name: string): string {
    return join(this.#needs.folder, name)
  }

  get isOn(): boolean {
    return this.#isOn
  }

  readonly url = 'https://localhost'
  /** It has its own network, which reaches nothing. */
  get socketPath(): string {
    return this.#at('https.sock')
  }

  /** Path of the output of GRUB and of the container, over all starts. */
  get console(): string {
    return this.#at('console.log')
  }

  partition(slot: 'A' | 'B'): string {
    return (this.#partitions?.[slot] ?? '').replace('/dev/', '')
  }

  async start(): Promise<void> {
    const first = this.#partitions === undefined
    this.#partitions = await this.#disk.attach()
    if (first) {
      const environment = this.#at('efi/grub/grubenv')
      await run('grub-editenv', [environment, 'create'])
      await run('grub-editenv', [environment, 'set', 'ORDER=A B', 'A_OK=1', 'B_OK=0', 'A_TRY=0', 'B_TRY=0'])
      await run('resize2fs', [this.#partitions.state])
    }
    const { A, B } = this.#partitions
    rmSync(this.#at('by-partlabel'), { recursive: true, force: true })
    mkdirSync(this.#at('by-partlabel'))
    for (const [device, name] of [[A, 'a'] as const, [B, 'b'] as const]) {
      await run('cp', ['-a', device, this.#at(`by-partlabel/gatehouse-root-${name}`)])
    }
    this.#isOn = true
    await this.#boot()
  }

  /** Plays GRUB, and notes the command line of the kernel. The partition that it starts from. */
  async #chosen({ A, B }: Partitions): Promise<string> {
    const player = join(import.meta.dirname, 'play-grub.sh')
    const config = join(root, 'firmware/boot/grub.cfg')
    const grub = await run('sh', [player, this.#at('efi/grub/grubenv'), config, A, B])
    writeFileSync(this.console, grub, { flag: 'a' })
    const line = /^boot (.*)$/m.exec(grub)?.[1] ?? ''
    writeFileSync(this.#at('conf/cmdline'), `${line}\n`)
    return / rauc\.slot=A /.test(line) ? A : B
  }

  async #boot(): Promise<void> {
    const partitions = this.#partitions as Partitions
    const [slot, state] = [await this.#chosen(partitions), partitions.state]
    // As scripts/init-bottom/gatehouse-state does.
    const script = `mount -t squashfs -o ro ${slot} "$1"
      e2fsck -p ${state} > /dev/null 2>&1 || [ $(($? & 4)) = 0 ] || e2fsck -y ${state} > /dev/null 2>&1 || true
      mount -t ext4 -o noatime,errors=remount-ro ${state} "$1/state"
      chroot "$1" /usr/lib/gatehouse-appliance/state "$(cat /proc/sys/kernel/random/uuid)"
      mount -o ro,loop "$2" "$3"
      shift 3
      exec setpriv --pdeathsig KILL systemd-nspawn "$@"`
    const places = [this.#at('root'), this.#needs.stick, this.#at('stick')]
    const said = openSync(this.console, 'a')
    const nspawn = spawn('unshare', ['-m', 'sh', '-euc', script, 'sh', ...places, ...this.#nspawnArgs()], {
      stdio: ['ignore', 'ignore', said],
    })
    closeSync(said)
    nspawn.unref()
    this.#nspawn = nspawn
    nspawn.once('exit', (code) => {
      this.#proxy?.kill('SIGKILL')
      this.#proxy = undefined
      if (!this.#isOn) return
      if (code === restarts) {
        this.#boot().catch((error: Error) => {
          this.#isOn = false
          process.stderr.write(`${error.message}\n`)
        })
      } else this.#isOn = false
    })
  }

  #nspawnArgs(): string[] {
    const unit = '/run/systemd/system'
    const conf = (name: string, to: string) => `--bind-ro=${this.#at(`conf/${name}`)}:${to}`
    return [
      ...['--quiet', '--register=no', '--keep-unit', '--private-network', '--console=pipe', '--resolv-conf=off'],
      ...['--timezone=off', '--link-journal=no', '--system-call-filter=@memlock', '-b', '-D', this.#at('root')],
      ...[`--bind=${this.#at('efi')}:/efi`, `--bind-ro=${this.#at('stick')}:/run/stick`],
      ...[conf('fstab', '/etc/fstab'), conf('rauc.conf', '/etc/rauc/system.conf'), conf('cmdline', '/run/cmdline')],
      conf('cmdline.conf', `${unit}/gatehouse-network.service.d/cmdline.conf`),
      conf('unsquashfs', '/run/tools/unsquashfs'),
      conf('path.conf', '/run/systemd/system.conf.d/path.conf'),
      conf('rauc.service.conf', `${unit}/rauc.service.d/power.conf`),
      conf('nothing', `${unit}/systemd-networkd-wait-online.service`),
      // The disk is a file, which has its size already.
      conf('nothing', `${unit}/gatehouse-grow.service`),
      ...[`--bind=${this.#at('by-partlabel')}:/dev/disk/by-partlabel`, '--bind=/dev/loop-control'],
      ...Array.from({ length: 8 }, (_, n) => `--bind=/dev/loop${n}`),
    ]
  }

  get #leader(): number {
    const pid = this.#nspawn?.pid ?? 0
    const leader = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
    if (!leader || !this.#isOn) throw new Error('the container does not run')
    return leader
  }

  /** Cuts its power: first the disk, then everything that runs. */
  async cut(): Promise<void> {
    if (!this.#isOn) return
    const nspawn = this.#nspawn as ChildProcess
    const leader = this.#leader
    this.#isOn = false
    await this.#disk.cut()
    nspawn.ref()
    const ended = once(nspawn, 'exit')
    process.kill(leader, 'SIGKILL')
    nspawn.kill('SIGKILL')
    await ended
    await this.#disk.detach()
  }

  /** Runs a shell line as root inside. Returns its stdout. Rejects when it fails. */
  async must(script: string, limitMs = 120_000): Promise<string> {
    const args = ['-t', String(this.#leader), '-a', 'sh', '-euc', script]
    return (await promisify(execFile)('nsenter', args, { timeout: limitMs, env: plainEnvironment })).stdout
  }

  async health(): Promise<string> {
    const said = await this.must('curl -fsSk --max-time 20 https://127.0.0.1:8443/api/health')
    this.#proxy ??= this.#forward()
    return said
  }

  #forward(): ChildProcess {
    rmSync(this.socketPath, { force: true })
    const listens = ['systemd-socket-activate', '-l', this.socketPath]
    const forwards = ['/lib/systemd/systemd-socket-proxyd', '127.0.0.1:8443']
    const args = ['-t', String(this.#leader), '-n', 'setpriv', '--pdeathsig', 'KILL', ...listens, ...forwards]
    const proxy = spawn('nsenter', args, { stdio: 'ignore' })
    proxy.unref()
    return proxy
  }
}
