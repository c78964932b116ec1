import { execFileSync } from 'node:child_process'
import BetterSqlite3, { type Database, type Statement } from 'better-sqlite3'

/** The statements of one turn of the event loop: SQL with its values written in. */
export type ReadTurn = { readonly turn: number; readonly statements: readonly string[] }

/** Notes every statement of read-only connections, turn by turn of the event loop, until `stop`. */
export const noteReads = (): Notes => note((db, statement) => db.readonly && statement.reader)

/** Notes every statement of the writer, turn by turn of the event loop, until `stop`. */
export const noteWrites = (): Notes => note((db) => !db.readonly)

type Notes = { taken(): ReadTurn[]; stop(): void }

function note(isNoted: (db: Database, statement: Statement) => boolean): Notes {
  const prototype = BetterSqlite3.prototype as Database
  const prepare = prototype.prepare
  let turns = new Map<number, string[]>()
  let turn = 0
  let isEnding = false
  const endTurn = () => {
    turn += 1
    isEnding = false
  }
  prototype.prepare = function (this: Database, sql: string) {
    const statement = prepare.call(this, sql)
    if (!isNoted(this, statement)) return statement
    for (const name of ['all', 'get', 'run'] as const) {
      const execute = statement[name].bind(statement) as (...values: unknown[]) => unknown
      statement[name] = ((...values: unknown[]) => {
        const statements = turns.get(turn) ?? []
        turns.set(turn, statements)
        if (!isEnding) setImmediate(endTurn)
        isEnding = true
        statements.push(withValues(sql, values))
        return execute(...values)
      }) as never
    }
    return statement
  } as typeof prepare
  return {
    taken: () => {
      const taken = [...turns].map(([number, statements]) => ({ turn: number, statements }))
      turns = new Map()
      return taken
    },
    stop: () => {
      prototype.prepare = prepare
    },
  }
}

function withValues(sql: string, values: readonly unknown[]): string {
  const rest = [...values]
  return sql.replaceAll(/'(?:[^']|'')*'|\?/g, (found) => (found === '?' ? literal(rest.shift()) : found))
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (Buffer.isBuffer(value)) return `x'${value.toString('hex')}'`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

/** Steps of SQLite's virtual machine that each statement takes, as the sqlite3 command counts them. */
export function stepsOf(file: string, statements: readonly string[]): number[] {
  // Each on one line, and only counted: its rows are of no interest.
  const lines = statements.map((sql) => `SELECT count(*) FROM (${sql.replaceAll(/\s*\n\s*/g, ' ')});`)
  const input = ['.stats vmstep', ...lines].join('\n')
  const output = execFileSync('sqlite3', ['-readonly', '-batch', file], {
    input,
    maxBuffer: 1 << 30,
    encoding: 'latin1',
  })
  const steps = [...output.matchAll(/^VM-steps: (\d+)$/gm)].map(([, count]) => Number(count))
  if (steps.length !== statements.length)
    throw new Error(`${steps.length} of ${statements.length} statements were counted`)
  return steps
}
