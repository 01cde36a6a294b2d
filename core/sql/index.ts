/**
 * A sink for another SQL database from a dialect and a driver, `deneb/sql`. Start reading at {@link sqlSink}, then
 * {@link standardDialect} and {@link oneConnection}.
 */

export {
  booleanCell,
  type Cells,
  decimalCell,
  doubleCell,
  integerCell,
  jsonCell,
  plainCell,
  utcTime,
} from "./contract/cells.js";
export type { Column, ColumnKind, NativeValue } from "./contract/column.js";
export { type Fault, type FaultReader, faultOf, type Place } from "./contract/database-error.js";
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
export {
  type Driver,
  isUnexpectedChanges,
  PartlyWritten,
  unexpectedChanges,
  unlessAborted,
  writeAborted,
} from "./contract/driver.js";
export { joinedRows } from "./contract/joined-rows.js";
export { RecentMap } from "./contract/recent-map.js";
export { type SqlConfig, sqlSchema } from "./contract/schema.js";
export { sqlFaults } from "./contract/settings.js";
export { type Cell, plain, type Statement } from "./contract/statement.js";
export type { Store } from "./contract/store.js";
export { storeError } from "./contract/store-error.js";
export type { SchemaName, TableName } from "./contract/table-name.js";
export { type ExplainParts, explainSql } from "./explain.js";
export { OwnPlace, type PlaceWishes } from "./features/own-place.js";
export { sqlSink } from "./open-sink.js";
export { type FaultPatterns, faultPatterns } from "./standard/error-patterns.js";
export { boundedSelect, type GuardedSql, guarded } from "./standard/guarded-statements.js";
export { type ConnectionParts, oneConnection } from "./standard/one-connection.js";
export { type StandardSql, standardDialect } from "./standard/standard-dialect.js";
