import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { assetPath, assetSha256, isBundled } from './bundle.ts'
import { unpackNative } from './machine/native-cache.ts'

export type FfmpegOrigin =
  /** `ffmpeg.path` of the config. */
  | 'configured'
  /** Found in PATH. */
  | 'system'
  /** The one that came with gatehouse. */
  | 'bundled'

export type Ffmpeg = { readonly path: string; readonly origin: FfmpegOrigin }

export type FfmpegErrorCode =
  /** The configured path is no program, or none is configured, in PATH or in the package. */
  | 'FFMPEG_NOT_FOUND'
  /** It is there, but `-version` does not work. */
  | 'FFMPEG_UNUSABLE'

/** The message is a sentence for the admin. */
export class FfmpegError extends Error {
  override readonly name = 'FfmpegError'
  readonly code: FfmpegErrorCode

  constructor(code: FfmpegErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

export type FfmpegSearch = {
  /** `ffmpeg.path` of the config; null or undefined: not configured. */
  readonly configured?: string | null | undefined
  /** PATH, HOME and PKG_NATIVE_CACHE_PATH are read from it; the process's own environment by default. */
  readonly env?: NodeJS.ProcessEnv
}

/**
 * Returns the ffmpeg to use: the configured one, else the first in PATH, else the bundled one. The single binary unpacks the
 * bundled one (see native-cache.ts). A configured path that is no program is an error, never passed over. For start-up: blocks for
 * 0.1-0.3 s when the bundled one is unpacked or its hash checked. Throws FfmpegError, and NativeCacheError when unpacking fails.
 */
export function locateFfmpeg({ configured, env = process.env }: FfmpegSearch = {}): Ffmpeg {
  if (configured) return configuredFfmpeg(configured)
  const system = inPath('ffmpeg', env)
  return system ? { path: system, origin: 'system' } : { path: bundledFfmpeg(env), origin: 'bundled' }
}

/**
 * Returns the version that the program names in its first line (`7.1.1-1+deb13u1`, `N-47683-g0e8eb07980-static`). Rejects with
 * FfmpegError when it does not start, is no ffmpeg or takes longer than `timeoutMs`.
 */
export function ffmpegVersion(path: string, timeoutMs = 10_000): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(path, ['-version'], { timeout: timeoutMs, killSignal: 'SIGKILL' }, (error, stdout) => {
      const version = /^ffmpeg version (\S+)/.exec(stdout)?.[1]
      if (!error && version) return resolve(version)
      const why = error?.killed ? `no answer in ${timeoutMs} ms` : (error?.message.trim() ?? 'it is no ffmpeg')
      reject(new FfmpegError('FFMPEG_UNUSABLE', `${path} cannot be used: ${why}`, error ?? undefined))
    })
  })
}

function configuredFfmpeg(path: string): Ffmpeg {
  if (isProgram(path)) return { path, origin: 'configured' }
  const why = existsSync(path) ? 'is not executable' : 'does not exist'
  throw new FfmpegError('FFMPEG_NOT_FOUND', `ffmpeg.path of the config is ${path}, which ${why}`)
}

/** Relative entries are skipped: the program must not depend on the folder in which gatehouse was started. */
function inPath(program: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute)
  return folders.map((folder) => join(folder, program)).find(isProgram)
}

function bundledFfmpeg(env: NodeJS.ProcessEnv): string {
  const asset = assetPath('ffmpeg')
  if (!existsSync(asset)) {
    throw new FfmpegError('FFMPEG_NOT_FOUND', 'there is no ffmpeg in PATH, and none came with gatehouse; install one')
  }
  // From the source tree it runs where npm put it, unless the x bit is missing: npm ran no install script to set it.
  if (!isBundled && isProgram(asset)) return asset
  return unpackNative({ name: 'ffmpeg', sha256: assetSha256('ffmpeg'), content: () => readFileSync(asset), env })
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
