import { appendOnlyTriggers } from '../../append-only.ts'

const unique = [['event_id'], ['log_id', 'leaf_seq']]

/** When cameras did not watch, and why. */
export const cameraGapsStatements: readonly string[] = [
  `CREATE TABLE camera_gap (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 … in the order in which they ended
  event_id TEXT NOT NULL,                -- UUIDv7
  log_id INTEGER NOT NULL,               -- log_identity.id of the log that its leaf stands in
  leaf_seq INTEGER NOT NULL,             -- log_leaf.seq
  leaf_version INTEGER NOT NULL,         -- v of the leaf
  cctv_id INTEGER NOT NULL,              -- the camera, by its number in the config
  from_ms INTEGER NOT NULL,              -- its last picture before; the gaps of a camera never overlap
  to_ms INTEGER NOT NULL CHECK (to_ms > from_ms), -- its first picture after, exclusive
  cause TEXT NOT NULL,                   -- offline, refused, stalled, disarmed, cooldown, disk_full …
  detail TEXT,                           -- what was wrong, in words for the admin
  recorded_at_ms INTEGER NOT NULL,       -- gateway's time; never decreases with id
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  FOREIGN KEY (log_id, leaf_seq) REFERENCES log_leaf (log_id, seq)
) STRICT`,
  `CREATE INDEX camera_gap_event_id ON camera_gap (event_id)`,
  `CREATE INDEX camera_gap_leaf ON camera_gap (log_id, leaf_seq)`,
  `CREATE INDEX camera_gap_camera ON camera_gap (cctv_id, from_ms, id)`,
  ...appendOnlyTriggers('camera_gap', 'id', unique),
  `CREATE TABLE camera_watch (
  cctv_id INTEGER PRIMARY KEY,
  known_since_ms INTEGER NOT NULL,       -- when the gateway first had it in its config
  open_from_ms INTEGER,                  -- the gap that lasts; null: it watches
  open_cause TEXT,
  open_detail TEXT
) STRICT                                 -- job state; a gap that has ended is a row of camera_gap`,
  `CREATE TABLE camera_heartbeat (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at_ms INTEGER NOT NULL                 -- the gateway lived then; exact at a clean stop, else up to 15 s early
) STRICT`,
]
