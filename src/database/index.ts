export { compact } from './compact.ts'
export { DiskRoom } from './disk-room.ts'
export { isSqliteFault, translateSqlite } from './faults.ts'
export { databaseFile, openReader, openWriter, type SchemaDifferences, schemaDifferences } from './open.ts'
export { type Condition, keysOfPage, type Listing } from './page-in-slices.ts'
export { type Query, sql } from './sql.ts'
export type {
  CountScanRow,
  CountSessionRow,
  DetectionEventRow,
  IncidentChangeRow,
  PlacementEventRow,
  PrintJobRow,
  ReportRow,
  ScaleReadingRow,
  Stated,
  Tables,
  UnitHistoryRow,
} from './tables.ts'
export { executor, type ReadTx, type Tx } from './transaction.ts'
export { type Head, type Slice, UnitOfWork } from './unit-of-work.ts'
