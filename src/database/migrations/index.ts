import type { Migration } from '../migrate.ts'
import { floor } from './0001-floor.ts'

/** All migrations in order. Imported, not scanned, so that they are inside the bundle. */
export const migrations: readonly Migration[] = [floor]
