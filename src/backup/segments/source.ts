import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Source of segments: the place that holds `<siteId>/segments`. */
export type SegmentSource = {
  /** For messages. */
  readonly name: string
  /** Names in a folder, those of folders with a slash at the end; none when it is not there. Rejects when it cannot be read. */
  list(folder: string): Promise<string[]>
  /** The bytes of a file. Rejects when it cannot be read. */
  read(path: string): Promise<Buffer>
}

/** Returns a source that is a folder. */
export function folderSource(root: string): SegmentSource & { remove(path: string): Promise<void> } {
  return {
    name: root,
    async list(folder) {
      const path = join(root, folder)
      if (!existsSync(path)) return []
      const entries = await readdir(path, { withFileTypes: true })
      return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    },
    read: (path) => readFile(join(root, path)),
    remove: (path) => rm(join(root, path), { recursive: true, force: true }),
  }
}
