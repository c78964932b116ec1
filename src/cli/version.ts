import { readFileSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { Command } from 'commander'
import { newestSchema } from '../database/index.ts'
import { assetPath, buildInfo, makeAsset } from '../platform/bundle.ts'
import { errorMessage } from '../platform/faults.ts'
import { type FfmpegOrigin, ffmpegVersion, locateFfmpeg } from '../platform/ffmpeg.ts'
import { print } from '../platform/index.ts'

const originWords: Record<FfmpegOrigin, string> = {
  configured: 'configured',
  system: 'system',
  bundled: 'bundled (of 2018, without security updates; install the one of the system)',
}

export function versionCommand(): Command {
  return new Command('version')
    .description('version, commit, Node, SQLite, ffmpeg (which, from where)')
    .option('--json', 'for programs')
    .option('--sbom', 'components of gatehouse (SBOM), as CycloneDX in JSON')
    .action(version)
}

async function version(options: { json?: boolean; sbom?: boolean }): Promise<void> {
  if (options.sbom) {
    await makeAsset('sbom.json')
    print(readFileSync(assetPath('sbom.json'), 'utf8'))
    return
  }
  const all = {
    ...buildInfo(),
    schema: newestSchema,
    node: process.versions.node,
    sqlite: sqliteVersion(),
    ffmpeg: await ffmpeg(),
  }
  if (options.json) {
    print(`${JSON.stringify(all)}\n`)
    return
  }
  const { version: own, commit, node, sqlite, ffmpeg: video } = all
  const where = 'error' in video ? video.error : `${video.version}, ${originWords[video.origin]}: ${video.path}`
  print(`gatehouse ${own} (${commit})\nNode ${node}\nSQLite ${sqlite}\nffmpeg ${where}\n`)
}

function sqliteVersion(): string {
  const db = new BetterSqlite3(':memory:')
  try {
    return db.prepare('SELECT sqlite_version()').pluck().get() as string
  } finally {
    db.close()
  }
}

async function ffmpeg() {
  try {
    const found = locateFfmpeg()
    return { ...found, version: await ffmpegVersion(found.path) }
  } catch (error) {
    return { error: errorMessage(error) }
  }
}
