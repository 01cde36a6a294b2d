/** What a sink would do with one event if its store were empty. Texts are as they would be sent; no secret is in them. */
export interface Explanation {
  readonly writes: readonly ExplainedWrite[];
  /** Everything that would be sent, in order: what makes the places first, then what fills them. */
  readonly statements: readonly ExplainedStatement[];
  /** Names that are not stored as they came, and why; one sentence each. */
  readonly notes: readonly string[];
}

/** Where a part of an event goes, and what is kept of it there. */
export interface ExplainedWrite {
  /** The place part by part, from the outside: `{ schema: "openiot", table: "room_1" }`. */
  readonly destination: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  /** Each as long as `columns`; undefined for the store's null. */
  readonly rows: readonly (readonly (string | undefined)[])[];
}

/** One text as it goes to the store, and its parameters. */
export interface ExplainedStatement {
  readonly text: string;
  readonly parameters: readonly (string | undefined)[];
}
