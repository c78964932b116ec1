export const healthStatements: readonly string[] = [
  `CREATE TABLE health_trouble (
  component TEXT NOT NULL,               -- as in the checks of GET /api/health: cameras, disk …
  subject TEXT NOT NULL,                 -- which one: the id of a camera, the URL of a storage server; else the component
  kind TEXT NOT NULL,                    -- what is wrong: camera.offline, disk.full …
  name TEXT NOT NULL,                    -- the subject in words, for messages
  message TEXT NOT NULL,                 -- what is wrong and what to do, for the admin
  since_ms INTEGER NOT NULL,             -- when it was last well
  PRIMARY KEY (component, subject)
) STRICT, WITHOUT ROWID                  -- the row goes when it is well again: a restart neither repeats nor forgets an alert`,
]
