import { counted } from "../../sdk/counted.js";
import { AgentError, type Event } from "../../sdk/index.js";
import type { NativeValue } from "../contract/column.js";
import { type Cell, type TableName, tableKey } from "../contract/statement.js";
import type { Row } from "./layout.js";

/** A row and its table. */
export interface PlacedRow extends Row {
  readonly name: TableName;
  /** The id or type that the table is named after. */
  readonly subject: string;
  readonly event: Event;
  /** The notification reports that the entity was deleted. */
  readonly removed: boolean;
}

/** The rows of one table, with the events they come from. */
export interface TableBatch {
  readonly name: TableName;
  readonly subject: string;
  /** Columns that are unique together; none for tables of history. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** The cells for text columns, each as long as `columns`, in the order of arrival. */
  readonly rows: readonly (readonly Cell[])[];
  /** The typed values; undefined for none. */
  values(): readonly (readonly (NativeValue | undefined)[])[];
  /** The typed values of one column. */
  valuesOf(column: number): readonly (NativeValue | undefined)[];
  /** Columns that are created with the type of their values. */
  readonly native: ReadonlySet<string>;
  /** The source of each row, in the same order. */
  readonly placed: readonly PlacedRow[];
}

/** The part of a batch of a table that bookkeeping needs. */
export type PlacedRows = Pick<TableBatch, "name" | "placed">;

/** The tables of one transaction, those of later transactions of the same batch, and all tables of the batch. */
export interface Step {
  readonly tables: readonly TableBatch[];
  readonly later: readonly TableBatch[];
  readonly all: readonly TableBatch[];
}

/** The same text for all names that a database takes for one column. */
export type KeyOf = (column: string) => string;

/**
 * The rows by table; each table gets the columns of all its rows, NULL where a row has no such column. Names of different rows
 * that the database takes for one column, such as `Temp` and `temp` in MySQL, are one column with the first spelling.
 */
export function groupedByTable(rows: readonly PlacedRow[], keyOf: KeyOf): readonly TableBatch[] {
  const byTable = new Map<string, PlacedRow[]>();
  for (const row of rows) {
    const key = tableKey(row.name);
    const others = byTable.get(key);
    if (others === undefined) byTable.set(key, [row]);
    else others.push(row);
  }
  const batches: TableBatch[] = [];
  for (const ofTable of byTable.values()) {
    const batch = joined(ofTable, keyOf);
    if (batch !== undefined) batches.push(batch);
  }
  return batches;
}

/** By name, as tables are created and changed. */
export function inOrder<Named extends { readonly name: TableName }>(tables: readonly Named[]): readonly Named[] {
  return tables.length < 2 ? tables : [...tables].sort(({ name: one }, { name: other }) => compareNames(one, other));
}

function compareNames(one: TableName, other: TableName): number {
  return (
    compared(one.database, other.database) || compared(one.schema, other.schema) || compared(one.table, other.table)
  );
}

function compared(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function joined(sent: readonly PlacedRow[], keyOf: KeyOf): TableBatch | undefined {
  const rows = spelledAlike(sent, keyOf);
  const [first] = rows;
  if (first === undefined) return undefined;
  const { name, subject } = first;
  const columns = union(rows, first.columns);
  return {
    name,
    subject,
    key: noKey,
    columns,
    rows: rows.map((row) => aligned(row.cells, row, columns)),
    values: () => rows.map((row) => aligned(row.values(), row, columns)),
    valuesOf: (column) => rows.map((row) => valueIn(row, column, columns)),
    native: nativeOf(rows, first.native),
    placed: rows,
  };
}

/** The rows with one spelling for each column; the same list where that is so already. */
function spelledAlike(rows: readonly PlacedRow[], keyOf: KeyOf): readonly PlacedRow[] {
  const [first] = rows;
  if (first === undefined || rows.every((row) => row.columns === first.columns)) return rows;
  const names = new Set(rows.flatMap((row) => row.columns));
  const spellings = new Map<string, string>();
  for (const name of names) if (!spellings.has(keyOf(name))) spellings.set(keyOf(name), name);
  if (spellings.size === names.size) return rows;
  const spelled = (column: string) => spellings.get(keyOf(column)) ?? column;
  return rows.map((row) => ({
    ...row,
    columns: row.columns.map(spelled),
    native: row.native.map(spelled),
    attributes: row.attributes.map((attribute) => ({
      ...attribute,
      column: spelled(attribute.column),
      members: attribute.members.map((member) => ({ ...member, column: spelled(member.column) })),
    })),
  }));
}

function valueIn(row: Row, column: number, columns: readonly string[]): NativeValue | undefined {
  const own = row.columns === columns ? column : row.columns.indexOf(columns[column] ?? "");
  return own === -1 ? undefined : row.values(own)[0];
}

function nativeOf(rows: readonly Row[], native: readonly string[]): ReadonlySet<string> {
  if (rows.every((row) => row.native === native)) return native.length === 0 ? none : new Set(native);
  return new Set(rows.flatMap((row) => row.native));
}

const none: ReadonlySet<string> = new Set();
/** One list, by which what is remembered of a table is found again. */
const noKey: readonly string[] = [];

// Rows of entities with the same attributes share one list of columns: the usual case.
function union(rows: readonly Row[], columns: readonly string[]): readonly string[] {
  if (rows.every((row) => row.columns === columns)) return columns;
  const united = new Set<string>();
  for (const row of rows) for (const column of row.columns) united.add(column);
  if (united.size > MOST_COLUMNS) throw tooMany(united.size, rows);
  return [...united];
}

/**
 * No database has tables with more columns. Every row gets all columns of its table, so their number must be bounded.
 */
const MOST_COLUMNS = 4096;

function tooMany(columns: number, rows: readonly Row[]): AgentError {
  const message = `storing ${counted(rows.length, "row")} of one table: together they have ${columns} columns, the limit is ${MOST_COLUMNS}`;
  return new AgentError("TOO_MANY_COLUMNS", message, { retryable: false });
}

function aligned<T>(items: readonly T[], row: Row, columns: readonly string[]): readonly (T | undefined)[] {
  if (row.columns === columns) return items;
  const byColumn = new Map(row.columns.map((column, index) => [column, items[index]]));
  return columns.map((column) => byColumn.get(column));
}
