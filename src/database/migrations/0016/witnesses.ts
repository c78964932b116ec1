import { appendOnlyTriggers } from '../../append-only.ts'

/** State of this box as a witness of other logs. */
export const witnessesStatements: readonly string[] = [
  `CREATE TABLE witness_log (
  origin TEXT PRIMARY KEY,               -- of the log that this box witnesses
  size INTEGER NOT NULL CHECK (size >= 0), -- leaves of the last checkpoint that it cosigned
  root BLOB NOT NULL CHECK (length(root) = 32),
  note TEXT NOT NULL,                    -- that checkpoint, as it was sent
  cosigned_at_ms INTEGER NOT NULL
) STRICT`,
  `CREATE TRIGGER witness_log_grows BEFORE UPDATE ON witness_log
WHEN NEW.size < OLD.size OR (NEW.size = OLD.size AND NEW.root <> OLD.root) OR NEW.origin <> OLD.origin
BEGIN SELECT RAISE(ABORT, 'witness_log must not go back'); END`,
  `CREATE TABLE witness_conflict (
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 …
  origin TEXT NOT NULL,                  -- of the log that showed two roots for one size
  size INTEGER NOT NULL,
  note TEXT NOT NULL,                    -- the signed checkpoint with the other root
  cosigned_note TEXT NOT NULL,           -- the one that this box had cosigned
  received_at_ms INTEGER NOT NULL
) STRICT`,
  ...appendOnlyTriggers('witness_conflict', 'row', [['origin', 'note']]),
]
