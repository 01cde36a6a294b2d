import { type Batch, type Context, type Event, type Receipt, reasonOf, retryableOf, type Sink } from "deneb/sdk";
import type { RdbConfig } from "./config.js";
import { PartlyWritten } from "./drivers/driver.js";
import { ErrorTable } from "./error-table.js";
import { faultOf } from "./faults.js";
import { fitted } from "./fitting.js";
import type { TableBatch } from "./grouping.js";
import { Intake } from "./intake.js";
import type { KnownStore } from "./known-store.js";
import { makeMissing } from "./make-missing.js";
import { namingOf } from "./naming-of.js";
import { Positions } from "./positions.js";
import { Retention } from "./retention.js";
import { bytesOf } from "./statement.js";
import type { Store } from "./store.js";
import { storeError } from "./store-error.js";
import { storeKinds } from "./store-kinds.js";
import { Tables } from "./tables.js";
import { ToldErrors } from "./told-errors.js";

// Each table in a transaction takes a lock, and a PostgreSQL server has some thousands of them.
const TABLES_PER_TRANSACTION = 2000;

/** Stores each entity in its tables. */
export class RdbSink implements Sink {
  readonly #store: KnownStore;
  readonly #intake: Intake;
  readonly #retention: Retention;
  /** Undefined when the configuration wants none. */
  readonly #errors: ToldErrors | undefined;
  readonly #positions: Positions | undefined;
  /**
   * Whether the last write failed: it may have been committed all the same, its answer lost with the connection. The
   * write before the first one may be that of a sink which hung and was given up.
   */
  #inDoubt = true;

  constructor(
    config: RdbConfig,
    context: Context,
    store: Store = storeKinds[config.rdb_dialect].open(config, context),
  ) {
    const naming = namingOf(config);
    this.#store = {
      ...store,
      naming,
      nativeTypes: config.attr_native_types,
      tables: new Tables(store.dialect.columnKey),
      log: context.log,
    };
    this.#intake = new Intake(config, { naming, dialect: store.dialect, context });
    this.#retention = new Retention(config, this.#store, context);
    this.#errors = config.persist_errors ? new ToldErrors(new ErrorTable(config, this.#store), context) : undefined;
    this.#positions = config.exactly_once ? new Positions(context.name, this.#store) : undefined;
  }

  async start(): Promise<void> {
    const { driver, ignoredOptions, log } = this.#store;
    if (ignoredOptions.length > 0) log.warn({ options: ignoredOptions }, "unknown connection options are ignored");
    try {
      await driver.probe(new AbortController().signal);
    } catch (error) {
      log.error(
        { reason: reasonOf(this.#explained(error)) },
        "the database cannot be used now; writes are tried again",
      );
    }
    this.#retention.start();
  }

  async persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    if (this.#inDoubt && (await this.#isStored(batch, signal))) return { requestBytes: 0, responseBytes: 0 };
    this.#inDoubt = true;
    const receipt = await this.#persist(batch, signal);
    this.#inDoubt = false;
    return receipt;
  }

  async #isStored({ position }: Batch, signal: AbortSignal): Promise<boolean> {
    return position !== undefined && (await this.storedPositions(signal)).includes(position);
  }

  async #persist({ events, position }: Batch, signal: AbortSignal): Promise<Receipt> {
    const tables = this.#placed(events);
    const total = { requestBytes: 0, responseBytes: 0 };
    for (let start = 0; start < tables.length; start += TABLES_PER_TRANSACTION) {
      const end = start + TABLES_PER_TRANSACTION;
      const part = tables.slice(start, end);
      try {
        // How far the channel is goes with the last rows: before, a part of the batch would count as stored.
        const receipt = await this.#writeTwice(part, end < tables.length ? undefined : position, signal);
        total.requestBytes += receipt.requestBytes;
        total.responseBytes += receipt.responseBytes;
      } catch (error) {
        this.#intake.note(tables.slice(0, start));
        const failure = this.#failed(part, error);
        this.#tell(events, failure, part);
        throw failure;
      }
    }
    await this.#retention.grown(tables, signal);
    return total;
  }

  async storedPositions(signal: AbortSignal): Promise<readonly string[]> {
    try {
      return (await this.#positions?.stored(signal)) ?? [];
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Deletes what is too old or too much now, instead of at the next regular look. */
  async sweep(): Promise<void> {
    await this.#retention.sweep(new AbortController().signal);
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#retention.stop();
    await this.#errors?.stop(signal);
    await this.#store.driver.close(signal);
  }

  /** The kernel splits a batch that is refused until the bad event is alone: then it is told. */
  #tell(events: readonly Event[], failure: unknown, tables: readonly TableBatch[]): void {
    const [event, ...others] = events;
    if (this.#errors === undefined || event === undefined || others.length > 0) return;
    if (retryableOf(failure) !== false) return;
    this.#errors.tell({
      of: () => this.#intake.schemaOf(event),
      error: failure,
      statements: () =>
        tables.flatMap((table) => {
          const rows = fitted(table, this.#store.tables.columns(table.name), this.#store);
          return this.#intake.statements(table, rows, this.#store);
        }),
    });
  }

  /** The rows by table; what can have none is told. */
  #placed(events: readonly Event[]): readonly TableBatch[] {
    try {
      return this.#intake.tables(events);
    } catch (error) {
      this.#tell(events, error, []);
      throw error;
    }
  }

  #failed(tables: readonly TableBatch[], error: unknown): unknown {
    if (!(error instanceof PartlyWritten)) return this.#explained(error);
    this.#intake.note(tables.filter(({ name }) => error.wrote(name)));
    return this.#explained(error.cause);
  }

  /**
   * Somebody may have dropped what is known to exist, or made a typed column in another type at the same time: then all
   * is looked up, and made, again, once.
   */
  async #writeTwice(
    tables: readonly TableBatch[],
    position: string | undefined,
    signal: AbortSignal,
  ): Promise<Receipt> {
    try {
      return await this.#write(tables, position, signal);
    } catch (error) {
      if (!this.#isStale(error, tables)) throw error;
      for (const { name } of tables) {
        this.#store.tables.forget(name);
        this.#store.tables.forget(this.#store.dialect.positionsTable(name));
      }
      return await this.#write(tables, position, signal);
    }
  }

  #isStale(error: unknown, tables: readonly TableBatch[]): boolean {
    const { faults } = this.#store.dialect;
    const fault = faultOf(error);
    return faults.missing(fault) || (!faults.retryable(fault) && tables.some(({ native }) => native.size > 0));
  }

  async #write(tables: readonly TableBatch[], position: string | undefined, signal: AbortSignal): Promise<Receipt> {
    const fitted = await makeMissing(tables, this.#store, signal);
    const statements = tables.flatMap((table, index) => {
      const rows = fitted[index];
      return rows === undefined ? [] : this.#intake.statements(table, rows, this.#store);
    });
    const kept = position === undefined ? [] : await this.#positions?.statements(position, tables, signal);
    const responseBytes = await this.#store.driver.write([...statements, ...(kept ?? [])], signal);
    return { requestBytes: bytesOf(statements), responseBytes };
  }

  #explained(error: unknown): unknown {
    return storeError(error, this.#store.dialect.faults, this.#store.place);
  }
}
