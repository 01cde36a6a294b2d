import { type Batch, type BatchPosition, type Context, letterHeader } from "../../../sdk/index.js";
import type { BookkeepingTables } from "../../contract/driver.js";
import { type SqlConfig, settingsHash } from "../../contract/schema.js";
import type { Statement } from "../../contract/statement.js";
import type { PlacedRows, Step, TableBatch } from "../../rows/grouping.js";
import { type KnownStore, makeOwnTable } from "../../tables/known-store.js";
import { positionTableAt } from "./position-rows.js";
import { type Moves, Positions } from "./positions.js";
import { type CoveredRows, SharedPositions } from "./shared-positions.js";
import { StoredDeadLetters } from "./stored-dead-letters.js";

/** Statements for the transaction of the rows; call `written` after its commit. */
export interface Kept {
  readonly statements: readonly Statement[];
  written(): Promise<void>;
}

/**
 * What the sink records in the transactions of its rows so that each event is stored once: positions of channels, and
 * replayed dead letters.
 */
export class Bookkeeping {
  /** Undefined if exactly_once is false. */
  readonly #positions: Positions | undefined;
  /** Of channels that several agents take from; undefined with the others. */
  readonly #shared: SharedPositions | undefined;
  readonly #deadLetters: StoredDeadLetters;
  readonly #store: KnownStore;

  constructor(config: SqlConfig, context: Context, store: KnownStore) {
    const { name: sink, run } = context;
    this.#store = store;
    const now = () => context.now();
    const hash = settingsHash(config);
    const of = { sink, run, now, settingsHash: hash };
    this.#positions = config.exactly_once ? new Positions(of, store) : undefined;
    this.#shared = config.exactly_once ? new SharedPositions(of, store) : undefined;
    this.#deadLetters = new StoredDeadLetters({ sink, now }, store);
  }

  /**
   * The rows of a batch that are stored. Throws `POSITION_CONFLICT` if another agent has moved a position of this sink that
   * is not shared.
   */
  async covered(batch: Batch, tables: readonly TableBatch[], signal: AbortSignal): Promise<readonly CoveredRows[]> {
    if (!(await this.#knowsDatabase(batch.position, tables, signal))) return [];
    const positions = (await this.#keeperOf(batch.position)?.covered(batch, tables, signal)) ?? [];
    return hasDeadLetters(tables) ? [...positions, ...(await this.#deadLetters.covered(tables, signal))] : positions;
  }

  /** The statements that belong to the rows of a step. Creates their tables first. */
  async kept(position: BatchPosition | undefined, step: Step, signal: AbortSignal): Promise<Kept> {
    await this.#knowsDatabase(position, step.tables, signal, step.tables[0]?.name.schema);
    const deadLetters = hasDeadLetters(step.tables)
      ? await this.#deadLetters.statements(step.tables, step.later, signal)
      : [];
    const moves = position === undefined ? undefined : await this.#moves(position, step, signal);
    return {
      statements: [...deadLetters, ...(moves?.statements ?? [])],
      written: async () => {
        moves?.written();
        if (deadLetters.length > 0) await this.#deadLetters.clean(step.tables, signal);
      },
    };
  }

  /** Discards what is cached: a write whose outcome is unknown may have changed it. */
  forget(batch: Batch): void {
    if (batch.position?.shared === true) this.#shared?.forget(batch);
    else this.#positions?.forget();
  }

  #keeperOf(position: BatchPosition | undefined): Positions | SharedPositions | undefined {
    return position?.shared === true ? this.#shared : this.#positions;
  }

  async #moves(position: BatchPosition, step: Step, signal: AbortSignal): Promise<Moves | undefined> {
    if (position.shared === true) return await this.#shared?.statements(position, step, signal);
    return await this.#positions?.statements(position, step, signal);
  }

  /** Whether the database of the bookkeeping tables is known. Rows without bookkeeping cause no query. */
  async #knowsDatabase(
    position: BatchPosition | undefined,
    tables: readonly TableBatch[],
    signal: AbortSignal,
    written?: string,
  ): Promise<boolean> {
    const { bookkeepingDatabase } = this.#store;
    const keeps = position !== undefined && this.#positions !== undefined;
    if (bookkeepingDatabase === undefined || (!keeps && !hasDeadLetters(tables))) return true;
    return await bookkeepingDatabase.settle(this.#tables(signal), written);
  }

  #tables(signal: AbortSignal): BookkeepingTables {
    const { dialect, driver, log } = this.#store;
    const { earlierPositions } = dialect;
    return {
      earlier: async () => {
        const found = earlierPositions === undefined ? [] : await driver.read([earlierPositions], signal);
        return found.flatMap(([, schema]) => schema ?? []);
      },
      create: async (name) => await makeOwnTable(positionTableAt(name), this.#store, signal),
      warn: (fields, message) => log.warn(fields, message),
    };
  }

  /** All positions that are kept for whole batches. */
  async stored(signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#positions?.stored(signal)) ?? [];
  }
}

/** Whether any of the events is a replayed dead letter. Few batches have one, and others cause no query. */
function hasDeadLetters(tables: readonly PlacedRows[]): boolean {
  return tables.some(({ placed }) => placed.some(({ event }) => event.headers[letterHeader] !== undefined));
}
