import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { threadId } from 'node:worker_threads'
import { errorCode, errorMessage } from '../faults.ts'

/**
 * Programs and addons that the binary carries cannot be run from inside it: they are unpacked once, under their hash,
 * to `${PKG_NATIVE_CACHE_PATH:-$HOME/.cache}/gatehouse/SHA256/NAME`.
 */

export type NativeCacheErrorCode =
  /** Neither PKG_NATIVE_CACHE_PATH nor a home folder is set, so there is no place to unpack. */
  | 'NATIVE_CACHE_NOWHERE'
  /** The folder cannot be made or written: permissions, a read-only file system, a full disk. */
  | 'NATIVE_CACHE_UNWRITABLE'
  /** The folder belongs to another user, who could exchange the programs in it. */
  | 'NATIVE_CACHE_FOREIGN'
  /** Programs in the folder cannot run: it is mounted noexec. */
  | 'NATIVE_CACHE_NOEXEC'

/** The message is a sentence for the admin; it names the folder and the remedy. */
export class NativeCacheError extends Error {
  override readonly name = 'NativeCacheError'
  readonly code: NativeCacheErrorCode

  constructor(code: NativeCacheErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

const remedy = 'set PKG_NATIVE_CACHE_PATH to a folder that this user may write to and run programs from'

export type Unpacking = {
  /** File name to unpack to. */
  readonly name: string
  /** Hex SHA-256 of the content. */
  readonly sha256: string
  /** Returns the content; called only when the cache lacks it. */
  readonly content: () => Uint8Array
  readonly env?: NodeJS.ProcessEnv
}

/**
 * Returns the path of an executable file (0755, in a folder of mode 0700) with exactly this content. Writes it when it is missing
 * or was changed. Any number of processes may do so at once. Blocks for as long as hashing the file takes. Throws NativeCacheError.
 */
export function unpackNative({ name, sha256, content, env = process.env }: Unpacking): string {
  const folder = join(nativeCacheFolder(env), sha256)
  const path = join(folder, name)
  makeFolder(folder, name)
  if (sha256Of(path) !== sha256) writeWhole(path, content(), folder, name)
  refuseNoexec(path, folder, name)
  return path
}

/** `${PKG_NATIVE_CACHE_PATH:-$HOME/.cache}/gatehouse`, with the home of the user database when HOME is not set. */
export function nativeCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env['PKG_NATIVE_CACHE_PATH'] || join(env['HOME'] || homeOfUser(), '.cache'), 'gatehouse')
}

/** Returns the folder for compiled code of V8; undefined where this user has no folder for itself alone. */
export function compiledFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  try {
    const folder = join(nativeCacheFolder(env), 'compiled')
    makeFolder(folder, 'the program')
    return folder
  } catch {
    return undefined
  }
}

function homeOfUser(): string {
  try {
    return userInfo().homedir
  } catch (error) {
    throw new NativeCacheError('NATIVE_CACHE_NOWHERE', `this user has no home folder to unpack to; ${remedy}`, error)
  }
}

function makeFolder(folder: string, name: string): void {
  try {
    makeFolderWithParents(folder)
  } catch (error) {
    throw unwritable(folder, name, error)
  }
  const { uid, mode } = statSync(folder)
  const ours = uid === 0 || uid === process.geteuid?.()
  if (!ours || mode & 0o022) {
    const who = ours ? 'others may write to it' : `it belongs to user ${uid}`
    throw new NativeCacheError('NATIVE_CACHE_FOREIGN', `${name} is not run from ${folder}, because ${who}; ${remedy}`)
  }
}

/** Not Node's `recursive`: that one reports a read-only file system as ENOENT, and never comes back under /proc. */
function makeFolderWithParents(folder: string): void {
  try {
    makeFolderOnce(folder)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    makeFolderWithParents(dirname(folder))
    makeFolderOnce(folder)
  }
}

function makeFolderOnce(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

/** A process killed in between leaves a temp file, which the next one of that pid writes over. */
function writeWhole(path: string, content: Uint8Array, folder: string, name: string): void {
  const temp = `${path}.part-${process.pid}-${threadId}`
  try {
    writeFileSync(temp, content, { mode: 0o755 })
    chmodSync(temp, 0o755)
    renameSync(temp, path)
  } catch (error) {
    rmSync(temp, { force: true })
    throw unwritable(folder, name, error)
  }
}

/** On a noexec mount the kernel denies X_OK even to root. */
function refuseNoexec(path: string, folder: string, name: string): void {
  try {
    if ((statSync(path).mode & 0o111) !== 0o111) chmodSync(path, 0o755)
    accessSync(path, constants.X_OK)
  } catch (error) {
    const message = `${name} cannot be run from ${folder}: no program may run there (mounted noexec?); ${remedy}`
    throw new NativeCacheError('NATIVE_CACHE_NOEXEC', message, error)
  }
}

function unwritable(folder: string, name: string, error: unknown): NativeCacheError {
  const why = errorMessage(error)
  const message = `${name} cannot be unpacked to ${folder}: ${why}; ${remedy}`
  return new NativeCacheError('NATIVE_CACHE_UNWRITABLE', message, error)
}

/** In pieces, because ffmpeg has 65 MB; undefined when there is no such file or it cannot be read. */
function sha256Of(path: string): string | undefined {
  let fd: number | undefined
  try {
    fd = openSync(path, 'r')
    const hash = createHash('sha256')
    const piece = Buffer.allocUnsafe(1024 * 1024)
    for (let read = readSync(fd, piece); read > 0; read = readSync(fd, piece)) hash.update(piece.subarray(0, read))
    return hash.digest('hex')
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
