import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { run } from './trial.ts'

const firmware = '/usr/share/OVMF'

type MachineNeeds = {
  readonly folder: string
  readonly disk: string
  /** Private key of the ssh user admin. */
  readonly key: string
  /** A volume that it sees, and cannot write. */
  readonly stick: string
}

type Ports = { readonly ssh: number; readonly https: number }

/** State of a machine between two runs: its newest disk, and the number of its starts. */
export type Place = { readonly disk: string; readonly starts: number }

/**
 * A PC with UEFI, a hardware watchdog and one disk. It has no network, but two of its ports are forwarded to loopback. It is
 * emulated without KVM, so it is slow and runs on every machine, at the lowest priority. It ends with this process. A power cut
 * loses each write that is not flushed. Each start has a separate overlay of the disk, and qemu keeps its tables in memory until
 * the guest flushes.
 */
export class Machine {
  readonly #needs: MachineNeeds
  #disk: string
  #starts: number
  #qemu: ChildProcess | undefined
  readonly ports: Ports

  private constructor(needs: MachineNeeds, ports: Ports, { disk, starts }: Place) {
    this.#needs = needs
    this.#disk = disk
    this.#starts = starts
    this.ports = ports
  }

  /** @param kept state from the last use of the machine; left out for a new machine */
  static async of(needs: MachineNeeds, kept: Place = { disk: needs.disk, starts: 0 }): Promise<Machine> {
    if (kept.starts === 0) copyFileSync(join(firmware, 'OVMF_VARS_4M.fd'), join(needs.folder, 'uefi-vars.fd'))
    const [ssh, https] = [await freePort(), await freePort()]
    return new Machine(needs, { ssh, https }, kept)
  }

  get place(): Place {
    return { disk: this.#disk, starts: this.#starts }
  }

  /** Switches it on; resolves at once. */
  async start(): Promise<void> {
    this.#starts += 1
    const overlay = join(this.#needs.folder, `disk-${this.#starts}.qcow2`)
    const format = this.#disk === this.#needs.disk ? 'raw' : 'qcow2'
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', this.#disk, '-F', format, overlay])
    this.#disk = overlay
    const { ssh, https } = this.ports
    const forward = `hostfwd=tcp:127.0.0.1:${ssh}-:22,hostfwd=tcp:127.0.0.1:${https}-:8443`
    const args = [
      ...['-nodefaults', '-machine', 'q35', '-accel', 'tcg,tb-size=512', '-smp', '1', '-m', '1536'],
      ...['-cpu', 'qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand'],
      ...['-drive', `if=pflash,format=raw,readonly=on,file=${firmware}/OVMF_CODE_4M.fd`],
      ...['-drive', `if=pflash,format=raw,file=${join(this.#needs.folder, 'uefi-vars.fd')}`],
      ...['-drive', `if=virtio,format=qcow2,cache=writeback,l2-cache-size=16M,file=${overlay}`],
      ...['-drive', `if=virtio,format=raw,readonly=on,file=${this.#needs.stick}`],
      ...['-netdev', `user,id=lan,restrict=on,${forward}`, '-device', 'virtio-net-pci,netdev=lan'],
      ...['-device', 'virtio-rng-pci', '-device', 'i6300esb', '-action', 'watchdog=reset'],
      ...['-display', 'none', '-serial', `file:${this.console}`],
    ]
    const bounded = ['-n', '19', 'setpriv', '--pdeathsig', 'KILL', 'qemu-system-x86_64', ...args]
    this.#qemu = spawn('nice', bounded, { stdio: ['ignore', 'ignore', 'inherit'] })
    // Nothing has to switch it off before this process can end.
    this.#qemu.unref()
  }

  /** Path of its serial output since the last start. */
  get console(): string {
    return join(this.#needs.folder, `console-${this.#starts}.log`)
  }

  get isOn(): boolean {
    return this.#qemu !== undefined && this.#qemu.exitCode === null && this.#qemu.signalCode === null
  }

  /** Cuts its power. */
  async cut(): Promise<void> {
    const qemu = this.#qemu
    if (qemu === undefined || !this.isOn) return
    qemu.ref()
    const ended = once(qemu, 'exit')
    qemu.kill('SIGKILL')
    await ended
  }

  /** Runs a shell line as root inside, over ssh. Returns its stdout. Rejects when it fails. */
  async must(script: string, limitMs = 900_000): Promise<string> {
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'LogLevel=ERROR',
      'BatchMode=yes',
      'ConnectTimeout=60',
    ]
    const args = options.flatMap((one) => ['-o', one])
    const where = ['-i', this.#needs.key, '-o', 'IdentitiesOnly=yes', '-p', String(this.ports.ssh), 'admin@127.0.0.1']
    const { stdout } = await promisify(execFile)('ssh', [...args, ...where, 'sudo', 'sh', '-euc', quoted(script)], {
      timeout: limitMs,
    })
    return stdout
  }

  get url(): string {
    return `https://127.0.0.1:${this.ports.https}`
  }

  health(): Promise<string> {
    return run('curl', ['-fsSk', '--max-time', '60', `${this.url}/api/health`])
  }

  partition(slot: 'A' | 'B'): string {
    return slot === 'A' ? 'vda2' : 'vda3'
  }
}

const quoted = (script: string): string => `'${script.replaceAll("'", "'\\''")}'`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Why this machine cannot emulate one. */
export function whyNoMachine(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root, to make the image'
  if (process.arch !== 'x64') return 'the image is for amd64'
  if (!existsSync(join(firmware, 'OVMF_CODE_4M.fd'))) return 'there is no ovmf'
  if (!existsSync('/usr/bin/qemu-system-x86_64')) return 'there is no qemu-system-x86'
  if (!existsSync('/usr/bin/qemu-img')) return 'there is no qemu-utils'
  return undefined
}
