import type { Receipt } from "../sdk/index.js";
import { databaseErrorOf } from "./contract/database-error.js";
import { bytesOf } from "./contract/statement.js";
import type { Bookkeeping } from "./features/bookkeeping.js";
import type { RowBuilder } from "./row-builder.js";
import type { Step, TableBatch } from "./rows/grouping.js";
import { type ListedStore, makeMissing } from "./tables/make-missing.js";

/** One transaction of a batch, or one for each of its commit units. */
export interface StepOfBatch extends Step {
  readonly position: string | undefined;
}

export interface StepWriterParts {
  readonly store: ListedStore;
  readonly rowBuilder: RowBuilder;
  readonly bookkeeping: Bookkeeping;
}

/** Writes the rows of one transaction: creates what is missing, then sends rows and bookkeeping together. */
export class StepWriter {
  readonly #store: ListedStore;
  readonly #rowBuilder: RowBuilder;
  readonly #bookkeeping: Bookkeeping;

  constructor({ store, rowBuilder, bookkeeping }: StepWriterParts) {
    this.#store = store;
    this.#rowBuilder = rowBuilder;
    this.#bookkeeping = bookkeeping;
  }

  /**
   * Another process may have dropped a known table, or created a typed column with another type: then everything is
   * looked up and created once more.
   */
  async write(write: StepOfBatch, signal: AbortSignal): Promise<Receipt> {
    const { tables } = write;
    try {
      return await this.#writeOnce(write, signal);
    } catch (error) {
      if (!this.#isStale(error, tables)) throw error;
      for (const { name } of tables) {
        this.#store.tables.forget(name);
        this.#store.tables.forget(this.#store.dialect.positionsTable(name));
      }
      return await this.#writeOnce(write, signal);
    }
  }

  #isStale(error: unknown, tables: readonly TableBatch[]): boolean {
    const { errors } = this.#store.dialect;
    const databaseError = databaseErrorOf(error);
    return (
      errors.missing(databaseError) ||
      (!errors.retryable(databaseError) && tables.some(({ native }) => native.size > 0))
    );
  }

  async #writeOnce({ position, ...step }: StepOfBatch, signal: AbortSignal): Promise<Receipt> {
    const { tables } = step;
    const fitted = await makeMissing(tables, this.#store, signal);
    const statements = tables.flatMap((table, index) => {
      const rows = fitted[index];
      return rows === undefined ? [] : this.#rowBuilder.statements(table, rows, this.#store);
    });
    const kept = await this.#bookkeeping.kept(position, step, signal);
    const responseBytes = await this.#store.driver.write([...statements, ...kept.statements], signal);
    await kept.written();
    return { requestBytes: bytesOf(statements), responseBytes };
  }
}
