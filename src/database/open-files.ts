import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { identityOf } from '../platform/index.ts'

/**
 * The files of an open database with their folder. SQLite writes into a file that was removed or unmounted without an error, and the
 * commit is gone with the last descriptor.
 */
export class OpenFiles {
  readonly #identities: readonly (readonly [path: string, identity: string])[]

  /** The connection must have read, so that its write-ahead log is there. */
  constructor({ memory, name }: Pick<Database, 'memory' | 'name'>) {
    const paths = memory ? [] : [dirname(name), name, `${name}-wal`, `${name}-shm`]
    this.#identities = paths.flatMap((path) => {
      const identity = identityOf(path)
      return identity === undefined ? [] : [[path, identity] as const]
    })
  }

  /** Path of the first one that is gone or was replaced; undefined while all are in their place. About 20 µs. */
  get misplaced(): string | undefined {
    return this.#identities.find(([path, identity]) => identityOf(path) !== identity)?.[0]
  }
}
