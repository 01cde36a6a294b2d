/**
 * A sink for another SQL database from a dialect and a driver, `deneb/sql`. Start reading at {@link sqlSink}, then
 * {@link standardDialect} and {@link oneConnection}.
 */

export type { Column, ColumnKind, GeometryKind, NativeValue, PlainKind, TableIndex } from "./contract/column.js";
export {
  booleanCell,
  type Cells,
  decimalCell,
  doubleCell,
  integerCell,
  plainCell,
  utcTime,
} from "./contract/column.js";
export {
  type DatabaseError,
  type DatabaseErrorReader,
  databaseErrorOf,
  type ErrorPatterns,
  errorPatterns,
  type ServerAddress,
  storeError,
} from "./contract/database-error.js";
export type {
  BoundedRows,
  Dialect,
  GuardedChange,
  History,
  TableDefinition,
  TableNote,
  TableRows,
} from "./contract/dialect.js";
export type { Store } from "./contract/driver.js";
export {
  abortable,
  type BookkeepingDatabase,
  type BookkeepingTables,
  type Driver,
  isUnexpectedChanges,
  PartlyWritten,
  unexpectedChanges,
  unlessAborted,
  writeAborted,
} from "./contract/driver.js";
export { sqlFaults } from "./contract/faults.js";
export { doublesJsonCell, type JsonColumn, jsonCell, strictJsonCell } from "./contract/json-cell.js";
export {
  type LastRow,
  type MemberChanges,
  type MemberSql,
  memberChanges,
  type RemovedRows,
  rememberingUpserts,
  type UpsertText,
  writtenColumns,
} from "./contract/last-row.js";
export type { KeptRowsSql, MatchingRows, RowCondition } from "./contract/matching.js";
export { notOpened, refusedAt, unansweredCommit } from "./contract/noted-errors.js";
export {
  type ConversionStep,
  type PartitionConversion,
  type PartitionedTable,
  type Partitioning,
  type PartitionStatements,
  type Period,
  periods,
  type StoredPartition,
  type TimeRange,
} from "./contract/partitions.js";
export { RecentMap } from "./contract/recent-map.js";
export { type SqlConfig, sqlSchema } from "./contract/schema.js";
export type { SchemaName, TableName } from "./contract/statement.js";
export { type Cell, joinedRows, type KeyedRows, plain, type Statement } from "./contract/statement.js";
export type { EntityViews, TypedColumn, ViewedNames, ViewedTable, ViewSql } from "./contract/views.js";
export { querySql } from "./features/query-sql.js";
export { type ExplainParts, explainSql, sqlSink, storedData } from "./plugin-parts.js";
export { type MatchingSql, matching } from "./standard/matching.js";
export { type ConnectionParts, oneConnection } from "./standard/one-connection.js";
export {
  boundedSelect,
  columnList,
  type GuardedSql,
  guarded,
  keyedSelect,
  quoted,
  rememberingColumns,
} from "./standard/sql-text.js";
export { standardDialect } from "./standard/standard-dialect.js";
export type { StandardSql } from "./standard/standard-statements.js";
