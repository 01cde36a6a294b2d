import type { FaultReader } from "../faults.js";
import type { Cell, Statement } from "../statement.js";
import type { TableName } from "../table-name.js";

/** The rows of one batch for one table. */
export interface TableRows {
  readonly name: TableName;
  readonly columns: readonly string[];
  /** Each as long as `columns`, in the order of arrival. */
  readonly rows: readonly (readonly Cell[])[];
  /** The id or type the table is named after. */
  readonly subject: string;
}

/** A table and the full id or type its shortened name stands for. */
export interface TableNote {
  readonly name: TableName;
  readonly text: string;
}

/** A database as a table of differences: texts and answers, no effects. Every dialect has the same members, in this order. */
export interface Dialect {
  /** Column names the database keeps for itself. */
  readonly reservedColumns: readonly string[];
  /** The name itself, or another where the database keeps such names for itself. */
  allowed(name: TableName): TableName;
  /** Asks for rows of schema, table and column: of all these tables, what exists. Table and column may be NULL. */
  catalogue(tables: readonly TableName[]): readonly Statement[];
  createSchema(schema: string): readonly Statement[];
  createTable(name: TableName, columns: readonly string[]): readonly Statement[];
  addColumns(name: TableName, columns: readonly string[]): readonly Statement[];
  insert(rows: TableRows): readonly Statement[];
  /** Asks for the texts of the statements that write the notes; nothing where tables have no comments. */
  noteTexts(notes: readonly TableNote[]): readonly Statement[];
  readonly faults: FaultReader;
}

/** Quoted as standard SQL and both databases do it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
