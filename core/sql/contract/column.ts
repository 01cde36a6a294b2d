/**
 * What a column takes: `text` is the type of nearly every column, `longtext` one without the limit that `text` has in
 * MySQL; `other` is a type this sink never makes and fills with text.
 */
export type ColumnKind = "text" | "longtext" | "integer" | "number" | "boolean" | "time" | "json" | "other";

/** A column as it stands in a table. */
export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** What a value is before it becomes the cell of a column. */
export interface NativeValue {
  readonly kind: Exclude<ColumnKind, "longtext" | "other">;
  /** The characters of a text, the digits of a number, `true`, an ISO 8601 time, or JSON. */
  readonly text: string;
  /** What a text column keeps. */
  readonly plain: string;
}
