import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

export const gatehouse = resolve(import.meta.dirname, '../../scripts/gatehouse')

const sources = process.env['GATEHOUSE_SOURCES']

/**
 * Starts Node, with an environment of any kind, for a program that calls the sources. Where they are linked in one file, it
 * takes that.
 */
export const nodeOnSources: readonly [string, ...string[]] = [
  '/usr/bin/env',
  ...(sources ? [`GATEHOUSE_SOURCES=${sources}`, `NODE_COMPILE_CACHE=${process.env['NODE_COMPILE_CACHE'] ?? ''}`] : []),
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  ...(sources ? ['--import', resolve(import.meta.dirname, '../../scripts/build/linked-sources.ts')] : []),
]

export type Finished = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs a command to its end. */
export async function runToEnd(
  command: string,
  args: readonly string[],
  options: { cwd?: string; input?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Finished> {
  const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: 'pipe' })
  const out = collect(child)
  // A command that reads nothing may be gone before.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: out.stdout(), stderr: out.stderr() }
}

/** Whether this machine has the program, by a call that does nothing. */
export function isInstalled(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

export type Daemon = {
  readonly child: ChildProcess
  /** `http://127.0.0.1:PORT` of the first listener. */
  readonly url: string
  /** All that it has logged. */
  readonly log: () => string
  /** Resolves when a log line contains the words. */
  logged(words: string): Promise<void>
  /** Sends the signal and waits for the end; the exit code, or null when the signal killed it. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts `gatehouse serve` and waits until it says that it is up. Rejects with its log when it ends before. */
export async function startDaemon(
  args: readonly string[],
  options: { cwd: string; command?: string; env?: NodeJS.ProcessEnv },
): Promise<Daemon> {
  const child = spawn(options.command ?? gatehouse, ['serve', ...args], {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out = collect(child)
  const closed = once(child, 'close') as Promise<[number | null]>
  const logged = (words: string) =>
    new Promise<void>((found, missed) => {
      const look = () => {
        if (!out.stderr().includes(words)) return
        child.stderr?.off('data', look)
        found()
      }
      child.stderr?.on('data', look)
      void closed.then(() => missed(new Error(`ended without "${words}":\n${out.stderr()}`)))
      look()
    })
  await logged('gatehouse is up')
  const url = out.stderr().match(/addresses"?[:=]\["(http[^"]+)"/)?.[1] ?? ''
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return (await closed)[0]
  }
  return { child, url, log: out.stderr, logged, end }
}

function collect(child: ChildProcess): { stdout: () => string; stderr: () => string } {
  const parts = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    parts.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    parts.stderr += text
  })
  return { stdout: () => parts.stdout, stderr: () => parts.stderr }
}
