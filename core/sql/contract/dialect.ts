import type { Database } from "../../ngsi/index.js";
import type { Column, ColumnKind, NativeValue } from "./column.js";
import type { DatabaseErrorReader } from "./database-error.js";
import type { Cell, SchemaName, Statement, TableName } from "./statement.js";

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

/** A row of last data: one for each key, and only a newer one changes it. */
export interface LastRow {
  readonly name: TableName;
  /** Only those that the row has; the others stay as they are. */
  readonly columns: readonly Column[];
  readonly cells: readonly Cell[];
  readonly key: readonly string[];
  /** The column that says which row is newer, and its format where it is a text that the database must be told how to read. */
  readonly time: Column;
  readonly timeFormat: string | undefined;
}

/** Rows with these values in these columns. */
export interface KeyedRows {
  readonly name: TableName;
  readonly key: readonly string[];
  readonly cells: readonly Cell[];
}

/** Some columns of rows, not more than this whatever is in the table. */
export interface BoundedRows extends KeyedRows {
  readonly columns: readonly string[];
  /** Rows with the greatest texts in this column come first, those without one last. */
  readonly latestBy: string;
  readonly mostRows: number;
  /** Longer texts are cut. */
  readonly mostCharacters: number;
}

/** A change of one row that is made only while the row is as it is known: compare-and-set. */
export interface GuardedChange {
  readonly name: TableName;
  /** What tells the row apart. */
  readonly key: readonly (readonly [column: string, cell: string])[];
  /** What it must have now; undefined is NULL. */
  readonly known: readonly (readonly [column: string, cell: Cell])[];
  /** What it has then. */
  readonly next: readonly (readonly [column: string, cell: Cell])[];
  /** A column of integers that grows by so many; NULL counts as 0. */
  readonly counter: { readonly column: string; readonly by: number };
}

/** A table of history, and the column of its times. */
export interface History {
  readonly name: TableName;
  readonly time: Column;
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
  upsert(row: LastRow): Statement;
  /** Adds rows of a table with a key, one for each run, with `changes: 1`: a row that is there already changes nothing. */
  insertNew(rows: TableRows): readonly Statement[];
  /** Changes a row while it is as it is known, with `changes: 1`. */
  changeKnown(change: GuardedChange): Statement;
  remove(rows: KeyedRows): Statement;
  /** Asks for one column of the rows. */
  select(column: string, rows: KeyedRows): Statement;
  /** Asks for columns of the rows as they stand when every transaction that is changing such rows now has ended. */
  selectSettled(rows: BoundedRows): readonly Statement[];
  /** What is committed as a whole, however many of its schemas a batch goes to. */
  commitUnit(of: SchemaName): SchemaName;
  /** The table that keeps the positions of channels, for rows of this schema: one for each destination. */
  positionsTable(of: SchemaName): TableName;
  /** Asks for database, schema and table of all tables with the name of that table, in which an earlier version may have kept positions; absent where none did elsewhere. */
  readonly earlierPositions?: Statement;
  /** The table beside it that keeps which replayed dead letters are stored. */
  deadLettersTable(of: SchemaName): TableName;
  /** The table that lists the tables of the sinks, for tables of this schema. */
  registerTable(of: SchemaName): TableName;
  /**
   * Asks a register for rows of database, schema, table, sink, kind and subject: those of these tables, all when none are
   * named.
   */
  registered(register: TableName, tables?: readonly TableName[]): readonly Statement[];
  /** Asks, in each of these places, for database, schema, table, column and its type of all tables with these columns. */
  tablesWith(columns: readonly string[], units: readonly SchemaName[]): readonly Statement[];
  /** Asks for the number of rows. */
  count(history: History): Statement;
  /** Asks for the number of rows older than the time, a UTC time with a blank; at most so many. */
  countOlder(history: History, time: string, limit: number): Statement;
  /** Deletes rows older than the time; at most so many. */
  deleteOlder(history: History, time: string, limit: number): Statement;
  /** Deletes so many of the rows that are not among the newest. Rows without a time count as new. */
  deleteExcess(history: History, newest: number, limit: number): Statement;
  /** Asks for the texts of the statements that write the notes; nothing where tables have no comments. */
  noteTexts(notes: readonly TableNote[]): readonly Statement[];
  readonly errors: DatabaseErrorReader;
}

/** Quoted as standard SQL does it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Makes texts of lists of columns, and remembers the text of a list: most tables have the same one. */
export function rememberingColumns(
  text: (columns: readonly Column[]) => string,
): (columns: readonly Column[]) => string {
  const known = new WeakMap<readonly Column[], string>();
  return (columns) => {
    const remembered = known.get(columns);
    if (remembered !== undefined) return remembered;

    const made = text(columns);
    known.set(columns, made);
    return made;
  };
}

/** The names of columns, quoted, as they stand in an INSERT. */
export const columnList = rememberingColumns((columns) => columns.map(({ name }) => quoted(name)).join(", "));
