export { type ColumnNote, columnNotes } from './column-notes.ts'
export {
  blob,
  type Column,
  type Columns,
  defaulted,
  integer,
  maybe,
  pick,
  type RowOf,
  real,
  text,
  word,
} from './columns.ts'
export { compact } from './compact.ts'
export { copyDatabase, sizeOfDatabase } from './copy.ts'
export { DiskRoom } from './disk-room.ts'
export { isSqliteFault, translateSqlite } from './faults.ts'
export { type FileProblem, fileProblems } from './file-check.ts'
export { type Inventory, inventoryOf, textsOf } from './inventory.ts'
export type { Migration } from './migrate.ts'
export {
  databaseFile,
  type FileSchema,
  lockDataDir,
  openAsItIs,
  openReader,
  openWriter,
  openWriterAt,
  schemaOfFile,
} from './open.ts'
export { type Condition, keysOfPage, type Listing, listings } from './page-in-slices.ts'
export { newestSchema, type SchemaDifferences, schemaDifferences } from './schema-check.ts'
export type { Head, Slice, Slices } from './slices.ts'
export { builderOver, type Query } from './sql.ts'
export { type Bindable, built, change, changes, type Statement, statement, statements } from './statement.ts'
export {
  atOneMoment,
  type Cell,
  countUpTo,
  emptyTable,
  largestOf,
  readRows,
  rowAdder,
  type TableShape,
  tableShapes,
} from './table-rows.ts'
export { executor, type ReadTx, type Tx } from './transaction.ts'
export { UnitOfWork } from './unit-of-work.ts'
