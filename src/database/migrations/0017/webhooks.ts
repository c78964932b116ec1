/** The log and the size of the checkpoint in the body of a notification, as a JSON array; two nulls: it has none. */
const carriedIn = `json_extract(CAST(body AS TEXT), '$.metadata.checkpoint.logId', '$.metadata.checkpoint.size')`
const none = `'[null,null]'`
const middle = '(low + high) / 2'
const atMiddle = `(SELECT ${carriedIn} FROM outbox WHERE seq >= ${middle} ORDER BY seq LIMIT 1)`

/**
 * Notes which checkpoint the deliveries of schema 16 carried, inside their bodies. Neighbours carry the same one, so a binary
 * search finds the changes without reading a month of bodies. A row behind the last notification states that no more is carried.
 */
const carriedInBodies = `INSERT INTO webhook_checkpoint (webhook_id, from_seq, log_id, size)
WITH RECURSIVE
  ends (low, high) AS (SELECT (SELECT min(seq) FROM outbox) - 1, (SELECT max(seq) FROM outbox)),
  span (low, high, at_low, at_high) AS (
    SELECT low, high, ${none}, (SELECT ${carriedIn} FROM outbox WHERE seq = high) FROM ends
    UNION ALL
    SELECT iif(upper, ${middle}, low), iif(upper, high, ${middle}), iif(upper, ${atMiddle}, at_low), iif(upper, at_high, ${atMiddle})
    FROM span CROSS JOIN (SELECT 0 AS upper UNION ALL SELECT 1) WHERE at_low <> at_high AND high > low + 1
  ),
  run (seq, next_seq, carried) AS MATERIALIZED (
    SELECT high, lead(high) OVER (ORDER BY high), at_high FROM span WHERE at_low <> at_high AND high = low + 1
  )
SELECT w.id, r.seq, json_extract(r.carried, '$[0]'), json_extract(r.carried, '$[1]') FROM webhook w CROSS JOIN run r
  WHERE r.next_seq IS NULL OR EXISTS (
    SELECT 1 FROM delivery d WHERE d.webhook_id = w.id AND d.outbox_seq >= r.seq AND d.outbox_seq < r.next_seq)
UNION ALL SELECT w.id, e.high + 1, NULL, NULL FROM webhook w CROSS JOIN ends e WHERE EXISTS (SELECT 1 FROM run)`

/** Choices of a receiver, the time since when it is slowed down, and the checkpoints that its deliveries carry. */
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
  // Schema 16 does not record when the sixth attempt failed.
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
  carriedInBodies,
]
