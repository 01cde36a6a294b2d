/** What a database cell takes: text, or undefined for SQL NULL. */
export type Cell = string | undefined;

/** SQL text without any value in it, and the values. */
export interface Statement {
  /** The schema it works on; a store with one file per schema chooses the file by it. */
  readonly schema: string;
  readonly text: string;
  /** The text runs once for each list of parameters. */
  readonly runs: readonly (readonly Cell[])[];
}

/** A statement without parameters. */
export function plain(schema: string, text: string): Statement {
  return { schema, text, runs: [[]] };
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
