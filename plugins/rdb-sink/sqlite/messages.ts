import type { Cell, Fault, Statement } from "deneb/sql";

/** What the driver asks of the thread that holds the files. */
export interface SqliteRequest {
  readonly id: number;
  readonly task: "read" | "write" | "close";
  readonly statements: readonly Statement[];
  /** Memory shared by both threads: 1 once the work shall be given up. */
  readonly givenUp: Int32Array;
}

export interface SqliteReply {
  readonly id: number;
  readonly rows: readonly (readonly Cell[])[];
  /** Schemas whose statements are committed. */
  readonly written: readonly string[];
  readonly fault: Fault | undefined;
}
