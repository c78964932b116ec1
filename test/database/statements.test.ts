import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import t from 'tap'
import { type Columns, integer, statements } from '../../src/database/index.ts'
import { migrate } from '../../src/database/migrate.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { registeredStatements } from '../../src/database/statement.ts'

type Declared = Readonly<Record<string, Columns>>

function migrated(t: { teardown(work: () => void): void }): Database {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  migrate(db, migrations, 0)
  return db
}

/** Returns the tables that each room declares. */
async function declared(): Promise<{ room: string; tables: Declared }[]> {
  const files = globSync('src/*/tables.ts').toSorted()
  return Promise.all(
    files.map(async (file) => {
      const { tables } = (await import(resolve(file))) as { tables: Declared }
      return { room: file.split('/')[1] ?? '', tables }
    }),
  )
}

t.test(
  'each table is declared as it is in the schema: its columns, how they are stored, and which may be null',
  async (t) => {
    const db = migrated(t)
    for (const { room, tables } of await declared()) {
      for (const [table, columns] of Object.entries(tables)) {
        const rows = db.pragma(`table_xinfo(${table})`) as {
          name: string
          type: string
          notnull: number
          pk: number
          dflt_value: string | null
        }[]
        const inSchema = rows.map(({ name, type, notnull, pk }) => ({
          name,
          type,
          isNullable: notnull === 0 && pk === 0,
        }))
        const here = Object.entries(columns).map(([name, { type, isNullable }]) => ({ name, type, isNullable }))
        t.strictSame(sorted(here), sorted(inSchema), `${table} of ${room}`)
      }
    }
  },
)

t.test('each statement of the program gives the columns that its rows are declared with', async (t) => {
  const db = migrated(t)
  const files = globSync('src/**/*.ts').filter((file) =>
    /\b(statements?|changes?|built)(<[^>]*>)?\(/.test(readFileSync(file, 'utf8')),
  )
  for (const file of files.toSorted()) await import(resolve(file))
  const all = registeredStatements()
  t.ok(all.length > 300, `${all.length} statements`)
  for (const { sql, columns } of all) {
    const statement = db.prepare(sql)
    if (columns === undefined) continue
    const given = statement.columns()
    const names = given.map(({ name }) => name)
    if (names.toSorted().join() !== Object.keys(columns).toSorted().join())
      t.strictSame(names, Object.keys(columns), sql)
    // The result of an expression has no declared type.
    for (const { name, type } of given) {
      if (type !== null && type !== columns[name]?.type) t.equal(columns[name]?.type, type, `${name} of ${sql}`)
    }
  }
})

const sorted = (columns: { name: string }[]) => columns.toSorted((a, b) => (a.name < b.name ? -1 : 1))

t.test('a statement is put together once for each single word, and says what it is asked with', async (t) => {
  const endingIn = statements({
    columns: { id: integer },
    sql: (end: string) => `SELECT 1 AS id ${end}`,
    samples: [['']],
  })
  t.equal(endingIn('LIMIT 1'), endingIn('LIMIT 1'))
  t.match([endingIn('LIMIT 1').sql, endingIn('LIMIT 2').sql], ['SELECT 1 AS id LIMIT 1', 'SELECT 1 AS id LIMIT 2'])
  for (let n = 0; n < 200; n += 1) t.equal(endingIn(`LIMIT ${n}`).sql, `SELECT 1 AS id LIMIT ${n}`)
})
