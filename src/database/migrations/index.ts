import type { Migration } from '../migrate.ts'
import { floor } from './0001-floor.ts'
import { cameras } from './0002-cameras.ts'
import { consoleSessions } from './0003-console.ts'
import { ledgerGuards } from './0004-ledger-guards.ts'
import { corrections } from './0005-corrections.ts'
import { counts } from './0009-counts.ts'

/** All migrations in order. Imported, not scanned, so that they are inside the bundle. */
export const migrations: readonly Migration[] = [floor, cameras, consoleSessions, ledgerGuards, corrections, counts]
