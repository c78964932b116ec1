import { appendOnlyTriggers } from '../../append-only.ts'

/** Files that were removed from the disk, and files that are still on it. */
export const retentionStatements: readonly string[] = [
  `CREATE TABLE media_removed (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 … in the order of commits
  event_id TEXT NOT NULL,                -- UUIDv7
  sha256 TEXT NOT NULL,                  -- of the file that was removed; its row in media stays
  media_kind TEXT NOT NULL CHECK (media_kind IN ('photo', 'clip', 'snapshot')),
  detection_id INTEGER,                  -- whose clip or snapshot it was; null: a photo
  cause TEXT NOT NULL,                   -- age, free-space
  policy TEXT NOT NULL,                  -- the config key that asked for it, with its value
  removed_at_ms INTEGER NOT NULL,
  log_id INTEGER NOT NULL,               -- log_identity.id of the log that its leaf stands in
  leaf_seq INTEGER NOT NULL,
  leaf_version INTEGER NOT NULL,
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  CHECK ((detection_id IS NULL) = (media_kind = 'photo')),
  FOREIGN KEY (log_id, leaf_seq) REFERENCES log_leaf (log_id, seq)
) STRICT`,
  ...appendOnlyTriggers('media_removed', 'id', [['event_id'], ['log_id', 'leaf_seq']]),
  'CREATE INDEX media_removed_event_id ON media_removed (event_id)',
  'CREATE INDEX media_removed_leaf ON media_removed (log_id, leaf_seq)',
  'CREATE INDEX media_removed_sha256 ON media_removed (sha256, id)',
  'CREATE INDEX media_removed_detection ON media_removed (detection_id) WHERE detection_id IS NOT NULL',
  `CREATE TABLE media_unlink (
  removal_id INTEGER PRIMARY KEY REFERENCES media_removed (id),
  path TEXT NOT NULL                     -- of a file below the data folder; the row goes when the file has gone
) STRICT`,
  `CREATE TABLE media_return (
  sha256 TEXT PRIMARY KEY,               -- of a photo that was sent again after it had been removed
  removal_id INTEGER NOT NULL            -- its newest removal then; a later one removes it again
) STRICT, WITHOUT ROWID`,
  `CREATE TABLE clip_file (
  detection_id INTEGER PRIMARY KEY,      -- a detection whose clip is on the disk; the row goes with the clip
  cctv_id INTEGER NOT NULL,
  timestamp_ms INTEGER NOT NULL,         -- when the detector fired
  size_bytes INTEGER NOT NULL            -- of clip and snapshot
) STRICT`,
  'CREATE INDEX clip_file_age ON clip_file (timestamp_ms, detection_id)',
  'CREATE INDEX clip_file_camera ON clip_file (cctv_id, timestamp_ms, detection_id)',
  `INSERT INTO clip_file SELECT d.id, d.cctv_id, d.timestamp_ms,
  (SELECT coalesce(sum(m.size_bytes), 0) FROM media m WHERE m.sha256 IN (d.clip_sha256, d.snapshot_sha256))
  FROM detection_event d WHERE d.clip_sha256 IS NOT NULL`,
]
