import type { SchemaName } from "./table-name.js";

/** What a database cell takes: text, or undefined for SQL NULL. */
export type Cell = string | undefined;

/** SQL text without any value in it, and the values. */
export interface Statement {
  /** Where it works; stores with a connection for each database, or a file for each schema, choose it by this. */
  readonly at: SchemaName;
  readonly text: string;
  /** The text runs once for each list of parameters. */
  readonly runs: readonly (readonly Cell[])[];
  /**
   * In a write: how many rows each run must change, or return where the text ends in RETURNING. When it is another number
   * the driver rolls the transaction back and throws {@link unexpectedChanges}.
   */
  readonly changes?: number;
}

/** A statement without parameters. */
export function plain(at: SchemaName, text: string): Statement {
  return { at, text, runs: [[]] };
}

/** Statements of the same text for the same place one after another are one that runs several times. */
export function joinedRuns(statements: readonly Statement[]): readonly Statement[] {
  const all: (Statement & { readonly runs: (readonly Cell[])[] })[] = [];
  for (const statement of statements) {
    const last = all.at(-1);
    if (last?.text === statement.text && isSame(last.at, statement.at))
      for (const run of statement.runs) last.runs.push(run);
    else all.push({ ...statement, runs: [...statement.runs] });
  }
  return all;
}

/** The text alone does not tell: a database of a file for each schema does not name it. */
function isSame(one: SchemaName, other: SchemaName): boolean {
  return one.database === other.database && one.schema === other.schema;
}

/** About the bytes of the texts and parameters. */
export function bytesOf(statements: readonly Statement[]): number {
  let bytes = 0;
  for (const { text, runs } of statements) {
    bytes += text.length;
    for (const run of runs) for (const cell of run) bytes += cell?.length ?? 0;
  }
  return bytes;
}
