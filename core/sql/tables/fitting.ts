import type { Column, ColumnKind, NativeValue } from "../contract/column.js";
import type { TableRows } from "../contract/dialect.js";
import { exactJson } from "../contract/json-cell.js";
import type { Cell } from "../contract/statement.js";
import { overflowColumn } from "../rows/column-names.js";
import type { TableBatch } from "../rows/grouping.js";
import { fittedGeometries, geometryCell, isDeletion, isOfGeometries, refuseOthers } from "./fitted-geometries.js";
import type { KnownStore } from "./known-store.js";
import { foundNames, type KnownColumns } from "./known-tables.js";
import { type RefusedColumns, refuse, refusedColumns } from "./refused-columns.js";

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

/**
 * The rows of several batches, if that is all there is to do: their tables are known, belong to a sink, and lack nothing.
 * Undefined if something may be missing.
 */
export function fittedToKnown(batches: readonly TableBatch[], store: KnownStore): readonly FittedRows[] | undefined {
  const all: FittedRows[] = [];
  for (const batch of batches) {
    const columns = store.tables.columns(batch.name);
    if (columns === undefined || !store.tables.own.has(columns)) return undefined;
    refuseColumns(batch, columns, store);
    const rows = fitted(batch, columns, store);
    if (rows.lacking.length > 0 || rows.widened.length > 0) return undefined;
    all.push(rows);
  }
  return all;
}

type Fitting = Pick<KnownStore, "dialect" | "naming" | "nativeTypes" | "geometryIndex">;

/**
 * Converts the values of a batch for the columns that a table has or gets. With native types a value that its column
 * cannot store without loss is stored as JSON text in a column beside it, and the column itself is NULL. Without native
 * types the only typed columns are those that another program created: there the database decides.
 */
export function fitted(batch: TableBatch, known: KnownColumns | undefined, fitting: Fitting): FittedRows {
  const { name, subject, key, rows } = batch;
  const { dialect } = fitting;
  const { existing, kindsFit, allText, columns, lacking: lackingPlain } = comparedColumns(batch, known, dialect);
  const makesNative = batch.native.size > 0 && lackingPlain.some((column) => batch.native.has(column.name));
  const longest = dialect.longestText;
  const isPlain = (row: readonly Cell[]) => (allText ? fitsText(row, longest) : fitsPlain(row, existing, longest));
  if (kindsFit && !makesNative && rows.every(isPlain)) {
    return { name, subject, key, rows, columns, lacking: lackingPlain, widened: [] };
  }
  const geometries = fittedGeometries(batch, existing, dialect);
  if (geometries !== undefined) return { name, subject, key, ...geometries, lacking: [], widened: [] };
  const rowsByColumn = fittedByColumn(batch, { existing, columns }, fitting);
  const lacking = rowsByColumn.columns.filter((column) => known?.has(dialect.columnKey(column.name)) !== true);
  return { ...rowsByColumn, lacking };
}

/** The columns of a batch beside those of its table. */
interface ComparedColumns {
  readonly known: KnownColumns | undefined;
  readonly dialect: Fitting["dialect"];
  readonly key: readonly string[];
  /** The kind of each column in the table; where the table lacks it that of a key in this database, else undefined. */
  readonly existing: readonly (ColumnKind | undefined)[];
  /** Whether the cells for text columns can be stored as they are: in columns of texts, and whole numbers in those of integers. */
  readonly kindsFit: boolean;
  readonly allText: boolean;
  /** With the kinds of the table, else text. */
  readonly columns: readonly Column[];
  /** Those of them that the table lacks. */
  readonly lacking: readonly Column[];
  readonly refused: RefusedColumns | undefined;
}

/** Caches the last comparison of each list: tables of entities with the same attributes share their columns. */
function comparedColumns(
  { columns: names, key }: Pick<TableBatch, "columns" | "key">,
  known: KnownColumns | undefined,
  dialect: Fitting["dialect"],
): ComparedColumns {
  const last = compared.get(names);
  if (last !== undefined && last.known === known && last.dialect === dialect && last.key === key) return last;

  const inTable = names.map((column) => known?.get(dialect.columnKey(column)));
  const existing = names.map((column, at) => inTable[at] ?? (key.includes(column) ? dialect.keyKind : undefined));
  const columns = plainColumns(foundNames(names, known, { key, keyOf: dialect.columnKey }), existing);
  const made = {
    known,
    dialect,
    key,
    existing,
    // The short column of the time of a partitioned table is "other", and takes text.
    kindsFit: existing.every((kind) => kind === "text" || kind === "integer" || kind === "other" || kind === undefined),
    allText: existing.every((kind) => kind === "text" || kind === "other" || kind === undefined),
    columns,
    lacking: columns.filter((_, index) => inTable[index] === undefined),
    refused: refusedColumns(names, known, dialect),
  };
  compared.set(names, made);
  return made;
}

const compared = new WeakMap<readonly string[], ComparedColumns>();

/** Throws code `DATA_REFUSED` for rows with a column that must take none of their values. */
export function refuseColumns(
  batch: TableBatch,
  known: KnownColumns | undefined,
  { dialect }: Pick<Fitting, "dialect">,
): void {
  const { refused } = comparedColumns(batch, known, dialect);
  if (refused !== undefined) refuse(batch, refused);
}

function fitsText(row: readonly Cell[], longest: number): boolean {
  for (let at = 0; at < row.length; at += 1) {
    const cell = row[at];
    if (cell !== undefined && lengthOf(cell) > longest) return false;
  }
  return true;
}

/**
 * The length of a text. Of texts of many kinds (one or two bytes, part of another one, put together) V8 looks up `text.length` by
 * name each time, which takes four times as long.
 */
function lengthOf(text: string): number {
  // biome-ignore lint/style/useTemplate: a template takes ten times as long.
  return (text + "").length;
}

const WHOLE = /^\d{1,18}$/;

function fitsPlain(row: readonly Cell[], existing: readonly (ColumnKind | undefined)[], longest: number): boolean {
  return row.every((cell, at) => {
    if (cell === undefined) return true;
    return existing[at] === "integer" ? WHOLE.test(cell) : cell.length <= longest;
  });
}

/** Returns the same list for the same names and kinds: many tables share one. */
function plainColumns(names: readonly string[], existing: readonly (ColumnKind | undefined)[]): readonly Column[] {
  const known = remembered.get(names);
  if (known?.every(({ kind }, at) => kind === (existing[at] ?? "text")) === true) return known;

  const columns = names.map((name, at) => ({ name, kind: existing[at] ?? "text" }) as const);
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
  { existing, columns: compared }: Pick<ComparedColumns, "existing" | "columns">,
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
    const kind = existing[index] ?? (batch.native.has(column) ? kindOf(own, fitting) : "text");
    const indexed = kind === "geometry" && existing[index] === undefined && fitting.geometryIndex === true;
    const made = fittedColumn(
      { name: compared[index]?.name ?? column, kind, ...(indexed ? { indexed } : {}) },
      own,
      rows.map((row) => row[index]),
      fitting,
    );
    if (isOfGeometries(kind)) refuseOthers(own, made.cells, { batch, column });
    return made;
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
function kindOf(values: readonly (NativeValue | undefined)[], { nativeTypes }: Fitting): ColumnKind {
  const kinds = new Set(values.flatMap((value) => value?.kind ?? []));
  const [kind = "text"] = kinds;
  // Without native types a column of geometries may be null where it is one, and hold another value elsewhere.
  return kinds.size === 1 && (nativeTypes || generated.has(kind)) ? kind : "text";
}

/** The kinds of columns that are typed without native types. */
const generated: ReadonlySet<ColumnKind> = new Set(["integer", "geometry"]);

function fittedColumn(
  column: Column,
  values: readonly (NativeValue | undefined)[],
  plain: readonly Cell[],
  { dialect, naming, nativeTypes }: Fitting,
): FittedColumn {
  const { kind } = column;
  const ofGeometries = isOfGeometries(kind);
  const cells = values.map((value, row) => {
    if (ofGeometries) return geometryCell(kind, value, dialect);
    return value === undefined ? nullCell(kind, plain[row]) : dialect.cell(kind, value);
  });
  const misfits = values.map((value, row) => {
    const fits = value === undefined || cells[row] !== undefined || (ofGeometries && isDeletion(value));
    return fits ? undefined : value;
  });
  if (misfits.every((value) => value === undefined)) return { column, cells, widened: false, beside: undefined };
  if (column.kind === "text")
    return { column: { ...column, kind: "longtext" }, cells: plain, widened: true, beside: undefined };
  // A value that should be a geometry and is none stays without a cell.
  if (ofGeometries && misfits.some((value) => value?.kind === "geometry"))
    return { column, cells, widened: false, beside: undefined };
  if (!nativeTypes)
    return { column, cells: cells.map((cell, row) => cell ?? misfits[row]?.plain), widened: false, beside: undefined };
  const beside = {
    column: { name: overflowColumn(column.name, naming), kind: "longtext" } as const,
    cells: misfits.map((value) => (value === undefined ? undefined : exactJson(value))),
  };
  return { column, cells, widened: false, beside };
}

/** A text column may store a text where there is no value, such as the `null` of a simplified attribute. */
function nullCell(kind: ColumnKind, plain: Cell): Cell {
  return kind === "text" || kind === "longtext" || kind === "other" ? plain : undefined;
}
