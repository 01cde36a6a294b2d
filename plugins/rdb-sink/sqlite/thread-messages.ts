import type { Cell, DatabaseError, Statement } from "deneb/sql";

/** A request of the driver to the thread. */
export interface SqliteRequest {
  readonly id: number;
  /** `open` and `next` read one statement in parts. */
  readonly task: "read" | "write" | "open" | "next" | "close";
  readonly statements: readonly Statement[];
  /** The most rows of a part. */
  readonly most: number;
  /** Shared by both threads: 1 if the work is to be aborted. */
  readonly aborted: Int32Array;
}

/** What the thread is started with. */
export interface SqliteThread {
  readonly folder: string;
  /** Whether it had the lock of an agent. */
  readonly hadLock: boolean;
  /** The number of files that are kept open. */
  readonly mostOpen: number;
  /** How long SQLite waits while another program writes the same file. */
  readonly busyMillis: number;
}

/** What the thread answers. */
export interface SqliteReply {
  readonly id: number;
  readonly rows: readonly (readonly Cell[])[];
  /** Schemas whose statements are committed. */
  readonly written: readonly string[];
  /** As it was thrown, with the whole message. */
  readonly error: DatabaseError | undefined;
  /** True when a statement changed another number of rows than it was to. */
  readonly unexpected: boolean;
}
