import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** One thing that is tried. */
export type Trial = {
  readonly name: string
  /** Rejects with what went wrong, or with Skipped. */
  play(bench: Bench): Promise<void>
}

export type Bench = {
  /** A folder of this run; it is removed at the end. */
  readonly folder: string
  readonly say: (line: string) => void
}

/** This machine cannot make the trial; the message says why. */
export class Skipped extends Error {}

/** Runs a program and returns what it printed on stdout; rejects with both streams when it fails. */
export async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  try {
    const options = { env: { ...process.env, ...env }, maxBuffer: 64 << 20 }
    return (await promisify(execFile)(command, [...args], options)).stdout
  } catch (error) {
    const { stdout = '', stderr = '', code } = error as { stdout?: string; stderr?: string; code?: unknown }
    if (code === 'ENOENT') throw new Skipped(`there is no ${command}`)
    throw new Error(`${command} ${args.join(' ')} (${code}):\n${stdout}${stderr}`)
  }
}

/** Throws with the words unless the condition holds. */
export function holds(condition: boolean, words: string): asserts condition {
  if (!condition) throw new Error(words)
}
