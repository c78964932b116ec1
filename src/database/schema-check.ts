import { hash } from 'node:crypto'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { type Migration, migrate } from './migrate.ts'
import { newestSchemaHash, migrations as ours } from './migrations/index.ts'

/** The version of the schema that this program writes. */
export const newestSchema = ours.at(-1)?.version ?? 0

export type SchemaDifferences = {
  /** Tables, triggers, views and indexes that are missing or changed. */
  readonly lost: readonly string[]
  /** Triggers, views and indexes that are not ours: they could drop rows or replace a table's answer. */
  readonly strange: readonly string[]
}

/**
 * Compares the file's schema, word for word, with that of a fresh database of the same version. In a newer version,
 * additions are not reported as strange. Foreign tables are harmless and ignored.
 */
export function schemaDifferences(db: Database, migrations: readonly Migration[] = ours): SchemaDifferences {
  const version = db.pragma('user_version', { simple: true }) as number
  const found = schemaOf(db)
  if (migrations === ours && version === newestSchema && hashOfSchema(found) === newestSchemaHash) {
    return { lost: [], strange: [] }
  }
  const expected = freshSchema(migrations.filter((m) => m.version <= version))
  const isNewer = version > (migrations.at(-1)?.version ?? 0)
  const names = (schema: Schema, those: (key: string) => boolean) =>
    [...schema].filter(([key]) => those(key)).map(([, { name }]) => name)
  const lost = names(expected, (key) => found.get(key)?.sql !== expected.get(key)?.sql)
  const strange = isNewer ? [] : names(found, (key) => !key.startsWith('table ') && !expected.has(key))
  return { lost, strange }
}

/** Returns the hash of a schema, which is `newestSchemaHash` for an unchanged file of the newest version. */
export function hashOfSchema(schema: Schema): string {
  const lines = [...schema].map(([key, { sql }]) => `${key}\n${sql}\n`).toSorted()
  return hash('sha256', lines.join('\0'))
}

/** Makes a database in memory by these migrations, and returns its schema. */
export function freshSchema(migrations: readonly Migration[] = ours): Schema {
  const fresh = new BetterSqlite3(':memory:')
  try {
    migrate(fresh, migrations, 0)
    return schemaOf(fresh)
  } finally {
    fresh.close()
  }
}

/** CREATE statements by type and name. */
type Schema = ReadonlyMap<string, { readonly name: string; readonly sql: string }>

/** Returns the CREATE statements by type and name; SQLite's own tables and the indexes of constraints have none. */
function schemaOf(db: Database): Schema {
  const rows = db
    .prepare(
      `SELECT type, name, sql FROM main.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@'`,
    )
    .all() as { type: string; name: string; sql: string }[]
  return new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, { name, sql }]))
}
