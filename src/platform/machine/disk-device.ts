import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

const sectorBytes = 512

/**
 * Returns the folder below /sys of the whole disk behind a device number: of the disk itself, not of its partition or its
 * mapping. Undefined: no disk that the kernel describes (a container, a RAM disk).
 */
export function diskDevice(dev: number, sys = '/sys'): string | undefined {
  const major = (dev >>> 8) & 0xfff
  const minor = (dev & 0xff) | ((dev >>> 12) & 0xfff00)
  const link = join(sys, 'dev', 'block', `${major}:${minor}`)
  if (!existsSync(link)) return undefined
  let found = realpathSync(link)
  if (existsSync(join(found, 'partition'))) found = dirname(found)
  const [below] = existsSync(join(found, 'slaves')) ? readdirSync(join(found, 'slaves')) : []
  if (below === undefined) return found
  const under = realpathSync(join(found, 'slaves', below))
  return existsSync(join(under, 'partition')) ? dirname(under) : under
}

/** Returns the bytes that were written to a disk since the box started: the seventh field of its `stat`, in sectors. */
export function bytesWrittenTo(disk: string): number | null {
  const sectors = Number(textOf(join(disk, 'stat'))?.trim().split(/\s+/)[6] ?? Number.NaN)
  return Number.isFinite(sectors) ? sectors * sectorBytes : null
}

/**
 * Returns the bytes that this process, and those that it has waited for, handed to the disk since its start. Null where the
 * kernel does not count. Less than the disk gets: the file system writes its journal besides.
 */
export function bytesWrittenHere(proc = '/proc'): number | null {
  const found = /^write_bytes: (\d+)$/m.exec(textOf(join(proc, 'self/io')) ?? '')
  return found ? Number(found[1]) : null
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
