import type { Cell, SchemaName, Statement, TableName } from "./statement.js";

/** A column with the type that the database gives it. @beta */
export interface TypedColumn {
  readonly name: string;
  readonly type: string;
}

/** A table that a view reads. @beta */
export interface ViewedTable {
  readonly name: TableName;
  readonly columns: readonly TypedColumn[];
}

/** The columns with a meaning, as tables spell them. @beta */
export interface ViewedNames {
  readonly time: string;
  readonly id: string;
  readonly type: string;
  /** Those of the row layout. */
  readonly attribute: string;
  readonly value: string;
  /** Columns that hold no attribute. */
  readonly fixed: ReadonlySet<string>;
}

/** The three views of an entity type in a schema. @beta */
export interface EntityViews {
  readonly at: SchemaName;
  readonly entityType: string;
  readonly all: TableName;
  readonly latest: TableName;
  readonly tidy: TableName;
  /** The columns of the first two after the time; those that exist already come first, in their order. */
  readonly columns: readonly TypedColumn[];
  readonly histories: readonly ViewedTable[];
  /** The tables of last data; empty if the latest rows are those of history. */
  readonly lastData: readonly ViewedTable[];
  readonly names: ViewedNames;
}

/** The statements of a dialect that offers views. @beta */
export interface ViewSql {
  /** A type of more tables has no views. */
  readonly mostTables: number;
  /** Selects schema, table, column and type for these tables and views, in the order of the columns. */
  columns(tables: readonly TableName[]): readonly Statement[];
  /** Selects the first characters of these columns of some rows. */
  sample(table: TableName, columns: readonly string[]): Statement;
  /**
   * Selects the first characters of these columns of the newest rows by this time; fails after a moment where that reads a
   * whole large table.
   */
  latest(table: TableName, columns: readonly string[], time: string): readonly Statement[];
  /** The type that a view gives a column of these types; undefined if only its texts tell it. */
  common(types: readonly string[]): string | undefined;
  /** The type for a column of texts, from some of them; without any that of texts. */
  typeOf(texts: readonly Cell[]): string;
  /** Whether a column of this type may stay: at least half of these texts fit, or there are none. */
  fits(texts: readonly Cell[], type: string): boolean;
  /**
   * Creates or replaces the three views, each in a transaction of its own: one that holds the locks of two can block a
   * reader that blocks it. It ends after seconds, as `drop` does: a long query over a view must not make others wait for it.
   */
  define(views: EntityViews): readonly (readonly Statement[])[];
  /** Selects view, grantee (NULL for all), right and whether it may be passed on; absent where `define` keeps rights. */
  rights?(views: Pick<EntityViews, "at" | "all" | "latest" | "tidy">): Statement;
  /**
   * Makes the views with other types in one transaction, and grants these rights again; absent where `define` can change types.
   */
  remake?(views: EntityViews, rights: readonly (readonly Cell[])[]): readonly Statement[];
  drop(views: Pick<EntityViews, "at" | "all" | "latest" | "tidy">): readonly Statement[];
}
