import type { Database } from 'better-sqlite3'

/**
 * One step of the schema: an older program keeps reading and writing the file as long as its own version is not below
 * `oldestReader`. A step that takes away or rebuilds a table is therefore its own oldest reader.
 */
export type Migration = {
  readonly version: number
  readonly name: string
  /** The lowest schema version whose program can still work with the file after this step. */
  readonly oldestReader: number
  readonly statements: readonly string[]
}

/** 'GtHs': marks our file among SQLite databases. */
export const applicationId = 0x47744873

/**
 * Brings the file to the newest version, all steps in one transaction; `PRAGMA user_version` holds the version. The mark of our files
 * is in it too: tables without the mark are those of another program, and a kill must not leave them. Foreign keys are off
 * meanwhile, because a step may replace a table that others refer to.
 */
export function migrate(db: Database, migrations: readonly Migration[], nowMs: number): { from: number; to: number } {
  const from = db.pragma('user_version', { simple: true }) as number
  const missing = migrations.filter((m) => m.version > from)
  if (missing.length === 0) return { from, to: from }
  const steps = db.transaction(() => {
    db.pragma(`application_id = ${applicationId}`)
    db.exec(`CREATE TABLE IF NOT EXISTS schema_migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  oldest_reader INTEGER NOT NULL,        -- lowest schema version whose program can still work with this file
  applied_at_ms INTEGER NOT NULL
) STRICT`)
    const note = db.prepare('INSERT INTO schema_migration VALUES (?, ?, ?, ?)')
    for (const step of missing) {
      for (const statement of step.statements) db.exec(statement)
      note.run(step.version, step.name, step.oldestReader, nowMs)
      db.pragma(`user_version = ${step.version}`)
    }
  })
  const checked = db.pragma('foreign_keys', { simple: true }) === 1
  db.pragma('foreign_keys = OFF')
  try {
    steps.immediate()
  } finally {
    if (checked) db.pragma('foreign_keys = ON')
  }
  return { from, to: missing.at(-1)?.version ?? from }
}
