import { readFileSync } from 'node:fs'
import { expandCredentials } from './paths.ts'

export type SecretFileErrorCode =
  /** There is no such file, or no folder of credentials. */
  | 'SECRET_FILE_MISSING'
  /** It is there, but is no file that this process may read. */
  | 'SECRET_FILE_UNREADABLE'
  /** It holds nothing, or no UTF-8. */
  | 'SECRET_FILE_INVALID'

/** The message is a sentence for the admin; it names the file and never what is in it. */
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
 * The secret in a file that a `…File` key of the config names, without one line end at its end. Read anew at every call,
 * so that a changed secret needs no restart. Throws SecretFileError.
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
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new SecretFileError('SECRET_FILE_MISSING', path, 'does not exist', error)
    throw new SecretFileError('SECRET_FILE_UNREADABLE', path, `can not be read: ${code ?? message}`, error)
  }
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new SecretFileError('SECRET_FILE_INVALID', path, 'is not UTF-8 text', error)
  }
}
