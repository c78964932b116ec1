/** Measurements of a finished clip besides its bounds. All are null in older rows, and where there is no clip. */
export const camerasStatements: readonly string[] = [
  `ALTER TABLE detection_event ADD COLUMN asked_pre_roll_seconds REAL /* what the settings asked for */`,
  `ALTER TABLE detection_event ADD COLUMN clip_pictures INTEGER /* how many the file shows */`,
  `ALTER TABLE detection_event ADD COLUMN longest_gap_seconds REAL /* between two pictures of the file */`,
  `ALTER TABLE detection_event ADD COLUMN clip_original INTEGER /* 1: the camera's bytes; 0: encoded again */`,
  `ALTER TABLE detection_event ADD COLUMN closed_by TEXT /* post-roll, longest, stopped, stream-ended, restart, disk-full or disk-too-slow */`,
]
