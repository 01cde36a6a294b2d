import type { Erasure, RowSelection, StoredRows } from "./stored-rows.js";
import type { StoredSelection, StoredTable } from "./stored-table.js";

/**
 * What commands do with the data that a sink has stored, for `data` of its definition. Each member but `close` is one
 * command, and absent where the sink does not offer it. A member that changes data does nothing if `dryRun` is true and
 * tells what it would do. Rejections are for people: an AgentError with a message of one line. Beta: members may be added.
 * @beta
 */
export interface StoredData {
  /**
   * What the catalogue lists, sorted by name: every table that a sink of this name, or another sink of the same store, has
   * made or written to. Nothing where no sink has written yet. `deneb tables list`.
   */
  tables?(selection: StoredSelection, signal: AbortSignal): Promise<readonly StoredTable[]>;
  /**
   * Lists tables under this sink that it has not made: from then on it deletes their old rows. One result for each table
   * that was asked for; a table that may not be listed is `refused`, and the others are listed. `deneb tables adopt`.
   */
  adopt?(request: AdoptRequest, dryRun: boolean, signal: AbortSignal): Promise<readonly TableResult[]>;
  /**
   * Gives tables of history the partitions and indexes that the configuration asks for, while agents write to them: these
   * tables, or all of this sink if none is named. One result for each; a table that cannot be changed is `refused`. A call
   * that was ended is repeated. `deneb tables partition`.
   */
  partition?(
    tables: readonly string[],
    dryRun: boolean,
    signal: AbortSignal,
    progress?: StoredProgress,
  ): Promise<readonly TableResult[]>;
  /**
   * Erases the rows that a selection means, in parts: it may be interrupted and repeated, and an agent may store meanwhile.
   * A selection must have a member. A table that fails is among what is left; rejects when the store cannot be read.
   * `deneb erase`.
   */
  erase?(selection: StoredSelection, dryRun: boolean, signal: AbortSignal): Promise<Erasure>;
  /** The rows that a selection means, table by table in the order of their names. `deneb export`. */
  rows?(selection: RowSelection, signal: AbortSignal): AsyncIterable<StoredRows>;
  /** Ends the connections; may be called twice. */
  close(): Promise<void>;
}

/** Told now and then how many of all tables are done. @beta */
export type StoredProgress = (done: number, all: number) => void;

/** Tables to be listed under a sink. @beta */
export interface AdoptRequest {
  /** Names of tables, as in {@link StoredTable.name}. */
  readonly tables: readonly string[];
  /** Schemas of which all tables with the columns of a layout are meant. */
  readonly schemas: readonly string[];
  /** Whether tables that another sink has listed may be listed under this one as well. */
  readonly fromOthers: boolean;
  /** What they keep; without it the suffix of their names tells it, and a shortened name is refused. */
  readonly kind?: StoredTable["kind"];
}

/** What a command did with a table, or would do in a dry run. @beta */
export interface TableResult {
  /** As in {@link StoredTable.name}. */
  readonly name: string;
  /** `unchanged`: there was nothing to do. */
  readonly outcome: "done" | "unchanged" | "refused";
  /** For people: why it was refused or is unchanged, or what was done. */
  readonly reason?: string;
}
