import { DELETED_VALUE, entityOf } from "../../ngsi/index.js";
import { AgentError } from "../../sdk/index.js";
import type { Column, ColumnKind, GeometryKind, NativeValue } from "../contract/column.js";
import type { Dialect, TableRows } from "../contract/dialect.js";
import type { Cell } from "../contract/statement.js";
import type { TableBatch } from "../rows/grouping.js";

/**
 * The rows for a table that lacks no column, and has only columns of text and of geometries: the usual one with
 * geometries. Undefined for any other. Converting every value would take several times as long.
 */
export function fittedGeometries(
  batch: TableBatch,
  existing: readonly (ColumnKind | undefined)[],
  dialect: Dialect,
): Pick<TableRows, "columns" | "rows"> | undefined {
  const usual = existing.every((kind) => kind === "text" || isOfGeometries(kind));
  if (!usual || dialect.longestText !== Number.POSITIVE_INFINITY) return undefined;
  const rows = batch.rows.map((row) => [...row]);
  existing.forEach((kind, index) => {
    if (!isOfGeometries(kind)) return;
    const values = batch.valuesOf(index);
    const cells = values.map((value) => geometryCell(kind, value, dialect));
    refuseOthers(values, cells, { batch, column: batch.columns[index] ?? "" });
    for (const [at, row] of rows.entries()) row[index] = cells[at] ?? otherCell(values[at]);
  });
  return { columns: geometryColumns(batch.columns, existing), rows };
}

/** Returns the same list for the same names and kinds. */
function geometryColumns(names: readonly string[], kinds: readonly (ColumnKind | undefined)[]): readonly Column[] {
  const known = rememberedWithGeometries.get(names);
  if (known?.every(({ kind }, index) => kind === kinds[index])) return known;

  const columns = names.map((name, index) => ({ name, kind: kinds[index] ?? "text" }));
  rememberedWithGeometries.set(names, columns);
  return columns;
}

const rememberedWithGeometries = new WeakMap<readonly string[], readonly Column[]>();

/** The cell of a column of geometries; undefined also for a deleted attribute. */
export function geometryCell(kind: GeometryKind, value: NativeValue | undefined, dialect: Dialect): Cell {
  return value === undefined || isDeletion(value) ? undefined : dialect.cell(kind, value);
}

/** Without a cell of its own the database decides about a value. */
function otherCell(value: NativeValue | undefined): Cell {
  return value === undefined || isDeletion(value) ? undefined : value.plain;
}

/** Whether NGSI-LD says by the value that the attribute was deleted, which a column of geometries keeps as NULL. */
export function isDeletion({ text }: NativeValue): boolean {
  return text === DELETED_VALUE;
}

export function isOfGeometries(kind: ColumnKind | undefined): kind is GeometryKind {
  return kind === "geometry" || kind === "geometryz";
}

interface GeometryColumn {
  readonly batch: TableBatch;
  readonly column: string;
}

/** Throws `NOT_A_GEOMETRY` for a value that is meant to be a geometry and has no cell. */
export function refuseOthers(
  values: readonly (NativeValue | undefined)[],
  cells: readonly Cell[],
  { batch: { name, placed }, column }: GeometryColumn,
): void {
  values.forEach((value, row) => {
    if (value?.kind !== "geometry" || cells[row] !== undefined || isDeletion(value)) return;
    const event = placed[row]?.event;
    const entity = event === undefined ? "" : ` of entity ${JSON.stringify(entityOf(event).id)}`;
    const text = value.plain.length > LONGEST_SHOWN ? `${value.plain.slice(0, LONGEST_SHOWN)}...` : value.plain;
    const message = `storing "${column}"${entity} in table "${name.table}": ${JSON.stringify(text)} is no geometry`;
    throw new AgentError("NOT_A_GEOMETRY", message, { retryable: false });
  });
}

const LONGEST_SHOWN = 60;
