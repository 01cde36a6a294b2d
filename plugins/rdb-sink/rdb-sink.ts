import {
  type Batch,
  type Context,
  type Event,
  type Receipt,
  reasonOf,
  retryableOf,
  type Sink,
  type SinkPositions,
  type SinkTuning,
} from "deneb/sdk";
import { isNotAdmitted } from "./admission.js";
import { Bookkeeping, type Step } from "./bookkeeping.js";
import { isUnexpectedChanges, PartlyWritten } from "./drivers/driver.js";
import { ErrorTable } from "./error-table.js";
import { faultOf } from "./faults.js";
import { fitted } from "./fitting.js";
import type { TableBatch } from "./grouping.js";
import { Intake } from "./intake.js";
import type { ListedStore } from "./known-store.js";
import { makeMissing } from "./make-missing.js";
import { namingOf } from "./naming-of.js";
import { positionUnsettled } from "./position-conflict.js";
import { Register } from "./register.js";
import { Retention } from "./retention.js";
import type { SqlConfig } from "./sql/schema.js";
import { bytesOf } from "./statement.js";
import type { Store } from "./store.js";
import { storeError } from "./store-error.js";
import { Tables } from "./tables.js";
import { ToldErrors } from "./told-errors.js";

// Each table in a transaction takes a lock, and a PostgreSQL server has some thousands of them.
const TABLES_PER_TRANSACTION = 2000;

/** Larger transactions gain nothing. */
const LARGEST_BATCH = 1000;
/** Long enough for a batch to fill while much comes, and hardly longer than a commit. */
const LINGER_MILLIS = 2;

/** Stores each entity in its tables. */
export class RdbSink implements Sink {
  readonly tuning: SinkTuning = { largestBatch: LARGEST_BATCH, batchLinger: LINGER_MILLIS };
  readonly positions = {
    stored: (signal: AbortSignal) => this.#storedPositions(signal),
    alreadyStored: (batch: Batch, signal: AbortSignal) => this.#alreadyStored(batch, signal),
  } satisfies SinkPositions;
  readonly #store: ListedStore;
  readonly #intake: Intake;
  readonly #retention: Retention;
  /** Undefined when the configuration wants no table of errors. */
  readonly #errors: ToldErrors | undefined;
  readonly #books: Bookkeeping;
  readonly #name: string;

  constructor(config: SqlConfig, context: Context, store: Store, listing: "listed" | "unlisted" = "listed") {
    const naming = namingOf(config, store.dialect.database);
    const known = {
      ...store,
      naming,
      nativeTypes: config.attr_native_types,
      tables: new Tables(store.dialect.columnKey),
      log: context.log,
    };
    this.#store = { ...known, register: listing === "listed" ? new Register(known, context) : undefined };
    this.#intake = new Intake(config, { naming, dialect: store.dialect, context });
    this.#retention = new Retention(config, this.#store, context);
    this.#errors = config.persist_errors ? new ToldErrors(new ErrorTable(config, this.#store), context) : undefined;
    this.#name = context.name;
    this.#books = new Bookkeeping(config, context, this.#store);
  }

  async start(): Promise<void> {
    const { driver, ignoredOptions = [], log } = this.#store;
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
    try {
      return await this.#persist(batch, signal);
    } catch (error) {
      // It may have been committed all the same, its answer lost with the connection.
      this.#books.forget();
      if (!isUnexpectedChanges(error)) throw error;
    }
    return await this.#persistAgain(batch, signal);
  }

  /** What was known of its own rows is read anew; when another agent has moved a position that throws who it was. */
  async #persistAgain(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    try {
      return await this.#persist(batch, signal);
    } catch (error) {
      this.#books.forget();
      throw isUnexpectedChanges(error) ? positionUnsettled(this.#name) : error;
    }
  }

  async #alreadyStored(batch: Batch, signal: AbortSignal): Promise<readonly Event[]> {
    this.#books.forget();
    const missing = await this.#missing(batch, signal);
    const open = new Set(missing.flatMap(({ placed }) => placed.map(({ event }) => event)));
    return batch.events.filter((event) => !open.has(event));
  }

  /** A full disk or a missing right refuses every row, so only an error that can be about one value counts. */
  async answers(error: unknown, signal: AbortSignal): Promise<boolean> {
    const { dialect, driver } = this.#store;
    const cause = error instanceof Error ? error.cause : undefined;
    if (dialect.faults.doubtful?.(faultOf(cause)) !== true) return false;
    await driver.probe(signal);
    return true;
  }

  /** The rows of the batch that are not known to be stored. */
  async #missing(batch: Batch, signal: AbortSignal): Promise<readonly TableBatch[]> {
    const tables = this.#placed(batch.events);
    try {
      const stored = await this.#books.covered(batch, tables, signal);
      if (stored.length === 0) return tables;
      this.#intake.note(stored);
    } catch (error) {
      throw this.#explained(error);
    }
    return this.#intake.tables(batch.events);
  }

  async #persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    const tables = await this.#missing(batch, signal);
    const total = { requestBytes: 0, responseBytes: 0 };
    for (let start = 0; start < tables.length; start += TABLES_PER_TRANSACTION) {
      const end = start + TABLES_PER_TRANSACTION;
      const part = tables.slice(start, end);
      try {
        const receipt = await this.#writeTwice(
          { position: batch.position?.text, tables: part, later: tables.slice(end), all: tables },
          signal,
        );
        total.requestBytes += receipt.requestBytes;
        total.responseBytes += receipt.responseBytes;
      } catch (error) {
        this.#intake.note(tables.slice(0, start));
        const failure = this.#failed(part, error);
        this.#tell(batch.events, failure, part);
        throw failure;
      }
    }
    await this.#retention.grown(tables, signal);
    return total;
  }

  async #storedPositions(signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await this.#books.stored(signal);
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
    if (retryableOf(failure) !== false || isNotAdmitted(failure)) return;
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
  async #writeTwice(write: Write, signal: AbortSignal): Promise<Receipt> {
    const { tables } = write;
    try {
      return await this.#write(write, signal);
    } catch (error) {
      if (!this.#isStale(error, tables)) throw error;
      for (const { name } of tables) {
        this.#store.tables.forget(name);
        this.#store.tables.forget(this.#store.dialect.positionsTable(name));
      }
      return await this.#write(write, signal);
    }
  }

  #isStale(error: unknown, tables: readonly TableBatch[]): boolean {
    const { faults } = this.#store.dialect;
    const fault = faultOf(error);
    return faults.missing(fault) || (!faults.retryable(fault) && tables.some(({ native }) => native.size > 0));
  }

  async #write({ position, ...step }: Write, signal: AbortSignal): Promise<Receipt> {
    const { tables } = step;
    const fitted = await makeMissing(tables, this.#store, signal);
    const statements = tables.flatMap((table, index) => {
      const rows = fitted[index];
      return rows === undefined ? [] : this.#intake.statements(table, rows, this.#store);
    });
    const kept = await this.#books.kept(position, step, signal);
    const responseBytes = await this.#store.driver.write([...statements, ...kept.statements], signal);
    await kept.written();
    return { requestBytes: bytesOf(statements), responseBytes };
  }

  #explained(error: unknown): unknown {
    return storeError(error, this.#store.dialect.faults, this.#store.place);
  }
}

/** One transaction of a batch, or one for each of its destinations. */
interface Write extends Step {
  readonly position: string | undefined;
}
