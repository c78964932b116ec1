import type { Migration } from '../migrate.ts'
import { actorsStatements } from './0017/actors.ts'
import { slotFiltersStatements } from './0017/slot-filters.ts'
import { uploadChecksStatements } from './0017/upload-checks.ts'
import { webhooksStatements } from './0017/webhooks.ts'

/** Choices of receivers, comparisons of uploaded copies, and indexes for the filters of lists. */
export const choices: Migration = {
  version: 17,
  name: 'choices',
  // New tables and indexes only: a gateway of schema 16 can continue with the file.
  oldestReader: 16,
  statements: [...webhooksStatements, ...uploadChecksStatements, ...slotFiltersStatements, ...actorsStatements],
}
