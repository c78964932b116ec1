import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import pg from 'pg'
import { ExitError } from '../../errors/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { type Engine, growth, type LateIndex, lateIndexes, makeLate, migrationsFor, sequential } from './migrations.ts'
import { readableTables, rightsOfApp, type TableName, tables } from './tables.ts'

export const appRole = 'hub_app'
export const readRole = 'hub_read'

/** The oldest server whose SQL is enough. */
const leastVersion = 150_000

export type MigrateOptions = {
  readonly connection: pg.ClientConfig
  readonly engine: Engine
  /** Password for hub_app when this makes it; null: it gets none, so that only the server's own rules let it in. */
  readonly appPassword: string | null
  /** Distributes the tables of a PostgreSQL that has become a Citus cluster. */
  readonly grows: boolean
}

/**
 * Brings the database to the schema of this version, and the roles to their rights. Returns its changes, a sentence each. May run
 * beside a serving head office and beside itself. Throws ExitError for a database that it cannot work with.
 */
export async function migrateHub({ connection, engine, appPassword, grows }: MigrateOptions): Promise<string[]> {
  // Tables of years are distributed and indexed for longer than any statement of the daemon may take.
  const pool = new pg.Pool({
    ...connection,
    query_timeout: undefined,
    keepAlive: true,
    max: 4,
    onConnect: (client) => client.query('SET statement_timeout = 0'),
  })
  pool.on('error', () => undefined)
  try {
    await demandServer(pool, engine)
    return await oneAtATime(pool, async () => {
      const done = [...(await migrateTables(pool, engine)), ...(grows ? await grow(pool) : [])]
      return [...done, ...(await makeRoles(pool, appPassword)), ...(await grant(pool))]
    })
  } catch (error) {
    if (error instanceof ExitError) throw error
    const why = whyNoTls(error, connection)
    if (why !== undefined) throw new ExitError(1, `the database cannot be reached: ${why}`, error)
    throw new ExitError(1, `the database could not be migrated: ${errorMessage(error)}`, error)
  } finally {
    await pool.end()
  }
}

/**
 * Throws ExitError (78) unless the database has exactly the schema of this version. Migrate an older one first; a newer one belongs
 * to a newer gatehouse.
 */
export async function demandSchema(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(connection)
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string }>('SELECT name FROM hub_migration ORDER BY name')
    const there = rows.map(({ name }) => name)
    const known = Object.keys(migrationsFor('postgresql'))
    const newer = there.filter((name) => !known.includes(name))
    if (newer.length > 0) {
      throw new ExitError(78, `the database is of a newer gatehouse (it has ${newer.join(', ')}); install that version`)
    }
    if (there.length < known.length) throw notMigrated(`it lacks ${known.slice(there.length).join(', ')}`)
  } catch (error) {
    if (error instanceof ExitError) throw error
    const { code, message } = error as { code?: string; message: string }
    if (code === '42P01') throw notMigrated('it has no table of ours')
    if (code === '42501') throw notMigrated('this user may not read its tables')
    throw new ExitError(1, `the database cannot be reached: ${whyNoTls(error, connection) ?? (message || code)}`, error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Says why no connection over TLS came about, and what to do; undefined when the cause is another one. */
function whyNoTls(error: unknown, { host = '' }: pg.ClientConfig): string | undefined {
  const { code, message, cert } = error as { code?: string; message: string; cert?: { subjectaltname?: string } }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = cert?.subjectaltname ?? 'no name'
    return `its certificate is for ${names}, not for ${host}; write a name of the certificate into hub.database.url`
  }
  if (code === 'CERT_HAS_EXPIRED') {
    return 'its certificate has run out; renew it there, and let the server read it anew'
  }
  if (/^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_)/.test(code ?? '')) {
    return `no authority that is known here signed its certificate (${message}); hub.database.caFile names the one that did`
  }
  if (/does not support SSL/.test(message))
    return 'it has no TLS, and hub.database.url or caFile demands it; set ssl = on there'
  return undefined
}

const notMigrated = (why: string) => new ExitError(78, `run "gatehouse hub migrate" on the database first: ${why}`)

/** Number of the lock that keeps two migrations apart: two that grant the same rights at once would fail. */
const lockNumber = 7_451_902

/** How often a migration that waits for another one asks for the lock. */
const lockEveryMs = 200

async function oneAtATime<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const isLocked = async () =>
    (await client.query<{ is: boolean }>('SELECT pg_try_advisory_lock($1) AS is', [lockNumber])).rows[0]?.is
  try {
    // It must not wait in a statement: the index of the other migration waits until every statement that began before it has ended.
    while (!(await isLocked())) await setTimeout(lockEveryMs)
    return await work()
  } finally {
    // Ends the session, and the lock with it.
    client.release(true)
  }
}

async function demandServer(pool: pg.Pool, engine: Engine): Promise<void> {
  const { rows } = await pool.query<{ server_version_num: string }>('SHOW server_version_num')
  const version = Number(rows[0]?.server_version_num)
  if (version < leastVersion) {
    const is = `${Math.floor(version / 10_000)}.${version % 10_000}`
    throw new ExitError(1, `PostgreSQL 15 or later is needed; the server of hub.database.url is ${is}`)
  }
  if (engine === 'citus' && !(await hasCitus(pool))) {
    throw new ExitError(1, 'hub.database.engine is citus, but the extension citus is not in this database')
  }
}

async function hasCitus(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query(`SELECT 1 FROM pg_proc WHERE proname = 'create_distributed_table'`)
  return rows.length > 0
}

async function migrateTables(pool: pg.Pool, engine: Engine): Promise<string[]> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: keptOpen(pool) }) })
  const migrations: Record<string, Migration> = migrationsFor(engine)
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: 'hub_migration',
    migrationLockTableName: 'hub_migration_lock',
  })
  const applied: string[] = []
  for (const { name, executedAt } of await migrator.getMigrations()) {
    if (executedAt) continue
    const index = lateIndexes[name]
    if (index) await makeIndex(pool, index)
    const { error } = await migrator.migrateTo(name)
    if (error) throw error
    applied.push(`applied ${name}`)
  }
  // Refuses a database in which there is one that this version does not know.
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
  return applied.length > 0 ? applied : ['the schema is up to date']
}

/** Makes an index beside the feeds. A run that broke off has left one that is not valid, which no question uses. */
async function makeIndex(pool: pg.Pool, index: LateIndex): Promise<void> {
  const { rows } = await pool.query('SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid', [
    index.name,
  ])
  if (rows.length > 0) await pool.query(`DROP INDEX CONCURRENTLY ${index.name}`)
  await pool.query(makeLate(index))
}

/** Kysely ends the pool that it is given; this one is used afterwards. */
function keptOpen(pool: pg.Pool) {
  return { connect: () => pool.connect(), end: async () => undefined, options: pool.options }
}

async function grow(pool: pg.Pool): Promise<string[]> {
  if (!(await hasCitus(pool)))
    throw new ExitError(1, 'the extension citus is not in this database: CREATE EXTENSION citus')
  const { rows } = await pool.query(`SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'log_head'::regclass`)
  if (rows.length > 0) return ['the tables are distributed already']
  await untilNoDeadlock(() => inOneTransaction(pool, growth))
  return ['distributed the tables; set hub.database.engine to citus']
}

/** Makes the roles where this user may; says what to do where not. */
async function makeRoles(pool: pg.Pool, appPassword: string | null): Promise<string[]> {
  const done: string[] = []
  for (const role of [appRole, readRole]) {
    const { rows } = await pool.query<{ set: string[] }>(
      'SELECT coalesce(rolconfig, ARRAY[]::text[]) AS set FROM pg_roles WHERE rolname = $1',
      [role],
    )
    if (rows[0]) {
      done.push(...(await limitTimes(pool, role, rows[0].set)))
      continue
    }
    const secret = role === appRole && appPassword !== null ? ` PASSWORD ${pg.escapeLiteral(appPassword)}` : ''
    try {
      await pool.query(`CREATE ROLE ${role} LOGIN${secret}`)
      await limitTimes(pool, role, [])
      done.push(`made the role ${role}`)
    } catch (error) {
      if ((error as { code?: string }).code !== '42501') throw error
      done.push(`could not make the role ${role}: this user may not; let a superuser run CREATE ROLE ${role} LOGIN`)
    }
  }
  return done
}

/** A session that hangs would keep its log locked, and a statement that never ends a connection. */
const limitsOfRole = ['statement_timeout', 'idle_in_transaction_session_timeout']

/** Sets those limits of a role that it has not. Returns its change, in a sentence. */
async function limitTimes(pool: pg.Pool, role: string, set: readonly string[]): Promise<string[]> {
  const missing = limitsOfRole.filter((limit) => !set.some((one) => one.startsWith(`${limit}=`)))
  if (missing.length === 0) return []
  const orders = missing.map((limit) => `ALTER ROLE ${role} SET ${limit} = '60s'`)
  try {
    for (const order of orders) await pool.query(order)
    return [`gave the role ${role} its time-outs`]
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    return [
      `could not give the role ${role} its time-outs: this user may not; let a superuser run ${orders.join('; ')}`,
    ]
  }
}

/** How often the step to a cluster may meet a feed that has one table and waits for another. */
const mostDeadlocks = 60

/** PostgreSQL ends one of two that wait for each other: where it is this one, it waits for its turn again. */
async function untilNoDeadlock(work: () => Promise<void>): Promise<void> {
  for (let deadlocks = 0; ; deadlocks += 1) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01' || deadlocks === mostDeadlocks) throw error
    }
  }
}

/** Gives the roles exactly their rights, one table a statement, as Citus wants it. */
async function grant(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ rolname: string }>('SELECT rolname FROM pg_roles WHERE rolname = ANY($1)', [
    [appRole, readRole],
  ])
  const statements = rows.flatMap(({ rolname }) => rightsOfRole(rolname))
  if (statements.length > 0) await inOneTransaction(pool, [sequential, ...statements])
  return rows.map(({ rolname }) => `${rolname} has its rights`)
}

function rightsOfRole(role: string): string[] {
  const rightsOf = (table: TableName) =>
    role === appRole ? rightsOfApp[table] : readableTables.includes(table) ? (['SELECT'] as const) : []
  const each = (Object.keys(tables) as TableName[]).flatMap((table) => [
    `REVOKE ALL ON ${table} FROM ${role}`,
    ...(rightsOf(table).length > 0 ? [`GRANT ${rightsOf(table).join(', ')} ON ${table} TO ${role}`] : []),
  ])
  return [`GRANT SELECT ON hub_migration TO ${role}`, ...each]
}

/** A serving head office sees the tables before or after, never between. */
async function inOneTransaction(pool: pg.Pool, statements: readonly string[]): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    for (const statement of statements) await client.query(statement)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}
