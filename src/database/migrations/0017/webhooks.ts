/** What a receiver chooses, since when it is slowed down, and the checkpoints that its deliveries carry. */
export const webhooksStatements = [
  `CREATE TABLE webhook_choice (
  webhook_id TEXT PRIMARY KEY REFERENCES webhook (id) ON DELETE CASCADE, -- without a row: neither
  checkpoint INTEGER NOT NULL,           -- 1: its deliveries carry a checkpoint
  hold INTEGER NOT NULL                  -- 1: switched off by a person, and gets later what is published meanwhile
) STRICT, WITHOUT ROWID`,
  `CREATE TABLE webhook_slowed (
  webhook_id TEXT PRIMARY KEY REFERENCES webhook (id) ON DELETE CASCADE,
  since_ms INTEGER NOT NULL              -- when the sixth attempt in a row failed; the row goes with the next 2xx
) STRICT, WITHOUT ROWID`,
  // Schema 16 does not say when the sixth attempt failed.
  `INSERT INTO webhook_slowed (webhook_id, since_ms)
  SELECT id, updated_at_ms FROM webhook WHERE consecutive_failures >= 6`,
  `CREATE TABLE webhook_checkpoint (
  webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  from_seq INTEGER NOT NULL,             -- deliveries of outbox.seq from here to the next row carry it
  log_id TEXT,                           -- UUID of its log; null as checkpoint
  size INTEGER,                          -- leaves that it covers; null as checkpoint
  checkpoint TEXT,                       -- metadata.checkpoint as JSON, as signed and sent; null: they carry none
  PRIMARY KEY (webhook_id, from_seq)
) STRICT`,
  'CREATE INDEX webhook_checkpoint_covering ON webhook_checkpoint (webhook_id, log_id, size, from_seq)',
]
