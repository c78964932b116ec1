import type { Migration } from '../migrate.ts'

/** Indexes for an auditor's questions: the acts of one person, and the events of one work order. */
export const ledgerReads: Migration = {
  version: 13,
  name: 'ledger-reads',
  oldestReader: 1,
  statements: [
    'CREATE INDEX placement_event_operator ON placement_event (operator_commitment, timestamp_ms, id)',
    `CREATE INDEX placement_event_work_order ON placement_event (work_order_ref, timestamp_ms, id)
  WHERE work_order_ref IS NOT NULL`,
  ],
}
