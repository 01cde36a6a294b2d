import type { Database } from "../../ngsi/index.js";
import type { Column, ColumnKind, NativeValue, TableIndex } from "./column.js";
import type { DatabaseErrorReader } from "./database-error.js";
import type { LastRow, RemovedRows } from "./last-row.js";
import type { KeptRowsSql, MatchingRows } from "./matching.js";
import type { Partitioning, PartitionStatements } from "./partitions.js";
import type { Cell, KeyedRows, SchemaName, Statement, TableName } from "./statement.js";
import type { ViewSql } from "./views.js";

/** The rows of one batch for one table. @beta */
export interface TableRows {
  readonly name: TableName;
  readonly columns: readonly Column[];
  /** Each as long as `columns`, in the order of arrival. */
  readonly rows: readonly (readonly Cell[])[];
}

/** A table to create. The key is unique; tables of history have none. @beta */
export interface TableDefinition {
  readonly name: TableName;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
  /** Absent for a plain table. */
  readonly partitioning?: Partitioning | undefined;
  /** The columns of each index beside the key. */
  readonly indexes?: readonly TableIndex[];
}

/** A bounded selection of columns and rows, whatever the table holds. @beta */
export interface BoundedRows extends KeyedRows {
  readonly columns: readonly string[];
  /** The columns of the primary key of the table. */
  readonly primaryKey: readonly string[];
  /** Rows are ordered by this column, descending; NULL comes last. */
  readonly latestBy: string;
  readonly mostRows: number;
  /** Longer texts are truncated. */
  readonly mostCharacters: number;
}

/** A change of one row that takes effect only if the row still has the known values: compare-and-set. @beta */
export interface GuardedChange {
  readonly name: TableName;
  /** Identifies the row. */
  readonly key: readonly (readonly [column: string, cell: string])[];
  /** The values that it must have; undefined is NULL. */
  readonly known: readonly (readonly [column: string, cell: Cell])[];
  /** The values that it gets. */
  readonly next: readonly (readonly [column: string, cell: Cell])[];
  /** An integer column that is incremented; NULL counts as 0. */
  readonly counter: { readonly column: string; readonly by: number };
}

/** A table of history and its time column. @beta */
export interface History {
  readonly name: TableName;
  readonly time: Column;
}

/** A table and the full id or type that its shortened name stands for. @beta */
export interface TableNote {
  readonly name: TableName;
  readonly text: string;
}

/**
 * What differs between databases: statements and how to read their results. A dialect has no side effects. All dialects
 * have the same members in this order.
 * @beta
 */
export interface Dialect {
  /** The database whose naming rules apply. */
  readonly database: Database;
  /** Column names that the database reserves. */
  readonly reservedColumns: readonly string[];
  /** The number of characters that always fits into a column of kind text. */
  readonly longestText: number;
  /** Whether times in columns of text are compared letter by letter; those of last data are stored in UTC then. */
  readonly comparesLetters?: boolean;
  /** The kind of the columns of a key in tables that are created, whatever values they get; absent: that of the first values. */
  readonly keyKind?: ColumnKind;
  /** The most columns that a table can have; absent where only the database knows. */
  readonly mostColumns?: number;
  /** Whether each definition commits by itself, and waits for the disk: then tables are made over several connections at once. */
  readonly definesApart?: boolean;
  /** Maps all spellings of a column name to one key. */
  columnKey(column: string): string;
  /**
   * The key, among those of all columns of a table, of another column that the database may find where this one is named; undefined
   * for none. Absent where a name always finds its own column.
   */
  readonly mistaken?: (column: string, keys: ReadonlySet<string>) => string | undefined;
  /**
   * The name, or the one by which the database knows it: it may reserve such names, or keep names in lower case. The table is empty where
   * it is the name of a schema. `knowsNames` of the driver precedes the first call.
   */
  allowed(name: TableName): TableName;
  /**
   * Selects database, schema, table, column and type for those of these tables that exist. The last three may be NULL. The type of
   * a column by which the database numbers the rows is `integer identity`: it takes no value of a sender.
   */
  catalogue(tables: readonly TableName[]): readonly Statement[];
  /** The kind of a column, from its type in the catalogue. */
  columnKind(type: string): ColumnKind;
  /** The cell that a column of this kind stores for a value; undefined if the column cannot store it without loss. */
  cell(kind: ColumnKind, value: NativeValue): Cell;
  createSchema(schema: SchemaName): readonly Statement[];
  createTable(table: TableDefinition): readonly Statement[];
  addColumns(name: TableName, columns: readonly Column[]): readonly Statement[];
  /** Changes text columns to longtext. */
  widenColumns(name: TableName, columns: readonly string[]): readonly Statement[];
  insert(rows: TableRows): readonly Statement[];
  upsert(row: LastRow): Statement;
  /**
   * Selects database, schema, table, key and column for the columns of the unique keys of these tables. Absent where the database
   * refuses an upsert unless there is a unique key over the columns of its key.
   */
  readonly uniqueKeys?: (tables: readonly TableName[]) => readonly Statement[];
  /** Inserts rows into a table with a key, one for each run, with `changes: 1`: an existing row is left unchanged. */
  insertNew(rows: TableRows): readonly Statement[];
  /** Changes a row if it still has the known values, with `changes: 1`. */
  changeKnown(change: GuardedChange): Statement;
  remove(rows: RemovedRows): Statement;
  /** Selects these columns of the rows, of all rows if the key is empty. */
  selectColumns(columns: readonly string[], rows: KeyedRows): Statement;
  /** Selects columns of the rows after waiting for the transactions that are changing such rows. */
  selectSettled(rows: BoundedRows): readonly Statement[];
  /** The commit unit of a schema: what one transaction of the database covers. */
  commitUnit(of: SchemaName): SchemaName;
  /** The table of the positions of channels for rows of this schema: one for each commit unit. */
  positionsTable(of: SchemaName): TableName;
  /**
   * Selects database, schema and table of all tables of that name, in which an earlier version may have kept positions;
   * absent where no version kept them elsewhere.
   */
  readonly earlierPositions?: Statement;
  /**
   * Selects the other databases of the server that this user can connect to; absent where a connection reaches all of
   * them.
   */
  readonly otherDatabases?: Statement;
  /** The table beside it that records which replayed dead letters are stored. */
  deadLettersTable(of: SchemaName): TableName;
  /** The register: the table that lists the tables of all sinks in this schema. */
  registerTable(of: SchemaName): TableName;
  /** Selects database, schema, table, sink, kind and subject from a register: of these tables, or of all. */
  registered(register: TableName, tables?: readonly TableName[]): readonly Statement[];
  /** Selects, in each commit unit, database, schema, table, column and type of all tables with these columns. */
  tablesWith(columns: readonly string[], units: readonly SchemaName[]): readonly Statement[];
  /** Counts the rows. */
  count(history: History): Statement;
  /** Counts up to `limit` rows that are older than the time, a UTC time with a space. */
  countOlder(history: History, time: string, limit: number): Statement;
  /** Deletes up to `limit` rows that are older than the time. */
  deleteOlder(history: History, time: string, limit: number): Statement;
  /** Deletes up to `limit` rows that are not among the newest. Rows without a time count as new. */
  deleteExcess(history: History, newest: number, limit: number): Statement;
  /** Counts up to `limit` rows that meet the conditions. */
  countMatching(rows: MatchingRows, limit: number): Statement;
  /** Deletes up to `limit` of these rows. */
  deleteMatching(rows: MatchingRows, limit: number): Statement;
  /** Absent where no table keeps the rows that are deleted from it. */
  readonly keptRows?: KeptRowsSql;
  /** Selects these columns of the rows, as text that another program can read. */
  readMatching(columns: readonly Column[], rows: MatchingRows): Statement;
  /** Selects the statements that write the notes as comments of tables; empty where tables have no comments. */
  noteTexts(notes: readonly TableNote[]): readonly Statement[];
  /** Absent where tables are not partitioned by time. */
  readonly partitions?: PartitionStatements;
  /**
   * Creates indexes of an existing table, each without a transaction and without keeping writers waiting where the
   * database can do that.
   */
  createIndexes(name: TableName, indexes: readonly TableIndex[]): readonly Statement[];
  /** Selects the names of the complete indexes of a table. Absent: `createIndexes` leaves those as they are that there are. */
  readonly indexNames?: (name: TableName) => Statement;
  /**
   * Selects database, schema, table, the estimated number of rows and the number of partitions of those of these tables that
   * exist; NULL for what is not known and for a table without partitions. Absent where the database has no estimates.
   */
  readonly tableSizes?: (tables: readonly TableName[]) => readonly Statement[];
  readonly errors: DatabaseErrorReader;
  /** Views over the entities of a type (`views = true`); absent where they are not offered. */
  readonly views?: ViewSql;
}
