import { readFileSync } from 'node:fs'
import { errorCode, errorMessage } from '../faults.ts'

/** Is written in a path for the folder that systemd makes for the credentials of a service. */
export const credentialsFolder = /\$\{CREDENTIALS_DIRECTORY\}/g

export type SecretFileErrorCode =
  /** The file or the credentials folder does not exist. */
  | 'SECRET_FILE_MISSING'
  /** It exists, but is not a file that this process may read. */
  | 'SECRET_FILE_UNREADABLE'
  /** It is empty, or not UTF-8. */
  | 'SECRET_FILE_INVALID'

/** A secret file cannot be used. The message names the file and never its content. */
export class SecretFileError extends Error {
  override readonly name = 'SecretFileError'
  readonly code: SecretFileErrorCode
  readonly path: string

  constructor(code: SecretFileErrorCode, path: string, why: string, cause?: unknown) {
    super(`the secret file ${path} ${why}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
  }
}

/**
 * Returns the secret in a file that a `…File` key of the config names, without one line end. Reads the file at every
 * call, so that a changed secret needs no restart. Throws SecretFileError.
 */
export function readSecretFile(path: string, env: NodeJS.ProcessEnv = process.env): string {
  const expanded = expandCredentials(path, env)
  const secret = decode(read(expanded), expanded).replace(/\r?\n$/, '')
  if (secret === '') throw new SecretFileError('SECRET_FILE_INVALID', expanded, 'is empty')
  return secret
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const code = errorCode(error)
    const message = errorMessage(error)
    if (code === 'ENOENT') throw new SecretFileError('SECRET_FILE_MISSING', path, 'does not exist', error)
    throw new SecretFileError('SECRET_FILE_UNREADABLE', path, `cannot be read: ${code ?? message}`, error)
  }
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new SecretFileError('SECRET_FILE_INVALID', path, 'is not UTF-8 text', error)
  }
}

/** Puts the folder of the credentials into a path; a process that has none leaves the path as it is. */
export function expandCredentials(path: string, env: NodeJS.ProcessEnv): string {
  return path.replaceAll(credentialsFolder, (written) => env['CREDENTIALS_DIRECTORY'] || written)
}
