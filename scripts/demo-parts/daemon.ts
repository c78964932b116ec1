import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from './bounds.ts'
import type { Account } from './client.ts'

const startLimitMs = 60_000
const stopLimitMs = 30_000
const commandLimitMs = 60_000

/** Which gatehouse to run, and how. */
export type GatewayCommand = {
  /** Any gatehouse command: scripts/gatehouse, or the single binary. */
  readonly command: string
  /** With an empty environment. */
  readonly bare: boolean
  /** How many times as long as usual everything may take, for an emulated processor. Default: 1. */
  readonly patience?: number
}

type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly error?: Error }
type Output = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

type DaemonOptions = GatewayCommand & {
  readonly folder: string
  readonly url: string
  /** Its name in messages. */
  readonly name: string
  readonly configFile: string
  readonly logFile: string
  /** Arguments that start the daemon. */
  readonly args: readonly string[]
  /** Makes a secret. */
  readonly credential: readonly string[]
  /** Whether it serves. */
  readonly answers: () => Promise<boolean>
}

/**
 * A daemon of gatehouse, driven the way an admin drives it: a config file, the command line, signals. All that it writes stays in
 * one folder; it runs in a separate empty folder, so that nothing can depend on where it was started.
 */
export class Daemon {
  readonly folder: string
  readonly url: string
  readonly configFile: string
  /** File with the output of the daemon. */
  readonly logFile: string
  readonly #options: DaemonOptions
  readonly #workingFolder: string
  #child: ChildProcess | undefined
  #ended: Promise<Ended> | undefined
  readonly #commands = new Map<ChildProcess, Promise<unknown>>()
  #closed = false

  constructor(options: DaemonOptions) {
    this.#options = { ...options, command: resolve(options.command) }
    this.folder = options.folder
    this.url = options.url
    this.configFile = options.configFile
    this.logFile = options.logFile
    this.#workingFolder = join(options.folder, 'empty')
    mkdirSync(this.#workingFolder, { recursive: true })
  }

  get #patience(): number {
    return this.#options.patience ?? 1
  }

  /** A new account of the configured site; it works once the config holds its hash. */
  async credential(username: string, role: Account['role']): Promise<Account> {
    const made = await this.run([
      ...this.#options.credential,
      '--username',
      username,
      '--role',
      role,
      '--config',
      this.configFile,
      '--json',
    ])
    if (made.code !== 0)
      throw new Error(`gatehouse credential failed with exit code ${made.code}: ${made.stderr.trim()}`)
    return JSON.parse(made.stdout) as Account
  }

  /** Starts the daemon and waits until it answers. */
  async start(): Promise<void> {
    const ended = this.#spawn()
    const answering = new AbortController()
    const failed = ended.then((how) => Promise.reject(new Error(`${this.#options.name} ended: ${this.#describe(how)}`)))
    try {
      await within(Promise.race([this.#answers(answering.signal), failed]), startLimitMs * this.#patience)
    } finally {
      answering.abort()
    }
  }

  #spawn(): Promise<Ended> {
    this.#refuseWhenClosed()
    const log = openSync(this.logFile, 'a')
    const args = [...this.#options.args, '--config', this.configFile]
    const child = spawn(this.#options.command, args, { ...this.#surroundings(), stdio: ['ignore', log, log] })
    closeSync(log)
    // Should this program fall over, the daemon must not outlive it.
    const last = () => child.kill('SIGKILL')
    process.once('exit', last)
    const ended = new Promise<Ended>((done) => {
      child.once('error', (error) => done({ code: null, signal: null, error }))
      child.once('exit', (code, signal) => done({ code, signal }))
    })
    child.once('exit', () => process.off('exit', last))
    this.#child = child
    this.#ended = ended
    return ended
  }

  /** Process id of the daemon that was started last. */
  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error(`${this.#options.name} does not run`)
    return pid
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resolves with a sentence when the daemon ends, whatever ended it. */
  async ended(): Promise<string> {
    return this.#ended ? this.#describe(await this.#ended) : 'it never ran'
  }

  /** As a power cut does it. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** Lets it read its config again. */
  reload(): void {
    process.kill(this.pid, 'SIGHUP')
  }

  /** As systemd does it. @returns the exit code; null when it had to be killed */
  async stop(): Promise<number | null> {
    if (!this.#child || !this.#ended) return null
    this.#child.kill('SIGTERM')
    try {
      return (await within(this.#ended, stopLimitMs * this.#patience)).code
    } catch {
      await this.kill()
      return null
    }
  }

  /** Kills each process that still runs. Nothing can be started afterwards. */
  async close(): Promise<void> {
    this.#closed = true
    for (const child of this.#commands.keys()) child.kill('SIGKILL')
    await Promise.allSettled([...this.#commands.values(), this.kill()])
  }

  /** Runs one gatehouse command to its end. */
  run(args: readonly string[]): Promise<Output> {
    return this.#runToEnd(this.#options.command, args, this.#surroundings())
  }

  /** Runs another program to its end, which `close` ends as well. */
  runBeside(program: string, args: readonly string[]): Promise<Output> {
    return this.#runToEnd(program, args, {})
  }

  #runToEnd(program: string, args: readonly string[], surroundings: { cwd?: string; env?: NodeJS.ProcessEnv }) {
    this.#refuseWhenClosed()
    const { promise, resolve: done, reject } = Promise.withResolvers<Output>()
    const limits = { timeout: commandLimitMs * this.#patience, killSignal: 'SIGKILL', maxBuffer: 64 << 20 } as const
    const child = execFile(program, args, { ...surroundings, ...limits }, (error, stdout, stderr) => {
      this.#commands.delete(child)
      if (typeof error?.code === 'string') reject(new Error(`${program} cannot be run: ${error.code}`))
      else done({ code: error ? (error.code ?? null) : 0, stdout, stderr })
    })
    this.#commands.set(child, promise)
    return promise
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new Error('interrupted')
  }

  #surroundings() {
    return { cwd: this.#workingFolder, env: this.#options.bare ? {} : process.env }
  }

  async #answers(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.#options.answers().catch(() => false)) return
      await pause(50)
    }
  }

  #describe({ code, signal, error }: Ended): string {
    if (error) return error.message
    const last = readFileSync(this.logFile, 'utf8').trim().split('\n').at(-1) ?? ''
    return `${signal ?? `exit code ${code}`}; it last said: ${last}`
  }
}
