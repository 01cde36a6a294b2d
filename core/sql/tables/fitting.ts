import type { Column, ColumnKind, NativeValue } from "../contract/column.js";
import type { TableRows } from "../contract/dialect.js";
import type { Cell } from "../contract/statement.js";
import { overflowColumn } from "../rows/column-names.js";
import type { TableBatch } from "../rows/grouping.js";
import type { KnownColumns, KnownStore } from "./known-store.js";

/** The rows of a table, converted for its columns. */
export interface FittedRows extends TableRows {
  readonly subject: string;
  /** Columns that are unique together; none for tables of history. */
  readonly key: readonly string[];
  /** The columns that the table lacks; all of them if there is no table. */
  readonly lacking: readonly Column[];
  /** Text columns that must become longtext first. */
  readonly widened: readonly string[];
}

export type Fitting = Pick<KnownStore, "dialect" | "naming" | "nativeTypes">;

/**
 * Converts the values of a batch for the columns that a table has or gets. With native types a value that its column
 * cannot store without loss is stored as JSON text in a column beside it, and the column itself is NULL. Without native
 * types the only typed columns are those that another program created: there the database decides.
 */
export function fitted(batch: TableBatch, known: KnownColumns | undefined, fitting: Fitting): FittedRows {
  const { name, subject, key, rows } = batch;
  const { dialect } = fitting;
  const existing = batch.columns.map((column) => known?.get(dialect.columnKey(column)));
  const allText = existing.every((kind) => kind === "text" || kind === undefined) && batch.native.size === 0;
  if (allText && rows.every((row) => row.every((cell) => cell === undefined || cell.length <= dialect.longestText))) {
    const columns = textColumns(batch.columns);
    const lacking = columns.filter((_, index) => existing[index] === undefined);
    return { name, subject, key, rows, columns, lacking, widened: [] };
  }
  const rowsByColumn = fittedByColumn(batch, existing, fitting);
  const lacking = rowsByColumn.columns.filter((column) => known?.has(dialect.columnKey(column.name)) !== true);
  return { ...rowsByColumn, lacking };
}

/** Returns the same list for the same names: many tables share one. */
function textColumns(names: readonly string[]): readonly Column[] {
  const known = remembered.get(names);
  if (known !== undefined) return known;

  const columns = names.map((name) => ({ name, kind: "text" }) as const);
  remembered.set(names, columns);
  return columns;
}

const remembered = new WeakMap<readonly string[], readonly Column[]>();

interface FittedColumn {
  readonly column: Column;
  readonly widened: boolean;
  readonly cells: readonly Cell[];
  /** The column beside it; undefined if every value fits. */
  readonly beside: { readonly column: Column; readonly cells: readonly Cell[] } | undefined;
}

function fittedByColumn(
  batch: TableBatch,
  existing: readonly (ColumnKind | undefined)[],
  fitting: Fitting,
): Omit<FittedRows, "lacking"> {
  const { name, subject, key, rows } = batch;
  const values = batch.values();
  const columns = batch.columns.flatMap((column, index) => {
    const own = values.map((row) => row[index]);
    // The first value determines the type of the column.
    const nothing =
      existing[index] === undefined && batch.native.has(column) && own.every((value) => value === undefined);
    if (nothing) return [];
    const kind = existing[index] ?? (batch.native.has(column) ? kindOf(own) : "text");
    return fittedColumn(
      { name: column, kind },
      own,
      rows.map((row) => row[index]),
      fitting,
    );
  });
  const all = columns.flatMap(({ column, cells, beside }) => [
    { column, cells },
    ...(beside === undefined ? [] : [beside]),
  ]);
  return {
    name,
    subject,
    key,
    columns: all.map(({ column }) => column),
    rows: rows.map((_, row) => all.map(({ cells }) => cells[row])),
    widened: columns.filter(({ widened }) => widened).map(({ column }) => column.name),
  };
}

/** The kind of a new column: that of its values if they agree, otherwise text. */
function kindOf(values: readonly (NativeValue | undefined)[]): ColumnKind {
  const kinds = new Set(values.flatMap((value) => value?.kind ?? []));
  const [kind = "text"] = kinds;
  return kinds.size === 1 ? kind : "text";
}

function fittedColumn(
  column: Column,
  values: readonly (NativeValue | undefined)[],
  plain: readonly Cell[],
  { dialect, naming, nativeTypes }: Fitting,
): FittedColumn {
  const cells = values.map((value, row) =>
    value === undefined ? nullCell(column.kind, plain[row]) : dialect.cell(column.kind, value),
  );
  const misfits = values.map((value, row) => (value !== undefined && cells[row] === undefined ? value : undefined));
  if (misfits.every((value) => value === undefined)) return { column, cells, widened: false, beside: undefined };
  if (column.kind === "text")
    return { column: { ...column, kind: "longtext" }, cells: plain, widened: true, beside: undefined };
  if (!nativeTypes)
    return { column, cells: cells.map((cell, row) => cell ?? misfits[row]?.plain), widened: false, beside: undefined };
  const beside = {
    column: { name: overflowColumn(column.name, naming), kind: "longtext" } as const,
    cells: misfits.map((value) => (value === undefined ? undefined : jsonOf(value))),
  };
  return { column, cells, widened: false, beside };
}

/** A text column may store a text where there is no value, such as the `null` of a simplified attribute. */
function nullCell(kind: ColumnKind, plain: Cell): Cell {
  return kind === "text" || kind === "longtext" || kind === "other" ? plain : undefined;
}

function jsonOf({ kind, text }: NativeValue): string {
  return kind === "text" || kind === "time" ? JSON.stringify(text) : text;
}
