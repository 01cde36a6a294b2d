import type { Column } from "./column.js";
import type { Statement, TableName } from "./statement.js";

/** A condition on a column. A row without a value there does not meet it. @beta */
export interface RowCondition {
  readonly column: Column;
  /**
   * `is`: exactly this text, letter case and spaces included. `contains`: this text is a part of it. `from`, `before`: the
   * value is a time then or later, or earlier.
   */
  readonly test: "is" | "contains" | "from" | "before";
  /** A time is in UTC, with a space and without a zone. */
  readonly text: string;
}

/** Statements about tables that keep the rows which are deleted from them. @beta */
export interface KeptRowsSql {
  /** Selects database, schema and table of those of these tables that keep them. */
  keeping(tables: readonly TableName[]): readonly Statement[];
  /** Counts up to `limit` rows of such a table, present and deleted, that meet the conditions. */
  countEver(rows: MatchingRows, limit: number): Statement;
  /** For people: what keeps the rows, and how to be rid of them. */
  remedy(name: TableName): string;
}

/** The rows of a table that meet all conditions; all rows without any. @beta */
export interface MatchingRows {
  readonly name: TableName;
  readonly conditions: readonly RowCondition[];
}
