/**
 * A sink for another SQL database from a dialect and a driver, `deneb/sql`. Start reading at {@link sqlSink}, then
 * {@link standardDialect} and {@link oneConnection}.
 */

export type { Column, ColumnKind, NativeValue } from "./contract/column.js";
export {
  booleanCell,
  type Cells,
  decimalCell,
  doubleCell,
  integerCell,
  jsonCell,
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
export {
  type BoundedRows,
  columnList,
  type Dialect,
  type GuardedChange,
  type History,
  type KeyedRows,
  type LastRow,
  quoted,
  rememberingColumns,
  type TableDefinition,
  type TableNote,
  type TableRows,
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
export { RecentMap } from "./contract/recent-map.js";
export { type SqlConfig, sqlSchema } from "./contract/schema.js";
export { sqlFaults } from "./contract/settings.js";
export type { SchemaName, TableName } from "./contract/statement.js";
export { type Cell, joinedRows, plain, type Statement } from "./contract/statement.js";
export { type ExplainParts, explainSql, sqlSink } from "./plugin-parts.js";
export { boundedSelect, type GuardedSql, guarded } from "./standard/guarded-statements.js";
export { type ConnectionParts, oneConnection } from "./standard/one-connection.js";
export { standardDialect } from "./standard/standard-dialect.js";
export type { StandardSql } from "./standard/standard-statements.js";
