import childProcess, { type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { isBundled } from './bundle.ts'
import { unpackNative } from './machine/native-cache.ts'

/**
 * Repairs what pkg changes in Node inside the single binary. The build puts this module before everything else in each bundle
 * (esbuild's `inject`). So no module imports it and none loads before it. In the source tree it does nothing.
 */

type AnyFunction = (...args: unknown[]) => unknown

if (isBundled) {
  mendChildProcess()
  mendDlopen()
}

/**
 * pkg wraps the six functions that start a process. Its wrappers
 * - miscount optional arguments given as undefined or null: `exec(command, undefined, callback)`, as systeminformation
 *   calls it, dies with ERR_INVALID_ARG_TYPE, and `spawn(command, undefined, options)` loses its options;
 * - write an environment into the options object of the caller, so that the next call with it gets an old one;
 * - lose what `promisify` needs, so that `promisify(execFile)` answers with a string instead of `{ stdout, stderr }`.
 */
function mendChildProcess(): void {
  for (const name of ['spawn', 'spawnSync', 'execFile', 'execFileSync', 'exec', 'execSync'] as const) {
    const wrapped = childProcess[name] as AnyFunction
    const mended: AnyFunction = (...args) =>
      wrapped(...args.filter((arg) => arg !== undefined && arg !== null).map(ownOptions))
    if (name === 'exec' || name === 'execFile') Object.assign(mended, { [promisify.custom]: withBothOutputs(mended) })
    Object.assign(childProcess, { [name]: mended })
  }
}

function ownOptions(arg: unknown): unknown {
  return typeof arg === 'object' && !Array.isArray(arg) ? { ...arg } : arg
}

function withBothOutputs(start: AnyFunction): AnyFunction {
  return (...args) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ stdout: unknown; stderr: unknown }>()
    const child = start(...args, (error: Error | null, stdout: unknown, stderr: unknown) =>
      error ? reject(Object.assign(error, { stdout, stderr })) : resolve({ stdout, stderr }),
    )
    return Object.assign(promise, { child: child as ChildProcess })
  }
}

/**
 * pkg unpacks an addon by writing over the file. Two processes that start at the same time can load half of it, and a folder
 * mounted noexec gives an unclear error. Our addon is unpacked like ffmpeg.
 */
function mendDlopen(): void {
  const load = process.dlopen
  process.dlopen = (module: object, file: string, flags?: number) => {
    const path = file.startsWith('/snapshot/') ? unpackAddon(file) : file
    return flags === undefined ? load(module, path) : load(module, path, flags)
  }
}

function unpackAddon(file: string): string {
  const content = readFileSync(file)
  const sha256 = createHash('sha256').update(content).digest('hex')
  return unpackNative({ name: basename(file), sha256, content: () => content })
}
