/**
 * Not run: the compiler reads it. A write must be synchronous, or another request would get into its transaction; each
 * line below must be a type error, and the compiler says so when one is not.
 */
import type { UnitOfWork } from '../../src/database/index.ts'

export function neverCompiles(work: UnitOfWork): void {
  // @ts-expect-error an async function can not be a write
  void work.write(async () => 1)
  // @ts-expect-error nor can one that returns a promise
  void work.write((tx) => Promise.resolve(tx))
  // @ts-expect-error nor a read
  work.read(async () => 1)
  void work.write((tx) => tx.oneOf('SELECT 1'))
}
