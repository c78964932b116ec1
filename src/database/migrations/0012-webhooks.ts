import type { Migration } from '../migrate.ts'

/** Rotated secrets, redelivery, and answers of receivers. */
export const webhooks: Migration = {
  version: 12,
  name: 'webhooks',
  oldestReader: 1,
  statements: [
    `CREATE TABLE webhook_retired_secret (
  webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  valid_until_ms INTEGER NOT NULL,       -- signs beside the current secret until then
  secret BLOB NOT NULL,                  -- sealed with the box's key, bound to its webhook
  PRIMARY KEY (webhook_id, valid_until_ms)
) STRICT, WITHOUT ROWID`,
    `ALTER TABLE delivery ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0 /* attempts made before its last redelivery, which began the schedule anew */`,
    `ALTER TABLE delivery_attempt ADD COLUMN answer TEXT /* the first KiB of the answer's body; null: it had none */`,
    `CREATE INDEX delivery_exhausted ON delivery (webhook_id, outbox_seq) WHERE state = 'exhausted'`,
    `CREATE INDEX delivery_leased ON delivery (lease_until_ms) WHERE state = 'pending' AND lease_until_ms > 0`,
  ],
}
