import t from 'tap'
import { HubDatabase } from '../../src/hub/store/database.ts'
import { everyStatement as madeStatements } from '../../src/hub/store/statement.ts'
import { silentLogger } from '../../src/platform/index.ts'
import '../../src/hub/compose.ts'
import pg from 'pg'
import { bigints, byteStrings, integers, letters, moments, smallints, texts } from '../../src/hub/store/arrays.ts'
import { demandSchema, migrateHub } from '../../src/hub/store/migrate.ts'
import { schemaStatements } from '../../src/hub/store/migrations.ts'
import { logTables, tables } from '../../src/hub/store/tables.ts'
import { citusBesides } from '../support/citus.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

const connectionTo = (database: string, user = 'super') => ({ host: postgres.folder, user, database })
const migrated = (database: string, more: { grows?: boolean } = {}) =>
  migrateHub({ connection: connectionTo(database), engine: 'postgresql', appPassword: null, grows: false, ...more })

t.test('a migrated database has exactly the declared tables, and migrating again changes nothing', async (t) => {
  await postgres.database('plain')
  t.match((await migrated('plain')).slice(0, 7), [
    /applied 0001/,
    /applied 0002/,
    /applied 0003/,
    /applied 0004/,
    /applied 0005/,
    /applied 0006/,
    /applied 0007/,
  ])
  t.match(await migrated('plain'), [/up to date/])
  const rows = await postgres.ask(
    'plain',
    `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type,
     CASE WHEN a.attnotnull THEN '' ELSE '?' END AS null FROM pg_attribute a
     JOIN pg_class c ON c.oid = a.attrelid WHERE c.relkind = 'r' AND a.attnum > 0 AND c.relnamespace = 'public'::regnamespace
     AND c.relname NOT LIKE 'hub_migration%'`,
  )
  const short = (type: string) => type.replace('timestamp with time zone', 'timestamptz')
  const found = rows.map((row) => `${row['table']}.${row['column']} ${short(String(row['type']))}${row['null']}`)
  const declared = Object.entries(tables).flatMap(([table, columns]) =>
    Object.entries(columns).map(([column, type]) => `${table}.${column} ${type}`),
  )
  t.same(found.toSorted(), declared.toSorted())
})

t.test('two migrations at once leave one schema', async (t) => {
  await postgres.database('twice')
  await Promise.all([migrated('twice'), migrated('twice')])
  t.same(await postgres.ask('twice', 'SELECT count(*)::int AS n FROM hub_migration'), [{ n: 7 }])
})

t.test(
  'arrays reach the database as they are, at the ends of their types and whatever is in their texts',
  async (t) => {
    const odd = ['', 'NULL', 'a,b', '{}', '"', '\\', "'", 'Halle Süd 1', '\n', '😀', 'a\u001db', '=1+1']
    const numbers = [1, -7, 0, 2 ** 31, 2 ** 32 + 5, -(2 ** 40), Number.MAX_SAFE_INTEGER]
    const times = ['1900-01-01T00:00:00.001Z', '2026-03-02T08:00:00.123Z', '9999-12-31T00:00:00.000Z']
    const [row] = await postgres.ask(
      'postgres',
      `SELECT $1::text[] AS texts, $2::bytea[] AS bytes, $3::bigint[]::text[] AS numbers, $4::timestamptz[] AS times,
       $5::integer[] AS ids, $6::smallint[] AS widths, $7::"char"[]::text[] AS letters, $8::text[] AS none, $9::bigint[] AS no_numbers`,
      [
        ...[texts(odd), byteStrings([Buffer.of(0, 255), null, Buffer.alloc(0)]), bigints(numbers)],
        ...[moments(times.map((time) => Date.parse(time))), integers([-2_147_483_648, 0, 2_147_483_647])],
        ...[smallints([1, 256]), letters(['P', 'D']), texts([]), bigints([])],
      ],
    )
    t.same(row?.['texts'], odd)
    t.same(row?.['bytes'], [Buffer.of(0, 255), null, Buffer.alloc(0)])
    t.same(row?.['numbers'], numbers.map(String))
    t.same(
      row?.['times'],
      times.map((time) => new Date(time)),
    )
    t.match(row, { ids: [-2_147_483_648, 0, 2_147_483_647], widths: [1, 256], letters: ['P', 'D'] })
    t.same([row?.['none'], row?.['no_numbers']], [[], []])
  },
)

t.test('every statement of the head office can be prepared', async (t) => {
  await postgres.database('prepared')
  await migrated('prepared')
  const client = new pg.Client(connectionTo('prepared'))
  await client.connect()
  t.teardown(() => client.end())
  const statements = everyStatement()
  t.ok(statements.length > 25, `${statements.length} statements`)
  for (const { name, text } of statements) {
    await t.resolves(client.query(`PREPARE "${name}" AS ${text}`), name)
  }
})

/** The builder writes names in quotes and keywords in small letters; these tests search for them as people write them. */
function everyStatement() {
  const words =
    /\b(select|from|where|insert into|values|on conflict|update|set|delete|returning|inner join|left join|order by|limit|for update)\b/g
  return madeStatements().map(({ name, text }) => {
    if (!/^(select|insert into|update|delete|with) /.test(text)) return { name, text }
    return { name, text: text.replaceAll('"', '').replace(words, (word) => word.toUpperCase()) }
  })
}

/** Forms that a Citus cluster refused, or answered with a two-phase commit, in an experiment. */
const refused: [string, RegExp][] = [
  ['a row lock that waits', /FOR UPDATE(?! NOWAIT| SKIP LOCKED)/],
  ['lock_timeout', /lock_timeout/],
  ['the time or chance of a worker', /\b(random|clock_timestamp|now)\(/],
  ['a recursive query', /WITH RECURSIVE/],
  ['ctid', /\bctid\b/],
  ['DELETE', /\bDELETE\b/],
  ['SERIALIZABLE', /SERIALIZABLE/],
  ['a trigger', /\bTRIGGER\b/],
  ['a value beside unnest', /SELECT \$\d[^F]*FROM unnest/],
]

/** The tables that a statement reads without saying of which one log. */
function tablesOfManyLogs(text: string): string[] {
  const read = [...text.matchAll(/\b(?:FROM|JOIN) (?!LATERAL)(\w+)(?: (?:AS )?(?!WHERE|CROSS|JOIN)(\w+))?/g)]
  return read.flatMap(([, table = '', name = table]) => (text.includes(`${name}.log_id = $1`) ? [] : [table]))
}

t.test('no statement has a form that Citus refuses', async (t) => {
  for (const { name, text } of everyStatement()) {
    for (const [what, form] of refused) t.notMatch(text, form, `${name}: ${what}`)
    const writes = /^\s*(INSERT INTO|UPDATE) (\w+)/.exec(text)
    const isOfLog = writes && logTables.some((table) => table === writes[2])
    if (isOfLog) t.match(text, /log_id = \$1|VALUES \(\$1[,)]/, `${name}: a write reaches one log`)
    // All rows of one log are on one worker, which needs no other.
    if (/LATERAL/.test(text)) t.same(tablesOfManyLogs(text), [], `${name}: LATERAL over one log`)
    if (/unnest/.test(text)) t.match(text, /FROM log_head h, unnest/, `${name}: arrays come with their log`)
    if (/FOR UPDATE/.test(text)) t.match(text, /WHERE log_id = \$1/, `${name}: a lock is of one log`)
    if (/ON CONFLICT \(/.test(text) && isOfLog)
      t.match(text, /ON CONFLICT \(log_id/, `${name}: a key begins with the log`)
  }
  for (const statement of schemaStatements) {
    t.notMatch(statement, /TRIGGER/)
    const [, table] = /^CREATE TABLE (\w+)/.exec(statement) ?? []
    if (!logTables.some((name) => name === table)) continue
    t.match(statement, /log_id uuid PRIMARY KEY|PRIMARY KEY \([^)]*\blog_id\b/, `${table}: its key has the log in it`)
    t.notMatch(statement, /REFERENCES|UNIQUE/, `${table}: foreign keys come later, and no other key is unique`)
  }
})

/** Returns the casts through text in PostgreSQL's parse tree of a statement, each from its opening to its closing brace. */
function castsThroughText(tree: string): string[] {
  return [...tree.matchAll(/\{COERCEVIAIO/g)].map(({ index }) => {
    let depth = 0
    const end = [...tree.slice(index)].findIndex((letter) => {
      depth += letter === '{' ? 1 : letter === '}' ? -1 : 0
      return depth === 0
    })
    return tree.slice(index, index + end)
  })
}

/** Returns the functions of a statement that PostgreSQL does not call immutable, those behind its operators and casts too. */
async function changeable(client: pg.Client, text: string): Promise<string[]> {
  await client.query(`PREPARE the_statement AS ${text}`)
  const { rows } = await client.query<{ types: string }>(
    `SELECT array_to_string(parameter_types, ',') AS types FROM pg_prepared_statements WHERE name = 'the_statement'`,
  )
  await client.query('DEALLOCATE the_statement')
  // As the body of a function, the server keeps a statement in the form in which it has read it.
  await client.query(
    `CREATE FUNCTION the_statement(${rows[0]?.types}) RETURNS void LANGUAGE sql BEGIN ATOMIC ${text}; END`,
  )
  const kept = await client.query<{ tree: string }>(
    `SELECT prosqlbody::text AS tree FROM pg_proc WHERE proname = 'the_statement'`,
  )
  await client.query('DROP FUNCTION the_statement')
  const tree = kept.rows[0]?.tree ?? ''
  const casts = castsThroughText(tree)
  const { rows: found } = await client.query<{ proname: string }>(
    `SELECT DISTINCT proname FROM pg_proc WHERE provolatile <> 'i' AND (oid = ANY($1)
       OR oid IN (SELECT typoutput FROM pg_type WHERE oid = ANY($2)) OR oid IN (SELECT typinput FROM pg_type WHERE oid = ANY($3)))`,
    [
      [...tree.matchAll(/:(?:funcid|opfuncid|aggfnoid|winfnoid) (\d+)/g)].map(([, id]) => id),
      casts.map((cast) => /:\w+type (\d+)/.exec(cast)?.[1] ?? '0'),
      casts.map((cast) => [...cast.matchAll(/:resulttype (\d+)/g)].at(-1)?.[1] ?? '0'),
    ],
  )
  return [
    ...found.map(({ proname }) => proname),
    ...(/\{SQLVALUEFUNCTION/.test(tree) ? ['the time of the server'] : []),
  ]
}

t.test('no write to the rows of a log has a function whose answer may change', async (t) => {
  await postgres.database('immutable')
  await migrated('immutable')
  const client = new pg.Client(connectionTo('immutable'))
  await client.connect()
  t.teardown(() => client.end())
  const quiet = `UPDATE alert SET detail = '{}' WHERE log_id = $1 AND`
  t.same(await changeable(client, `${quiet} (detail ->> 'at')::timestamptz < $2`), ['timestamptz_in'])
  t.same(await changeable(client, `${quiet} (detail ->> 'at')::date < $2`), ['date_in'])
  t.same(await changeable(client, `${quiet} opened_at::text < $2`), ['timestamptz_out'])
  t.same(await changeable(client, `${quiet} to_char(opened_at, 'DD') = $2`), ['to_char'])
  t.same(await changeable(client, `${quiet} opened_at < current_timestamp`), ['the time of the server'])
  t.same(await changeable(client, `${quiet} (detail ->> 'atMs')::bigint < $2 AND opened_at < $3::timestamptz`), [])
  let writes = 0
  for (const { name, text } of everyStatement()) {
    const [, , table] = /^\s*(INSERT INTO|UPDATE) (\w+)/.exec(text) ?? []
    if (!logTables.some((one) => one === table)) continue
    writes += 1
    t.same(await changeable(client, text), [], name)
  }
  t.ok(writes > 15, `${writes} writes`)
})

t.test('the daemon can neither change nor delete what a leaf states, and readers see no names', async (t) => {
  await postgres.database('rights')
  await migrated('rights')
  const asked = async (user: string, sql: string) => {
    const client = new pg.Client(connectionTo('rights', user))
    await client.connect()
    return client
      .query(sql)
      .then(
        () => 'done',
        (error: { code: string }) => error.code,
      )
      .finally(() => client.end())
  }
  const denied = '42501'
  for (const table of Object.keys(tables)) {
    t.equal(await asked('hub_app', `DELETE FROM ${table}`), denied, `hub_app deletes no ${table}`)
    t.equal(await asked('hub_read', `DELETE FROM ${table}`), denied, `hub_read deletes no ${table}`)
  }
  t.equal(await asked('hub_app', 'UPDATE placement SET slot_id = 1'), denied)
  t.equal(await asked('hub_app', `UPDATE checkpoint SET note = ''`), denied)
  t.equal(await asked('hub_app', 'UPDATE fork_evidence SET place = 1'), denied)
  t.equal(await asked('hub_read', 'SELECT * FROM opening'), denied)
  t.equal(await asked('hub_read', 'SELECT * FROM gateway_token'), denied)
  t.equal(await asked('hub_read', 'SELECT * FROM placement'), 'done')
})

t.test('a PostgreSQL grows into a Citus cluster: keys go, tables are distributed, keys come back', async (t) => {
  await postgres.database('growing')
  await migrated('growing')
  const keys = () => postgres.ask('growing', `SELECT conname FROM pg_constraint WHERE contype = 'f' ORDER BY conname`)
  const before = await keys()
  t.ok(before.length > 3)
  await t.rejects(migrated('growing', { grows: true }), /CREATE EXTENSION citus/, 'only where Citus is')
  await postgres.ask('growing', citusBesides)
  t.match((await migrated('growing', { grows: true })).join('\n'), /distributed the tables/)
  t.same(await keys(), before)
  const asked = (await postgres.ask('growing', 'SELECT what FROM asked ORDER BY n')).map(({ what }) => what)
  t.equal(asked.length, Object.keys(tables).length, 'every table')
  t.same(asked.slice(0, 9), [
    'reference site',
    'reference log',
    'reference enrolment',
    'reference gateway_token',
    'reference page_session',
    'reference storage_caller',
    'reference storage_tries',
    'reference upgrade_offer',
    'log_id log_head 32',
  ])
  t.ok(
    asked.slice(9).every((what) => /^log_id \w+ 0log_head$/.test(String(what))),
    'beside the head of their log',
  )
  t.match((await migrated('growing', { grows: true })).join('\n'), /distributed already/)
})

t.test('a head office does not serve a database that is not of its version', async (t) => {
  await postgres.database('old')
  await t.rejects(demandSchema(connectionTo('old')), { exitCode: 78, message: /gatehouse hub migrate/ })
  await migrated('old')
  await t.resolves(demandSchema(connectionTo('old', 'hub_app')))
  await postgres.ask('old', `INSERT INTO hub_migration VALUES ('0999-of-tomorrow', '')`)
  await t.rejects(demandSchema(connectionTo('old')), { exitCode: 78, message: /newer gatehouse .*0999-of-tomorrow/ })
  await postgres.ask('old', `DELETE FROM hub_migration WHERE name > '0003'`)
  await t.rejects(demandSchema(connectionTo('old')), { exitCode: 78, message: /it lacks 0003/ })
  await t.rejects(demandSchema({ host: '/nowhere', user: 'x', database: 'y' }), { exitCode: 1, message: /reached/ })
})

const keep = { name: 'test-keep', text: 'INSERT INTO kept (n) VALUES ($1)' }

/** The database of a head office with a table `kept` of numbers above 0, no two the same. */
async function keeping(t: { teardown(work: () => unknown): void }, name: string) {
  await postgres.database(name)
  await postgres.ask(name, 'CREATE TABLE kept (n integer PRIMARY KEY CHECK (n > 0))')
  const db = new HubDatabase({ connection: connectionTo(name), log: silentLogger() })
  t.teardown(() => db.close())
  return { db, kept: async () => (await postgres.ask(name, 'SELECT n FROM kept ORDER BY n')).map(({ n }) => n) }
}

t.test('what a transaction sends without waiting is committed with it', async (t) => {
  const { db, kept } = await keeping(t, 'sent')
  const answer = await db.transaction(async (tx) => {
    for (const n of [1, 2, 3]) tx.send(keep, [n])
    return 'done'
  })
  t.equal(answer, 'done')
  t.same(await kept(), [1, 2, 3])
})

t.test(
  'a statement that fails undoes what was sent before and behind it, and the transaction tells its error',
  async (t) => {
    const { db, kept } = await keeping(t, 'undone')
    const failing = db.transaction(async (tx) => {
      for (const n of [1, -1, 2]) tx.send(keep, [n])
    })
    await t.rejects(failing, { code: '23514' }, 'the check, not that the transaction was aborted')
    const reading = db.transaction(async (tx) => {
      for (const n of [1, 1]) tx.send(keep, [n])
      await tx.rows(keep, [3])
    })
    await t.rejects(reading, { code: '23505' }, 'the key, though a statement behind it failed too')
    t.same(await kept(), [])
  },
)

t.test('work that throws undoes what it has sent, and its own error is told', async (t) => {
  const { db, kept } = await keeping(t, 'thrown')
  const failing = db.transaction(async (tx) => {
    tx.send(keep, [1])
    throw new Error('another history')
  })
  await t.rejects(failing, { message: 'another history' })
  t.same(await kept(), [])
  await db.transaction(async (tx) => tx.send(keep, [7]))
  t.same(await kept(), [7], 'the connection is used again')
})
