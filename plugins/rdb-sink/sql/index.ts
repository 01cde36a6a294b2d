/**
 * A sink for another SQL database from a dialect and a driver, `deneb/sql`. Start reading at {@link sqlSink}, then
 * {@link standardDialect} and {@link oneConnection}.
 */
export type { Column, ColumnKind, NativeValue } from "../column.js";
export {
  booleanCell,
  type Cells,
  decimalCell,
  doubleCell,
  integerCell,
  jsonCell,
  plainCell,
  utcTime,
} from "../dialects/cells.js";
export {
  type BoundedRows,
  type Dialect,
  type GuardedChange,
  type History,
  type KeyedRows,
  type LastRow,
  quoted,
  type TableDefinition,
  type TableNote,
  type TableRows,
} from "../dialects/dialect.js";
export { type Driver, PartlyWritten, unexpectedChanges, writeAborted } from "../drivers/driver.js";
export { type ExplainParts, explainSql } from "../explain.js";
export type { Fault, FaultReader, Place } from "../faults.js";
export { type Cell, plain, type Statement } from "../statement.js";
export type { Store } from "../store.js";
export type { SchemaName, TableName } from "../table-name.js";
export { type FaultPatterns, faultPatterns } from "./fault-patterns.js";
export { type ConnectionParts, oneConnection } from "./one-connection.js";
export { type SqlConfig, sqlSchema } from "./schema.js";
export { sqlFaults } from "./sql-faults.js";
export { sqlSink } from "./sql-sink.js";
export { type StandardSql, standardDialect } from "./standard-dialect.js";
