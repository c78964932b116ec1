import { appendOnlyTriggers } from '../append-only.ts'
import type { Migration } from '../migrate.ts'

/** Detections, and settings of cameras that came through the API. */
export const cameras: Migration = {
  version: 2,
  name: 'cameras',
  oldestReader: 1,
  statements: [
    `CREATE TABLE detection_id (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  next INTEGER NOT NULL                  -- ids below it were given out; not all of them come to be used
) STRICT`,
    'INSERT INTO detection_id VALUES (1, 1)',
    `CREATE TABLE detection_reservation (
  id INTEGER PRIMARY KEY,                -- the detection's id; its files are clips/ID.mp4 and clips/ID.png
  event_id TEXT NOT NULL,                -- UUIDv7 of the detection, the id of its notification
  cctv_id INTEGER NOT NULL,              -- the camera, by its number in the config
  fired_at_ms INTEGER NOT NULL,
  score REAL NOT NULL,                   -- 0 to 1, when it fired
  scene_change INTEGER NOT NULL          -- 1: most of the picture changed
) STRICT`,
    `CREATE TABLE detection_event (
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … in the order of commits
  id INTEGER NOT NULL REFERENCES detection_reservation (id),
  event_id TEXT NOT NULL,                -- UUIDv7
  leaf_seq INTEGER NOT NULL REFERENCES log_leaf (seq),
  cctv_id INTEGER NOT NULL,
  timestamp_ms INTEGER NOT NULL,         -- when the detector fired
  score REAL NOT NULL,                   -- highest while it lasted
  scene_change INTEGER NOT NULL,
  clip_status TEXT NOT NULL CHECK (clip_status IN ('recorded', 'cooldown', 'lost')),
  reason TEXT,                           -- why there is no clip, or why it is short
  clip_sha256 TEXT,
  snapshot_sha256 TEXT,
  clip_start_ms INTEGER,                 -- wall clock of the first and last picture
  clip_end_ms INTEGER,
  pre_roll_seconds REAL,                 -- as measured in the file
  duration_seconds REAL,
  recorded_at_ms INTEGER NOT NULL,       -- when the clip was closed
  evidence_hash TEXT NOT NULL            -- SHA-256 of the leaf's bytes, hex
) STRICT`,
    ...appendOnlyTriggers('detection_event', 'row', [['id'], ['event_id'], ['leaf_seq']]),
    `CREATE INDEX detection_event_id ON detection_event (id)`,
    `CREATE INDEX detection_event_event_id ON detection_event (event_id)`,
    `CREATE INDEX detection_event_leaf_seq ON detection_event (leaf_seq)`,
    `CREATE INDEX detection_event_time ON detection_event (timestamp_ms, id)`,
    `CREATE INDEX detection_event_camera ON detection_event (cctv_id, timestamp_ms, id)`,
    `CREATE TABLE motion_control (
  cctv_id INTEGER PRIMARY KEY,
  action TEXT NOT NULL CHECK (action IN ('start', 'stop')),
  settings TEXT NOT NULL,                -- JSON: the values that start was given, over those of the config
  config_sha256 TEXT NOT NULL,           -- of the camera's motion block then: a change of it ends what the API said
  at_ms INTEGER NOT NULL
) STRICT`,
  ],
}
