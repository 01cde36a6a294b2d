import type { StoredSelection, StoredTable } from "./stored-table.js";

/** What `erase` found of a selection, and what became of it. @beta */
export interface Erasure {
  /** By table: the rows that were erased, or would be in a dry run. Only tables with such rows. */
  readonly erased: readonly ErasedRows[];
  /** Where data of the selection is or may be that could not be erased. */
  readonly left: readonly LeftData[];
  /** Tables that this sink has not listed. They were not read, and may hold data of the selection. */
  readonly untouched: readonly LeftData[];
  /** What remains on purpose, such as names; a sentence each. */
  readonly notes: readonly string[];
}

/** Rows of one table. @beta */
export interface ErasedRows {
  /** As in {@link StoredTable.name}. */
  readonly table: string;
  readonly kind: StoredTable["kind"] | "errors";
  readonly rows: number;
}

/** A table, or another part of a store, and why nothing was erased there. @beta */
export interface LeftData {
  readonly name: string;
  readonly reason: string;
}

/** Rows by what they hold and by time. @beta */
export interface RowSelection extends StoredSelection {
  /** Rows that were received then or later. */
  readonly from?: Date;
  /** Rows that were received earlier than then. */
  readonly to?: Date;
}

/** The rows of one table. @beta */
export interface StoredRows {
  readonly table: StoredTable;
  readonly columns: readonly StoredColumn[];
  /**
   * Some rows at a time, to be read before the next table; each row as long as `columns`, undefined for the store's null.
   * An integer or a number has the form of JSON, a boolean is `true` or `false`, a time is ISO 8601 in UTC, a
   * geometry is GeoJSON. Read them once more, after their end, and the store is asked again.
   */
  readonly rows: AsyncIterable<readonly (readonly (string | undefined)[])[]>;
  /** Why the rows of this table are left out: then there are none. */
  readonly skipped?: string;
}

/** A column of stored rows. @beta */
export interface StoredColumn {
  readonly name: string;
  readonly kind: "text" | "integer" | "number" | "boolean" | "time" | "json";
}
