import { readFileSync } from 'node:fs'
import pg from 'pg'
import { type HubConfig, readDatabaseUrl, readSecretFile } from '../../config/index.ts'
import { AppError, ExitError } from '../../errors/index.ts'
import type { Logger } from '../../platform/index.ts'
import type { BuiltStatement, HubStatement } from './statement.ts'

const connectMs = 5_000
/** The roles have the same limit at the server; this one is for a server that does not answer any more. */
const statementMs = 60_000
const mostConnections = 10

/** Runs statements. Values are sent beside the text, never in it. */
export type HubTx = {
  /** Runs a statement of the builder, which knows its rows. */
  rows<Row, Given>(statement: BuiltStatement<Row, Given>, given: Given): Promise<Row[]>
  rows<R extends object = Record<string, unknown>>(statement: HubStatement, values: readonly unknown[]): Promise<R[]>
}

/** A transaction: one connection, on which statements run in the order in which they are given. */
export type HubWrite = HubTx & {
  /** Runs a statement whose rows are not needed, and waits for nothing: if it fails, the transaction does, with its error. */
  send(statement: HubStatement, values: readonly unknown[]): void
}

/** Returns the driver's settings for a connection. Throws ExitError for files that cannot be read. */
export function connectionOf(
  { url, ownerUrl, passwordFile, ownerPasswordFile, caFile }: HubConfig['hub']['database'],
  as: 'app' | 'owner',
): pg.ClientConfig {
  const isOwner = as === 'owner' && ownerUrl !== null
  const address = readDatabaseUrl(isOwner ? ownerUrl : url)
  if (!address) throw new Error('the schema let a URL pass that is none')
  const secretIn = isOwner ? ownerPasswordFile : passwordFile
  const { user, host, port, database, verifiesTls } = address
  return {
    host,
    port,
    database,
    ...(user !== '' && { user }),
    ...(secretIn !== null && { password: readSecretFile(secretIn) }),
    ...((caFile !== null || verifiesTls) && { ssl: { ...(caFile !== null && { ca: readCa(caFile) }) } }),
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    application_name: 'gatehouse hub',
  }
}

function readCa(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ExitError(78, `hub.database.caFile: ${path} cannot be read`, cause)
  }
}

/** The PostgreSQL of the head office, over a pool of connections. */
export class HubDatabase implements HubTx {
  readonly #pool: pg.Pool

  constructor(needs: { readonly connection: pg.ClientConfig; readonly log: Logger }) {
    // Statements go out without waiting for the answers to those before: a feed has a dozen, and each way there and back costs time.
    this.#pool = new pg.Pool({ ...needs.connection, max: mostConnections, pipeline: true } as pg.PoolConfig)
    // A connection that ends while it is not used; the next one is opened when it is needed.
    this.#pool.on('error', (err) => needs.log.warn({ err }, 'a connection to the database ended'))
    // One that ends while it is used: the statement under way rejects, and without a listener the event would end this process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  /** Runs one statement as a separate transaction. Rejects with AppError when the database does not work. */
  rows<Row, Given>(statement: BuiltStatement<Row, Given>, given: Given): Promise<Row[]>
  rows<R extends object>(statement: HubStatement, values: readonly unknown[]): Promise<R[]>
  async rows(statement: HubStatement, given: unknown): Promise<object[]> {
    return this.#connected(this.#pool.connect(), (client) => ask(client, statement, given))
  }

  /**
   * Runs `work` in one transaction, which is on the disk of the server when the promise resolves. An error of `work` undoes it.
   * Rejects with AppError when the database does not work: then the transaction may or may not have been committed.
   */
  transaction<T>(work: (tx: HubWrite) => Promise<T>): Promise<T> {
    return this.#connected(this.#pool.connect(), async (client) => {
      const sent: Promise<unknown>[] = []
      const send = <R>(answer: Promise<R>): Promise<R> => {
        sent.push(answer)
        // Each is waited for below, but the first failure alone is reported.
        answer.catch(() => undefined)
        return answer
      }
      const begun = send(client.query('BEGIN'))
      // The statement, not this code, knows the type of its rows.
      async function rows<R extends object>(statement: HubStatement, given: unknown): Promise<R[]>
      async function rows(statement: HubStatement, given: unknown): Promise<object[]> {
        const found = send(ask(client, statement, given))
        await begun
        return found
      }
      try {
        const result = await work({
          rows,
          send: (statement, values) => void send(ask(client, statement, values)),
        })
        // Behind a statement that failed, the server answers COMMIT by rolling back.
        await Promise.all([...sent, client.query('COMMIT')])
        return result
      } catch (error) {
        // A connection that cannot even roll back is closed by the caller, and the server rolls back.
        await client.query('ROLLBACK')
        // Errors behind the first only say that the transaction has failed.
        throw firstFailure(await Promise.allSettled(sent)) ?? error
      }
    })
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #connected<T>(connecting: Promise<pg.PoolClient>, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    let client: pg.PoolClient | undefined
    let isBroken = false
    try {
      client = await connecting
      return await work(client)
    } catch (error) {
      const translated = asRefusal(error)
      // After an error of the connection it is not known what state it is in.
      isBroken = translated !== error && sqlStateOf(error) !== lockedState
      throw translated
    } finally {
      client?.release(isBroken)
    }
  }
}

/** Statements that are sent in one turn of the event loop go out in one piece. */
async function ask(
  client: pg.PoolClient,
  statement: HubStatement | BuiltStatement<unknown, unknown>,
  given: unknown,
): Promise<object[]> {
  const { name, text } = statement
  const values = 'valuesOf' in statement ? statement.valuesOf(given) : (given as readonly unknown[])
  const { stream } = client.connection
  stream.cork()
  process.nextTick(() => stream.uncork())
  return (await client.query<Record<string, unknown>>({ name, text, values: [...values] })).rows
}

const firstFailure = (all: readonly PromiseSettledResult<unknown>[]): unknown =>
  all.find((one) => one.status === 'rejected')?.reason

const lockedState = '55P03'
const diskFullState = '53100'
/** A migration has changed the result type of a prepared statement; it is prepared anew on another connection. */
const isStale = (error: unknown): boolean =>
  // By the place in its source, because the words come in the language of the server.
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'
/** Classes of SQLSTATE that mean the server or the way to it, not the statement. */
const unwell = /^(08|53|55|57|58|40|XX)/

/** Returns a failure of the database as a refusal that may be tried again; anything else as it came. */
function asRefusal(error: unknown): unknown {
  if (error instanceof AppError) return error
  const state = sqlStateOf(error)
  if (state === lockedState) {
    return new AppError('NOT_READY', 'Another feed of this log is under way', { cause: error, retryAfterSeconds: 1 })
  }
  if (state === diskFullState) {
    return new AppError('STORAGE_FULL', 'The disk of the head office is full', { cause: error, retryAfterSeconds: 60 })
  }
  if (state !== undefined && !unwell.test(state) && !isStale(error)) return error
  if (state === undefined && !isNetwork(error)) return error
  return new AppError('NOT_READY', 'The database of the head office does not answer', {
    cause: error,
    retryAfterSeconds: 5,
  })
}

/** No class of SQLSTATE begins with E, but EPIPE does: what the system says of a connection that the server has just closed. */
function sqlStateOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** The driver has no codes for a connection that ended, only words. */
function isNetwork(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && /^E[A-Z_]+$/.test(code)) return true
  return /timeout|terminated|not queryable|Connection|after calling end/i.test(String(message))
}
