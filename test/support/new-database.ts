import { hash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { databaseFile, openWriter } from '../../src/database/index.ts'
import { migrations } from '../../src/database/migrations/index.ts'

const folder = resolve(import.meta.dirname, '../../.cache/tests')
/** One for each state of the migrations, so that none is older than they are. */
const madeOnce = join(folder, `empty-${hash('sha256', JSON.stringify(migrations)).slice(0, 16)}.db`)

/**
 * Makes a missing data folder with an empty database of the newest schema, as the first start would. It copies one that was
 * migrated once: the migrations take longer than most tests, and the tests open thousands of gateways.
 */
export function putNewDatabase(dataDir: string): void {
  if (existsSync(dataDir)) return
  if (!existsSync(madeOnce)) makeOnce()
  mkdirSync(dataDir, { recursive: true, mode: 0o750 })
  copyFileSync(madeOnce, databaseFile(dataDir))
}

function makeOnce(): void {
  mkdirSync(folder, { recursive: true })
  const own = mkdtempSync(join(folder, 'empty-'))
  openWriter({ dataDir: own, nowMs: 0 }).close()
  renameSync(databaseFile(own), madeOnce)
  rmSync(own, { recursive: true })
}
