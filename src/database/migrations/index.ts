import type { Migration } from '../migrate.ts'
import { floor } from './0001-floor.ts'
import { cameras } from './0002-cameras.ts'
import { consoleSessions } from './0003-console.ts'
import { ledgerGuards } from './0004-ledger-guards.ts'
import { corrections } from './0005-corrections.ts'
import { leanIndexes } from './0014-lean-indexes.ts'

/** All migrations in order. Imported, not scanned, so that they are inside the bundle. */
export const migrations: readonly Migration[] = [
  floor,
  cameras,
  consoleSessions,
  ledgerGuards,
  corrections,
  leanIndexes,
]
