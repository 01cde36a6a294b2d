import type { Entity } from "../../ngsi/index.js";
import type { NativeValue } from "../contract/column.js";
import type { Cell } from "../contract/statement.js";

export interface Row {
  /** The same list for all entities with the same attributes and members. */
  readonly columns: readonly string[];
  /** One for each column: what a text column keeps. */
  readonly cells: readonly Cell[];
  /** One for each column: the value in its own type; undefined for none. Made when it is asked for. */
  values(): readonly (NativeValue | undefined)[];
  /** Those of the columns that, when they are missing, are made with the type of their values and not as text. */
  readonly native: readonly string[];
}

/** How an event arrived. */
export interface Arrival {
  readonly epochMillis: number;
  readonly servicePath: string;
}

/** Makes rows of an entity. */
export interface Layout {
  /** No rows for an entity without attributes. Throws `VALUE_NOT_STORABLE` for text that no database keeps. */
  rows(entity: Entity, arrival: Arrival): readonly Row[];
}

export interface LayoutOptions {
  readonly nativeTypes: boolean;
  readonly metadata: boolean;
}
