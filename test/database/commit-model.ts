/**
 * Not run: the compiler reads it. A write must be synchronous, or another request would get into its transaction. Each
 * line below must be a type error, and the compiler fails when one is not. A text is no statement either, and a statement
 * runs only with the values it binds.
 */

import { built, integer, type UnitOfWork } from '../../src/database/index.ts'
import { sql as labels } from '../../src/labels/tables.ts'
import { sql } from '../../src/warehouse/tables.ts'
import { oneOf } from '../support/plain-sql.ts'

export function neverCompiles(work: UnitOfWork): void {
  // @ts-expect-error an async function cannot be a write
  void work.write(async () => 1)
  // @ts-expect-error nor can one that returns a promise
  void work.write((tx) => Promise.resolve(tx))
  // @ts-expect-error nor when it may run a second time
  void work.writeRepeatable(async () => 1)
  // @ts-expect-error nor a read
  work.read(async () => 1)
  void work.write((tx) => oneOf(tx, 'SELECT 1'))
  // @ts-expect-error a text is no statement
  void work.read((tx) => tx.get('SELECT 1'))
  // @ts-expect-error the id is a number
  void work.read((tx) => tx.get(zone, { id: 'A' }))
  // @ts-expect-error and has to be given
  void work.read((tx) => tx.get(zone))
  // @ts-expect-error a warehouse is none of this room's tables
  labels.selectFrom('warehouse')
}

const zone = built({ id: integer }, ({ id }) => sql.selectFrom('zone').selectAll().where('id', '=', id))
