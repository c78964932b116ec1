import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorCode, errorMessage } from '../platform/faults.ts'
import type { Source } from './document.ts'
import type { Problem } from './problems.ts'

/** Larger files are refused: a config has some kilobytes, and a disk image may be named by mistake. */
const largestBytes = 4 * 1024 * 1024

export type Sources = {
  /** Every file of the config, readable or not, as messages name them. */
  readonly files: readonly string[]
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
}

/** Reads the config file, then its drop-ins `*.yaml` in that folder beside it, in the order of their names. */
export function readSources(file: string, cwd: string, folderOfDropIns = 'conf.d'): Sources {
  const folder = join(dirname(file), folderOfDropIns)
  const dropIns = listDropIns(resolve(cwd, folder))
  const files = [file, ...dropIns.names.map((name) => join(folder, name))]
  const read = files.map((one) => readSource(one, cwd))
  return {
    files: dropIns.why ? [...files, folder] : files,
    sources: read.filter((one) => 'text' in one),
    problems: [...read.filter((one) => 'message' in one), ...(dropIns.why ? [unreadable(folder, dropIns.why)] : [])],
  }
}

/** Lists the drop-ins. Names that begin with a dot are ignored: editors leave them behind. */
function listDropIns(folder: string): { names: string[]; why?: string } {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
    return { names: names.sort() }
  } catch (error) {
    const missing = errorCode(error) === 'ENOENT'
    return missing ? { names: [] } : { names: [], why: whyUnreadable(error) }
  }
}

function readSource(file: string, cwd: string): Source | Problem {
  const path = resolve(cwd, file)
  try {
    if (statSync(path).size > largestBytes) return unreadable(file, 'is larger than 4 MiB: this is no config')
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
    return { file, folder: dirname(path), text }
  } catch (error) {
    return unreadable(file, whyUnreadable(error))
  }
}

/** Returns a file system error as words for the admin. */
export function whyUnreadable(error: unknown): string {
  const code = errorCode(error)
  const message = errorMessage(error)
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text'
  if (code === 'EISDIR') return 'is a folder, not a file'
  if (code === 'EACCES') return 'this user may not read it'
  return `cannot be read: ${code ?? message}`
}

function unreadable(file: string, message: string): Problem {
  return { place: { file, line: 1, column: 1 }, path: '', message }
}

/** Says whether every user of this machine may read a file; false when it cannot be checked. */
export function isOpenToAll(path: string): boolean {
  try {
    return (statSync(path).mode & 0o004) !== 0
  } catch {
    return false
  }
}
