import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The ffmpeg inside `@ffmpeg-installer/linux-ARCH`: the field `ffmpeg` of its package.json is date and FFmpeg commit. */
export const ffmpegBuilds = {
  '@ffmpeg-installer/linux-arm64': '20190605-gd81913e680',
  '@ffmpeg-installer/linux-x64': '20181210-g0e8eb07980',
} as const

/** Returns the version of SQLite that is compiled into the addon of better-sqlite3. */
export function sqliteVersion(root: string): string {
  const header = readFileSync(join(root, 'node_modules/better-sqlite3/deps/sqlite3/sqlite3.h'), 'utf8')
  const version = /#define SQLITE_VERSION\s+"([^"]+)"/.exec(header)?.[1]
  if (!version) throw new Error('better-sqlite3 does not name the version of its SQLite')
  return version
}
