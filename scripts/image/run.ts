import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs a program of the build; rejects with what it printed, or with the package that brings it. */
export async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  try {
    const options = { env: { ...process.env, ...env }, maxBuffer: 64 << 20 }
    return (await promisify(execFile)(command, [...args], options)).stdout
  } catch (error) {
    const { stdout = '', stderr = '', code } = error as { stdout?: string; stderr?: string; code?: unknown }
    if (code === 'ENOENT')
      throw new Error(`there is no ${command} on this machine; scripts/image.ts names the packages`)
    throw new Error(`${command} ${args.join(' ')} (${code}):\n${stdout}${stderr}`)
  }
}
