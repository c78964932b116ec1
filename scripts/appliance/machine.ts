import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
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

/**
 * A PC with UEFI, a hardware watchdog and one disk, which reaches nothing: two ports of it are forwarded to loopback. Emulated without
 * KVM, so that it runs on every machine and is slow. What it writes and does not flush is lost when its power is cut: the disk is an
 * overlay of its own for each start, whose tables qemu keeps in memory until the guest flushes.
 */
export class Machine {
  readonly #needs: MachineNeeds
  #disk: string
  #format = 'raw'
  #starts = 0
  #qemu: ChildProcess | undefined
  readonly ports: Ports

  private constructor(needs: MachineNeeds, ports: Ports) {
    this.#needs = needs
    this.#disk = needs.disk
    this.ports = ports
  }

  static async of(needs: MachineNeeds): Promise<Machine> {
    copyFileSync(join(firmware, 'OVMF_VARS_4M.fd'), join(needs.folder, 'uefi-vars.fd'))
    const [ssh, https] = [await freePort(), await freePort()]
    return new Machine(needs, { ssh, https })
  }

  /** Switches it on; resolves at once. */
  async start(): Promise<void> {
    this.#starts += 1
    const overlay = join(this.#needs.folder, `disk-${this.#starts}.qcow2`)
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', this.#disk, '-F', this.#format, overlay])
    this.#disk = overlay
    this.#format = 'qcow2'
    const { ssh, https } = this.ports
    const forward = `hostfwd=tcp:127.0.0.1:${ssh}-:22,hostfwd=tcp:127.0.0.1:${https}-:8443`
    const args = [
      ...[
        '-machine',
        'q35',
        '-accel',
        'tcg,thread=multi',
        '-smp',
        String(Math.min(2, Math.ceil(availableParallelism() / 2))),
        '-m',
        '1536',
      ],
      ...['-cpu', 'qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand'],
      ...['-drive', `if=pflash,format=raw,readonly=on,file=${firmware}/OVMF_CODE_4M.fd`],
      ...['-drive', `if=pflash,format=raw,file=${join(this.#needs.folder, 'uefi-vars.fd')}`],
      ...['-drive', `if=virtio,format=qcow2,cache=writeback,l2-cache-size=16M,file=${overlay}`],
      ...['-drive', `if=virtio,format=raw,readonly=on,file=${this.#needs.stick}`],
      ...['-netdev', `user,id=lan,restrict=on,${forward}`, '-device', 'virtio-net-pci,netdev=lan'],
      ...['-device', 'virtio-rng-pci', '-device', 'i6300esb', '-action', 'watchdog=reset'],
      ...['-display', 'none', '-monitor', 'none', '-serial', `file:${this.console}`],
    ]
    this.#qemu = spawn('qemu-system-x86_64', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  }

  /** What it prints on its serial port since the last start. */
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
    const ended = once(qemu, 'exit')
    qemu.kill('SIGKILL')
    await ended
  }

  /** Runs a line of shell as root inside, over ssh; what it printed. Rejects when it fails. */
  async must(script: string, limitMs = 120_000): Promise<string> {
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'LogLevel=ERROR',
      'BatchMode=yes',
      'ConnectTimeout=15',
    ]
    const args = options.flatMap((one) => ['-o', one])
    const where = ['-i', this.#needs.key, '-o', 'IdentitiesOnly=yes', '-p', String(this.ports.ssh), 'admin@127.0.0.1']
    const { stdout } = await promisify(execFile)('ssh', [...args, ...where, 'sudo', 'sh', '-euc', quoted(script)], {
      timeout: limitMs,
    })
    return stdout
  }

  /** Asks every three seconds until the answer is there. Rejects with the last problem. */
  async until<Answer>(what: string, ask: () => Promise<Answer>, limitMs: number): Promise<Answer> {
    const untilMs = performance.now() + limitMs
    let last = 'nothing'
    while (performance.now() < untilMs) {
      if (!this.isOn) throw new Error(`the machine went off while waiting: ${what}; see ${this.console}`)
      try {
        return await ask()
      } catch (error) {
        last = error instanceof Error ? error.message : String(error)
      }
      await pause(3000)
    }
    throw new Error(`${what} did not come within ${limitMs / 1000} s: ${last}`)
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
  return undefined
}
