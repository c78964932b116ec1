/** Outlines of zones on a plan, and a picture of the hall below everything. */
export const planStatements: readonly string[] = [
  // JSON: [{x, y}, …]; null: no one has drawn one.
  'ALTER TABLE zone ADD COLUMN floor_plan_polygon TEXT',
  `CREATE TABLE plan_image (
  warehouse_id INTEGER PRIMARY KEY REFERENCES warehouse (id),
  sha256 TEXT NOT NULL,                  -- of the file
  media_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  width_px REAL NOT NULL,                -- as the file says it
  height_px REAL NOT NULL,
  x REAL NOT NULL,                       -- upper left corner before turning, in the units of the plan
  y REAL NOT NULL,
  width REAL NOT NULL,                   -- in the units of the plan; the height follows
  rotation REAL NOT NULL,                -- degrees clockwise around its middle
  opacity REAL NOT NULL
) STRICT`,
  // Apart, so that moving the picture does not copy it.
  `CREATE TABLE plan_image_file (
  warehouse_id INTEGER PRIMARY KEY REFERENCES warehouse (id),
  bytes BLOB NOT NULL
) STRICT`,
]
