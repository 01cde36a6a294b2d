import type { Column } from "./column.js";

/** An index of a table of history. @beta */
export interface TableIndex {
  /** Unique in the schema, and reserved for this sink. */
  readonly name: string;
  readonly columns: readonly Column[];
}
