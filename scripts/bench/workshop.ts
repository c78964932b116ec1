import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Scripts that run as separate processes; each takes one message after the other and answers each. */
const helpers = {
  load: new URL('./load.ts', import.meta.url),
  'append-peer': new URL('./append-peer.ts', import.meta.url),
  'receiver-farm': new URL('./receiver-farm.ts', import.meta.url),
  'undici-peer': new URL('./undici-peer.ts', import.meta.url),
  'watched-gateway': new URL('./watched-gateway.ts', import.meta.url),
} as const

const clockTicksPerSecond = 100

/** Folders and processes of one run. `close` ends each process that still runs, by its id, and removes the folders. */
export class Workshop {
  readonly folder: string
  readonly #children = new Set<ChildProcess>()
  readonly #lastly = () => this.#clear()

  /** @param base where the folders are made: the disk that is measured */
  constructor(base: string) {
    mkdirSync(base, { recursive: true })
    this.folder = mkdtempSync(join(base, 'bench-'))
    process.once('exit', this.#lastly)
  }

  newFolder(name: string): string {
    const path = join(this.folder, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  /** Has `child` ended with the run. */
  owns<C extends ChildProcess>(child: C): C {
    this.#children.add(child)
    child.once('exit', () => this.#children.delete(child))
    return child
  }

  /** Starts a helper. Its last words go to stderr. */
  start(name: keyof typeof helpers): Helper {
    const execArgv = ['--disable-warning=ExperimentalWarning']
    return new Helper(name, this.owns(fork(helpers[name], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })))
  }

  async close(): Promise<void> {
    const ended = [...this.#children].map((child) => once(child, 'exit'))
    for (const child of this.#children) child.kill('SIGKILL')
    await Promise.all(ended)
    this.#clear()
    process.off('exit', this.#lastly)
  }

  #clear(): void {
    for (const child of this.#children) child.kill('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A process that answers messages. */
export class Helper {
  readonly #name: string
  readonly #child: ChildProcess

  constructor(name: string, child: ChildProcess) {
    this.#name = name
    this.#child = child
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** One message, one answer. Rejects when the process ends instead, or answers with an error. */
  ask<Answer>(message: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error(`${this.#name} ended before it answered`))
      this.#child.once('exit', ended)
      this.#child.once('message', (answer: { error?: string }) => {
        this.#child.off('exit', ended)
        if (answer.error === undefined) resolve(answer as Answer)
        else reject(new Error(`${this.#name}: ${answer.error}`))
      })
      this.#child.send(message)
    })
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}

/** The other side of `ask`: answers every message with the result of `work`. */
export function answering<Message>(work: (message: Message) => Promise<object> | object): void {
  // The parent has ended, in whatever way: it needs no more answers.
  process.once('disconnect', () => process.exit())
  process.on('message', (message: Message) => {
    Promise.resolve()
      .then(() => work(message))
      .then(
        (answer) => process.send?.(answer),
        (error: Error) => process.send?.({ error: error.stack ?? error.message }),
      )
  })
}

/** Processor time of a process since its start, all threads, milliseconds. */
export const cpuMs = (pid: number): number => ticks(pid, 11)

/** The processor time that the children of a process have used which have ended. */
export const cpuMsOfEnded = (pid: number): number => ticks(pid, 13)

/**
 * utime and stime are the 14th and 15th of all fields, then the children's come. The fields here are those after the name, because
 * a name may hold spaces.
 */
function ticks(pid: number, first: 11 | 13): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[first]) + Number(fields[first + 1])) * 1000) / clockTicksPerSecond
}

/**
 * Resident memory of a process in bytes: all of it, the part that is not pages of its files, and its fair part, which counts a page
 * that n processes share as 1/n.
 */
export function memoryOf(pid: number): { residentBytes: number; ownBytes: number; fairBytes: number } {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const bytes = (name: string) => Number(rollup.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1]) * 1024
  return { residentBytes: bytes('Rss'), ownBytes: bytes('Anonymous'), fairBytes: bytes('Pss') }
}

/** Bytes that a process has written to the disk since its start, as the kernel counts them. */
export function writtenBytes(pid: number): number {
  const bytes = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]
  if (bytes === undefined) throw new Error('the kernel does not count what a process writes')
  return Number(bytes)
}
