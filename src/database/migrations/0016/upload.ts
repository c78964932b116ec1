/** Files to copy to the file storage server, with their progress. Job state: rows change, and no leaf states them. */
export const uploadStatements: readonly string[] = [
  `CREATE TABLE upload (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                    -- clip, photo, report, checkpoint, segment, snapshot or backup
  ref TEXT NOT NULL,                     -- what it is a copy of: id of the detection, hash of the photo, id of the report …
  root TEXT NOT NULL,                    -- storage.upload.root when it was last tried
  path TEXT NOT NULL,                    -- below root, without a slash in front
  file TEXT NOT NULL,                    -- on this box, below the data folder
  sha256 TEXT NOT NULL,                  -- of the file
  size_bytes INTEGER NOT NULL,
  about TEXT,                            -- JSON that is stored beside it; null: none
  cctv_id INTEGER,                       -- the camera of a clip
  urgent INTEGER NOT NULL,               -- 1: an incident needs it; goes before all others
  status TEXT NOT NULL CHECK (status IN ('pending', 'uploading', 'uploaded', 'parked')),
  attempts INTEGER NOT NULL DEFAULT 0,   -- that the server or the line to it ended after they had begun
  next_attempt_at_ms INTEGER NOT NULL,   -- not before; 0: at once
  last_error TEXT,
  parked_for TEXT,                       -- quota, hash, file or refused; null while it is not parked
  verified TEXT CHECK (verified IN ('hash', 'size')),  -- what the server was compared by; null until it is uploaded
  url TEXT,                              -- where it is on the server; null until it is uploaded
  queued_at_ms INTEGER NOT NULL,
  uploaded_at_ms INTEGER,
  UNIQUE (kind, ref)
) STRICT`,
  'CREATE INDEX upload_status ON upload (status, id)',
  'CREATE INDEX upload_sha256 ON upload (sha256)',
  // The order of work.
  `CREATE INDEX upload_pending ON upload (urgent DESC, id) WHERE status = 'pending'`,
  // For health, metrics and the status of a camera.
  `CREATE INDEX upload_open ON upload (cctv_id, status, queued_at_ms, size_bytes) WHERE status <> 'uploaded'`,

  `CREATE TABLE upload_source (
  kind TEXT PRIMARY KEY,                 -- clip, photo or report
  up_to INTEGER NOT NULL                 -- number of the last row that was queued, or that was decided not to be
) STRICT, WITHOUT ROWID                  -- what was recorded while storage.upload was not set is queued later from here`,

  `CREATE TABLE upload_open_clip (
  detection_id INTEGER PRIMARY KEY,      -- its clip is wanted on the server while it is being recorded
  cctv_id INTEGER NOT NULL,
  root TEXT NOT NULL,                    -- storage.upload.root when it was opened
  path TEXT NOT NULL,                    -- folder of its parts, below root
  about TEXT NOT NULL,                   -- JSON that is stored beside the first part
  parts INTEGER NOT NULL,                -- that are on the server
  sent_bytes INTEGER NOT NULL,           -- of the recording, that are on the server
  part_bytes INTEGER NOT NULL,           -- of the next part: decided before it is sent, so that another attempt sends the same; 0: not decided
  status TEXT NOT NULL CHECK (status IN ('recording', 'finished', 'kept')),  -- kept: no clip came of it, the parts are all there is
  replaced_by INTEGER                    -- detection whose clip shows the same; null while it is not finished
) STRICT                                 -- a row ends when the clip is on the server and its parts are removed`,
]
