import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { run } from './trial.ts'

const sectorBytes = 512
const appearsWithinMs = 30_000

/** The partitions of the appliance's disk, as loop devices. */
export type Partitions = { readonly A: string; readonly B: string; readonly state: string }

/**
 * A disk whose power can be cut, without a machine around it. Each start lays a new overlay over the disk of the start before. A
 * cut kills qemu, which keeps the tables of the overlay in memory until a flush. So each write that was not flushed is lost.
 */
export class PowerDisk {
  readonly #folder: string
  readonly #file: string
  #disk: string
  #starts = 0
  #server: ChildProcess | undefined
  #loops: string[] = []

  /** @param disk the image, which stays as it is */
  constructor(folder: string, disk: string) {
    this.#folder = folder
    this.#file = join(folder, 'power-disk')
    this.#disk = disk
  }

  async attach(): Promise<Partitions> {
    const overlay = join(this.#folder, `power-${this.#starts}.qcow2`)
    const size = this.#starts === 0 ? ['8G'] : []
    const format = this.#starts === 0 ? 'raw' : 'qcow2'
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', this.#disk, '-F', format, overlay, ...size])
    this.#starts += 1
    this.#disk = overlay
    writeFileSync(this.#file, '')
    const nodes = [
      ...['--blockdev', `driver=file,node-name=file,filename=${overlay}`],
      ...['--blockdev', `driver=qcow2,node-name=disk,file=file,l2-cache-size=${16 << 20}`],
      ...['--export', `type=fuse,id=disk,node-name=disk,mountpoint=${this.#file},writable=on`],
    ]
    const bounded = ['--pdeathsig', 'KILL', 'qemu-storage-daemon', ...nodes]
    this.#server = spawn('setpriv', bounded, { stdio: ['ignore', 'ignore', 'inherit'] })
    this.#server.unref()
    const untilMs = performance.now() + appearsWithinMs
    while (statSync(this.#file).size === 0) {
      if (performance.now() > untilMs) throw new Error('qemu-storage-daemon does not show the disk')
      await pause(100)
    }
    const table = JSON.parse(await run('sfdisk', ['--json', this.#file])) as {
      partitiontable: { partitions: { name: string; start: number; size: number }[] }
    }
    const loop = async (name: string, isLast = false) => {
      const found = table.partitiontable.partitions.find((one) => one.name === name)
      if (found === undefined) throw new Error(`the disk has no ${name}`)
      const limit = isLast ? [] : ['--sizelimit', String(found.size * sectorBytes)]
      const where = ['--offset', String(found.start * sectorBytes), ...limit, this.#file]
      const device = (await run('losetup', ['--find', '--show', ...where])).trim()
      this.#loops.push(device)
      return device
    }
    return {
      A: await loop('gatehouse-root-a'),
      B: await loop('gatehouse-root-b'),
      state: await loop('gatehouse-state', true),
    }
  }

  /** From here on nothing reaches the disk any more. */
  async cut(): Promise<void> {
    const server = this.#server
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    server.ref()
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }

  /** After `cut`, when nothing uses it any more. */
  async detach(): Promise<void> {
    for (const device of this.#loops.splice(0)) await run('losetup', ['--detach', device])
    await run('umount', ['--lazy', this.#file]).catch(() => undefined)
  }
}
