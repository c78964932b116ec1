import { built, pick, type Tx } from '../../database/index.ts'
import { sql, tables } from '../tables.ts'

const anyone = pick(tables.known_caller, 'username')
const sessionsNamed = built(anyone, ({ username }) =>
  sql.deleteFrom('console_session').where('username', '=', username),
)
const callersNamed = built(anyone, ({ username }) => sql.deleteFrom('known_caller').where('username', '=', username))

const someone = pick(tables.known_caller, 'username', 'instance')
const sessionsOf = built(someone, ({ username, instance }) =>
  sql.deleteFrom('console_session').where('username', '=', username).where('instance', '=', instance),
)
const callersOf = built(someone, ({ username, instance }) =>
  sql.deleteFrom('known_caller').where('username', '=', username).where('instance', '=', instance),
)

/**
 * Signs somebody out everywhere, and forgets that a server vouched for them; without an instance everybody of the name.
 * @returns how many sessions ended
 */
export function forgetCaller(tx: Tx, username: string, instance: string | null): number {
  if (instance === null) {
    tx.run(callersNamed, { username })
    return tx.run(sessionsNamed, { username }).changes
  }
  tx.run(callersOf, { username, instance })
  return tx.run(sessionsOf, { username, instance }).changes
}
