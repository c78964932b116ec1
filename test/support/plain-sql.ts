import { changes, type ReadTx, statements, type Tx } from '../../src/database/index.ts'

type Values = Parameters<ReturnType<typeof rows>['valuesOf']>[0]

// A room must say what its statements give; a test looks at whatever it likes.
const rows = statements<unknown, [sql: string]>({ columns: {}, sql: (sql) => sql, samples: [] })
const writes = changes<[sql: string]>({ sql: (sql) => sql, samples: [] })

export const allOf = <Row>(tx: ReadTx, sql: string, values: Values = []): Row[] => tx.all(rows(sql), values) as Row[]

export const oneOf = <Row>(tx: ReadTx, sql: string, values: Values = []): Row | undefined =>
  tx.get(rows(sql), values) as Row | undefined

export const runOf = (tx: Tx, sql: string, values: Values = []) => tx.run(writes(sql), values)
