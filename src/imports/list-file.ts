import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DiskRoom } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { writeFileDurablyAside } from '../platform/index.ts'

/** Returns the path of a list of opening stock, named by its hash. */
export function listFile(dataDir: string, sha256: string): string {
  return join(dataDir, 'lists', sha256.slice(0, 2), `${sha256}.csv`)
}

/** Writes the file, before its row is stored; an existing file is kept. Throws STORAGE_FULL. */
export async function keepList(
  dataDir: string,
  sha256: string,
  bytes: Buffer,
  room: Pick<DiskRoom, 'demand'>,
): Promise<void> {
  const file = listFile(dataDir, sha256)
  if (existsSync(file)) return
  room.demand(bytes.length, 'the list')
  try {
    await writeFileDurablyAside(file, bytes, 0o640)
  } catch (error) {
    throw new AppError('STORAGE_FULL', 'The list cannot be written; nothing was stored', {
      cause: error,
      retryAfterSeconds: 30,
    })
  }
}
