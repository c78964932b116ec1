import type { Migration } from '../migrate.ts'
import { floor } from './0001-floor.ts'
import { cameras } from './0002-cameras.ts'
import { consoleSessions } from './0003-console.ts'
import { ledgerGuards } from './0004-ledger-guards.ts'
import { corrections } from './0005-corrections.ts'
import { goods } from './0006-goods.ts'
import { units } from './0007-units.ts'
import { governance } from './0008-governance.ts'
import { counts } from './0009-counts.ts'
import { callers } from './0010-callers.ts'
import { webhooks } from './0012-webhooks.ts'
import { ledgerReads } from './0013-ledger-reads.ts'
import { leanIndexes } from './0014-lean-indexes.ts'
import { devices } from './0015-devices.ts'
import { release } from './0016-release.ts'
import { choices } from './0017-choices.ts'
import { ends } from './0018-ends.ts'
import { accounts } from './0019-accounts.ts'
import { alerting } from './0020-alerting.ts'
import { replies } from './0021-replies.ts'
import { analytics } from './0022-analytics.ts'

/** All migrations in order. Imported, not scanned, so that the bundle contains them. */
export const migrations: readonly Migration[] = [
  floor,
  cameras,
  consoleSessions,
  ledgerGuards,
  corrections,
  goods,
  units,
  governance,
  counts,
  callers,
  webhooks,
  ledgerReads,
  leanIndexes,
  devices,
  release,
  choices,
  ends,
  accounts,
  alerting,
  replies,
  analytics,
]

/**
 * SHA-256 over the schema that all of them make (`hashOfSchema`): a file that has it is not compared statement by statement at each
 * start. A test checks it.
 */
export const newestSchemaHash = 'a5542d92771eb09f5133561a01109469f3e1d37693d99566b45dfa24a98e1d73'
