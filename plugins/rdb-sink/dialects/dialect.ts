import type { Database } from "deneb/ngsi";
import type { Column, ColumnKind, NativeValue } from "../column.js";
import type { FaultReader } from "../faults.js";
import type { Cell, Statement } from "../statement.js";
import type { SchemaName, TableName } from "../table-name.js";

/** The rows of one batch for one table, as they go in. */
export interface TableRows {
  readonly name: TableName;
  readonly columns: readonly Column[];
  /** Each as long as `columns`, in the order of arrival. */
  readonly rows: readonly (readonly Cell[])[];
}

/** A table to make. A key is unique, and only tables of last data have one. */
export interface TableDefinition {
  readonly name: TableName;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
}

/** A table and the full id or type its shortened name stands for. */
export interface TableNote {
  readonly name: TableName;
  readonly text: string;
}

/** A database as a table of differences: texts and answers, no effects. Every dialect has the same members, in this order. */
export interface Dialect {
  /** Whose rules the names follow. */
  readonly database: Database;
  /** Column names the database keeps for itself. */
  readonly reservedColumns: readonly string[];
  /** Most characters that surely go into a column of kind text. */
  readonly longestText: number;
  /** One text for all names of one column. */
  columnKey(column: string): string;
  /** The name itself, or another where the database keeps such names for itself. */
  allowed(name: TableName): TableName;
  /** Asks for rows of database, schema, table, column and its type: of all these tables, what exists. The last three may be NULL. */
  catalogue(tables: readonly TableName[]): readonly Statement[];
  /** The kind of a column by its type as the catalogue has it. */
  columnKind(type: string): ColumnKind;
  /** What a column of this kind keeps of a value; undefined when it cannot keep it without loss. */
  cell(kind: ColumnKind, value: NativeValue): Cell;
  createSchema(schema: SchemaName): readonly Statement[];
  createTable(table: TableDefinition): readonly Statement[];
  addColumns(name: TableName, columns: readonly Column[]): readonly Statement[];
  /** Makes longtext of text columns. */
  widenColumns(name: TableName, columns: readonly string[]): readonly Statement[];
  insert(rows: TableRows): readonly Statement[];
  /** Asks for the texts of the statements that write the notes; nothing where tables have no comments. */
  noteTexts(notes: readonly TableNote[]): readonly Statement[];
  readonly faults: FaultReader;
}

/** Quoted as standard SQL does it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
