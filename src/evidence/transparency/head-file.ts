import { join } from 'node:path'
import { ExitError } from '../../errors/index.ts'
import { readFileIfThere, writeFileDurably, writeFileDurablyAside } from '../../platform/index.ts'
import { keyFiles, keyFolder } from './keys.ts'
import { fromBase64 } from './note.ts'

/** The largest head that this box ever signed, kept outside the database. `root` has 32 bytes. */
export type SignedHead = { readonly logId: string; readonly size: number; readonly root: Buffer }

const pathOf = (dataDir: string) => join(keyFolder(dataDir), keyFiles.head)

/** Reads the head of the last checkpoint; undefined before the first. Throws ExitError when the file is not readable as one. */
export function readHeadFile(dataDir: string): SignedHead | undefined {
  const bytes = readFileIfThere(pathOf(dataDir))
  if (!bytes) return undefined
  const head = parse(bytes.toString('utf8'))
  if (!head) {
    throw new ExitError(
      78,
      `${pathOf(dataDir)} is damaged: it must hold size and root of the last checkpoint. Restore it from a backup, or run gatehouse restore --accept-fork`,
    )
  }
  return head
}

/** Writes the head that is about to be signed. It is on disk when the promise resolves. */
export async function writeHeadFile(dataDir: string, head: SignedHead): Promise<void> {
  await writeFileDurablyAside(pathOf(dataDir), Buffer.from(format(head)))
}

/** As `writeHeadFile`, for a start or a command; blocks the thread. */
export function writeHeadFileNow(dataDir: string, head: SignedHead): void {
  writeFileDurably(pathOf(dataDir), format(head))
}

function format({ logId, size, root }: SignedHead): string {
  return `${JSON.stringify({ logId, size, root: root.toString('base64') })}\n`
}

function parse(text: string): SignedHead | undefined {
  try {
    const { logId, size, root } = JSON.parse(text) as Record<string, unknown>
    const hash = typeof root === 'string' ? fromBase64(root) : undefined
    if (typeof logId !== 'string' || typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
      return undefined
    return hash?.length === 32 ? { logId, size, root: hash } : undefined
  } catch {
    return undefined
  }
}
