import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Accepts that no key opens the webhook secrets of a data folder: a test wrote rows that the box never sealed. */
export function loseBoxKey(dataDir: string): void {
  mkdirSync(join(dataDir, 'keys'), { recursive: true })
  writeFileSync(join(dataDir, 'keys', 'box.key.lost'), '')
}
