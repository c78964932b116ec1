import { appendOnlyTriggers } from '../../append-only.ts'

/** Redacted copies and exports of clips: requests and results. These rows never change. */
export const privacyStatements: readonly string[] = [
  `CREATE TABLE clip_redaction (
  id INTEGER PRIMARY KEY,                -- stands in the name of its files
  detection_id INTEGER NOT NULL,
  original_sha256 TEXT NOT NULL,         -- of the clip that it was made from
  regions TEXT NOT NULL,                 -- JSON, canonical: [{polygon, from, to}]
  actor_commitment TEXT NOT NULL,        -- who asked
  requested_at_ms INTEGER NOT NULL
) STRICT`,
  'CREATE INDEX clip_redaction_detection ON clip_redaction (detection_id)',
  ...appendOnlyTriggers('clip_redaction', 'id'),
  `CREATE TABLE clip_redaction_end (
  id INTEGER PRIMARY KEY,
  redaction_id INTEGER NOT NULL REFERENCES clip_redaction (id),
  sha256 TEXT,                           -- of the copy; null: there is none
  size_bytes INTEGER,
  snapshot_sha256 TEXT,
  problem TEXT,                          -- why there is none
  ended_at_ms INTEGER NOT NULL
) STRICT`,
  'CREATE INDEX clip_redaction_end_redaction ON clip_redaction_end (redaction_id)',
  ...appendOnlyTriggers('clip_redaction_end', 'id', [['redaction_id']]),
  `CREATE TABLE clip_export (
  id INTEGER PRIMARY KEY,
  detection_id INTEGER NOT NULL,
  cctv_id INTEGER NOT NULL,
  redaction_id INTEGER REFERENCES clip_redaction (id),  -- null: the original
  sha256 TEXT NOT NULL,                  -- of the file that is handed out
  reason_commitment TEXT NOT NULL,
  recipient_commitment TEXT,
  needs_approval INTEGER NOT NULL,       -- 1: privacy.fourEyesForExport was on
  clock_trusted INTEGER NOT NULL,        -- 1: the system did not say that the gateway's clock is unsynchronized
  camera_offset_ms INTEGER,              -- the camera's clock minus the gateway's; null: neither stated nor measured
  camera_offset_by TEXT,                 -- stated, or how it was measured: rtsp, onvif
  camera_offset_measured_at_ms INTEGER,  -- null: not measured
  actor_commitment TEXT NOT NULL,
  requested_at_ms INTEGER NOT NULL
) STRICT`,
  'CREATE INDEX clip_export_camera ON clip_export (cctv_id)',
  ...appendOnlyTriggers('clip_export', 'id'),
  `CREATE TABLE clip_export_decision (
  id INTEGER PRIMARY KEY,
  export_id INTEGER NOT NULL REFERENCES clip_export (id),
  decision TEXT NOT NULL CHECK (decision IN ('approved', 'refused')),
  note_commitment TEXT,
  actor_commitment TEXT NOT NULL,        -- never who asked
  decided_at_ms INTEGER NOT NULL
) STRICT`,
  'CREATE INDEX clip_export_decision_export ON clip_export_decision (export_id)',
  ...appendOnlyTriggers('clip_export_decision', 'id', [['export_id']]),
]
