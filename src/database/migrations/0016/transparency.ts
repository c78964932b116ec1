import { appendOnlyTriggers } from '../../append-only.ts'

/** Tables by which outsiders can check the log: stored tiles, checkpoints, and cosignatures and time stamps for them. */
export const transparencyStatements: readonly string[] = [
  `CREATE TABLE log_tile (
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … over all logs of the box
  log_id INTEGER NOT NULL REFERENCES log_identity (id),
  level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 7),
  n INTEGER NOT NULL,                    -- 0, 1, 2 … within the level; only full tiles are stored
  hashes BLOB NOT NULL CHECK (length(hashes) = 8192), -- 256 hashes: of leaves, or roots of tiles of the level below
  root BLOB NOT NULL CHECK (length(root) = 32)        -- over the 256 hashes
) STRICT`,
  ...appendOnlyTriggers('log_tile', 'row', [['log_id', 'level', 'n']]),
  // With the root, so that a level above is computed without the overflow pages of 256 tiles.
  'CREATE INDEX log_tile_place ON log_tile (log_id, level, n, root)',
  `CREATE TABLE log_checkpoint (
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … over all logs of the box
  log_id INTEGER NOT NULL REFERENCES log_identity (id),
  size INTEGER NOT NULL CHECK (size >= 0), -- leaves that it covers
  root BLOB NOT NULL CHECK (length(root) = 32), -- RFC 6962 root over them
  note TEXT NOT NULL,                    -- the signed note as it was sent, without cosignatures
  signed_at_ms INTEGER NOT NULL
) STRICT`,
  ...appendOnlyTriggers('log_checkpoint', 'row', [['log_id', 'size']]),
  'CREATE INDEX log_checkpoint_size ON log_checkpoint (log_id, size)',
  `CREATE TRIGGER log_checkpoint_grows BEFORE INSERT ON log_checkpoint
WHEN NEW.size < (SELECT coalesce(max(size), 0) FROM log_checkpoint WHERE log_id = NEW.log_id)
BEGIN SELECT RAISE(ABORT, 'log_checkpoint is append-only: size must not shrink'); END`,
  `CREATE TABLE log_cosignature (
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … over all logs of the box
  log_id INTEGER NOT NULL REFERENCES log_identity (id),
  size INTEGER NOT NULL,                 -- of the checkpoint under which it stands
  name TEXT NOT NULL,                    -- of the witness
  line TEXT NOT NULL,                    -- its signature line, with the newline
  cosigned_at_ms INTEGER NOT NULL,       -- the time that the cosignature states
  received_at_ms INTEGER NOT NULL
) STRICT`,
  ...appendOnlyTriggers('log_cosignature', 'row', [['log_id', 'size', 'line']]),
  'CREATE INDEX log_cosignature_size ON log_cosignature (log_id, size)',
  'CREATE INDEX log_cosignature_name ON log_cosignature (log_id, name, size)',
  `CREATE TABLE log_timestamp (
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … over all logs of the box
  log_id INTEGER NOT NULL REFERENCES log_identity (id),
  size INTEGER NOT NULL,                 -- of the checkpoint whose note body was stamped
  url TEXT NOT NULL,                     -- of the time-stamping authority
  token BLOB NOT NULL,                   -- RFC 3161 TimeStampToken, DER
  stamped_at_ms INTEGER NOT NULL,        -- the time that the token states
  received_at_ms INTEGER NOT NULL
) STRICT`,
  ...appendOnlyTriggers('log_timestamp', 'row'),
  'CREATE INDEX log_timestamp_size ON log_timestamp (log_id, size)',
]
