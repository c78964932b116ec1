import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stringify } from 'yaml'
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
}

/** What `ledger verify --json` prints, as far as it is looked at here. */
export type Verification = {
  readonly ok: boolean
  readonly size: number
  readonly root: string
  readonly events: number
  /** Every log of the box, the growing one last. */
  readonly logs: readonly { readonly logId: string; readonly size: number; readonly root: string }[]
  readonly mismatches: readonly { readonly where: string; readonly what: string }[]
}

type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly error?: Error }
type Output = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/**
 * One gatehouse, driven the way an admin drives it: a config file, the command line, signals. All that it writes stays in
 * one folder; it runs in an empty folder of its own, so that nothing can depend on where it was started.
 */
export class Gateway {
  readonly folder: string
  readonly url: string
  readonly configFile: string
  readonly dataDir: string
  /** What the daemon says. */
  readonly logFile: string
  readonly #command: string
  readonly #bare: boolean
  readonly #port: number
  readonly #workingFolder: string
  #child: ChildProcess | undefined
  #ended: Promise<Ended> | undefined
  readonly #commands = new Map<ChildProcess, Promise<unknown>>()
  #closed = false

  constructor(options: GatewayCommand & { folder: string; port: number }) {
    this.folder = options.folder
    this.url = `http://127.0.0.1:${options.port}`
    this.configFile = join(options.folder, 'gatehouse.yaml')
    this.dataDir = join(options.folder, 'state')
    this.logFile = join(options.folder, 'gateway.log')
    this.#command = resolve(options.command)
    this.#bare = options.bare
    this.#port = options.port
    this.#workingFolder = join(options.folder, 'empty')
    mkdirSync(this.#workingFolder, { recursive: true })
  }

  /** The embedded defaults, but for what they can't know: the site, where things lie, and `known`. */
  configure(known: Record<string, unknown> = {}, file = this.configFile, dataDir = this.dataDir): void {
    const config = {
      site: { id: 'demo', url: this.url },
      listen: [{ host: '127.0.0.1', port: this.#port }],
      dataDir,
      runtimeDir: `${dataDir}-run`,
      ...known,
    }
    writeFileSync(file, stringify(config), { mode: 0o600 })
  }

  /** A new account of the configured site; it works once the config holds its hash. */
  async credential(username: string, role: Account['role']): Promise<Account> {
    const made = await this.run([
      'credential',
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

  /** Recomputes the ledger; `configFile` names another one than this gateway's. */
  async verify(configFile = this.configFile): Promise<{ code: number | null; found: Verification }> {
    const { code, stdout, stderr } = await this.run(['ledger', 'verify', '--config', configFile, '--json'])
    if (!stdout.startsWith('{'))
      throw new Error(`gatehouse ledger verify printed no JSON (exit code ${code}): ${stderr.trim()}`)
    return { code, found: JSON.parse(stdout) as Verification }
  }

  /** Starts the daemon and waits until it answers. */
  async start(): Promise<void> {
    const ended = this.#spawn()
    const answering = new AbortController()
    const failed = ended.then((how) => Promise.reject(new Error(`the gateway ended: ${this.#describe(how)}`)))
    try {
      await within(Promise.race([this.#answers(answering.signal), failed]), startLimitMs)
    } finally {
      answering.abort()
    }
  }

  #spawn(): Promise<Ended> {
    this.#refuseWhenClosed()
    const log = openSync(this.logFile, 'a')
    const args = ['serve', '--config', this.configFile]
    const child = spawn(this.#command, args, { ...this.#surroundings(), stdio: ['ignore', log, log] })
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

  /** Of the daemon that was started last. */
  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error('the gateway does not run')
    return pid
  }

  /** Resolves with a sentence when the daemon ends, whoever ended it. */
  async ended(): Promise<string> {
    return this.#ended ? this.#describe(await this.#ended) : 'it never ran'
  }

  /** As a power cut does it. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** As systemd does it. @returns the exit code; null when it had to be killed */
  async stop(): Promise<number | null> {
    if (!this.#child || !this.#ended) return null
    this.#child.kill('SIGTERM')
    try {
      return (await within(this.#ended, stopLimitMs)).code
    } catch {
      await this.kill()
      return null
    }
  }

  /** Kills what still runs, and lets nothing start any more. */
  async close(): Promise<void> {
    this.#closed = true
    for (const child of this.#commands.keys()) child.kill('SIGKILL')
    await Promise.allSettled([...this.#commands.values(), this.kill()])
  }

  /** Runs one gatehouse command to its end. */
  run(args: readonly string[]): Promise<Output> {
    return this.#runToEnd(this.#command, args, this.#surroundings())
  }

  /** Runs another program to its end, which this gateway's `close` ends as well. */
  runBeside(program: string, args: readonly string[]): Promise<Output> {
    return this.#runToEnd(program, args, {})
  }

  #runToEnd(program: string, args: readonly string[], surroundings: { cwd?: string; env?: NodeJS.ProcessEnv }) {
    this.#refuseWhenClosed()
    const { promise, resolve: done, reject } = Promise.withResolvers<Output>()
    const limits = { timeout: commandLimitMs, killSignal: 'SIGKILL', maxBuffer: 64 << 20 } as const
    const child = execFile(program, args, { ...surroundings, ...limits }, (error, stdout, stderr) => {
      this.#commands.delete(child)
      if (typeof error?.code === 'string') reject(new Error(`${program} can't be run: ${error.code}`))
      else done({ code: error ? (error.code ?? null) : 0, stdout, stderr })
    })
    this.#commands.set(child, promise)
    return promise
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new Error('interrupted')
  }

  #surroundings() {
    return { cwd: this.#workingFolder, env: this.#bare ? {} : process.env }
  }

  async #answers(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const answer = await fetch(`${this.url}/api/ping`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
      if (answer?.ok) return
      await pause(50)
    }
  }

  #describe({ code, signal, error }: Ended): string {
    if (error) return error.message
    const last = readFileSync(this.logFile, 'utf8').trim().split('\n').at(-1) ?? ''
    return `${signal ?? `exit code ${code}`}; it last said: ${last}`
  }
}
