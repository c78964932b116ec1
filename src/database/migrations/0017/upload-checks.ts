/** When the copies on the storage server are compared again, and which folder they are in. Job state: no leaf states it. */
export const uploadChecksStatements = [
  `CREATE TABLE upload_check (
  upload_id INTEGER PRIMARY KEY,         -- an uploaded file whose copy is compared again and again
  due_at_ms INTEGER NOT NULL,            -- not before; 0: at once
  compared_at_ms INTEGER NOT NULL        -- when it was last compared and was the same
) STRICT`,
  'CREATE INDEX upload_check_due ON upload_check (due_at_ms, upload_id)',
  `CREATE TABLE upload_folder (
  instance TEXT NOT NULL,                -- URL of the storage server
  username TEXT NOT NULL,                -- storage.upload.username
  root TEXT NOT NULL,                    -- storage.upload.root
  file_id TEXT NOT NULL,                 -- number of this folder on the server when the first file had been uploaded
  owner TEXT NOT NULL,                   -- the account whose folder it was then
  PRIMARY KEY (instance, username, root)
) STRICT, WITHOUT ROWID                  -- a share that is withdrawn leaves a folder of the same name with another number`,
]
