import {
  type Batch,
  type Context,
  codeOf,
  type Event,
  type Receipt,
  reasonOf,
  retryableOf,
  type Sink,
  type SinkPositions,
  type SinkTuning,
  type StoredSummary,
} from "../sdk/index.js";
import { databaseErrorOf, storeError } from "./contract/database-error.js";
import { isUnexpectedChanges, PartlyWritten, type Store } from "./contract/driver.js";
import { namingOf, type SqlConfig } from "./contract/schema.js";
import { Bookkeeping } from "./features/bookkeeping.js";
import { ErrorTable, ErrorTableWriter } from "./features/error-table.js";
import { positionUnsettled } from "./features/position-rows.js";
import { Retention } from "./features/retention.js";
import { storedSummary } from "./features/stored-summary.js";
import { Upkeep } from "./features/upkeep.js";
import { RowBuilder } from "./row-builder.js";
import { isNotAdmitted } from "./rows/admission.js";
import type { TableBatch } from "./rows/grouping.js";
import { StepWriter } from "./step-writer.js";
import { fitted } from "./tables/fitting.js";
import { listedStore } from "./tables/listed-store.js";
import type { ListedStore } from "./tables/make-missing.js";
import { openStore } from "./tables/open-store.js";
import { SchemaServices } from "./tables/schema-services.js";

// Each table in a transaction takes a lock, and a PostgreSQL server has some thousands of them.
const TABLES_PER_TRANSACTION = 2000;
/** Larger transactions are not faster. */
const LARGEST_BATCH = 1000;
/** Long enough to fill a batch under load, and hardly longer than a commit. */
const LINGER_MILLIS = 2;

const MIRRORED =
  "geo:point, geo:line, geo:box and geo:polygon are stored with x = latitude, as the predecessor did; maps expect x = longitude";

/** Stores entities as rows of a database. */
export class SqlSink implements Sink {
  readonly tuning: SinkTuning = { largestBatch: LARGEST_BATCH, batchLinger: LINGER_MILLIS };
  readonly positions = {
    stored: (signal: AbortSignal) => this.#storedPositions(signal),
    alreadyStored: (batch: Batch, signal: AbortSignal) => this.#alreadyStored(batch, signal),
    summary: (signal: AbortSignal) => this.#summary(signal),
  } satisfies SinkPositions;
  readonly #store: ListedStore;
  readonly #services: SchemaServices;
  readonly #upkeep: Upkeep | undefined;
  readonly #rowBuilder: RowBuilder;
  readonly #retention: Retention;
  /** Whether old rows are deleted as soon as a table grows. */
  readonly #capsRows: boolean;
  /** Undefined if persist_errors is false. */
  readonly #errorTable: ErrorTableWriter | undefined;
  readonly #bookkeeping: Bookkeeping;
  readonly #writer: StepWriter;
  readonly #name: string;
  readonly #isMirrored: boolean;

  constructor(config: SqlConfig, context: Context, store: Store, listing: "listed" | "unlisted" = "listed") {
    const naming = namingOf(config, store.dialect.database);
    const known = openStore(config, store, { log: context.log, changed: (name) => this.#upkeep?.changed(name) });
    this.#store = listedStore(config, known, { context, listing });
    this.#services = new SchemaServices(this.#store, context);
    this.#upkeep = listing === "listed" ? new Upkeep(config, this.#store, context) : undefined;
    this.#rowBuilder = new RowBuilder(config, { naming, dialect: store.dialect, context, services: this.#services });
    this.#retention = new Retention(config, this.#store, context);
    this.#capsRows = this.#retention.capsRows;
    this.#errorTable = config.persist_errors
      ? new ErrorTableWriter(new ErrorTable(config, this.#store), context)
      : undefined;
    this.#name = context.name;
    this.#isMirrored =
      config.attr_geometry === true &&
      config.attr_geometry_x === "latitude" &&
      (config.attr_persistence === "column" || config.attr_geometry_rows !== false);
    this.#bookkeeping = new Bookkeeping(config, context, this.#store);
    this.#writer = new StepWriter({
      store: this.#store,
      rowBuilder: this.#rowBuilder,
      bookkeeping: this.#bookkeeping,
      writtenTables: this.#retention.writtenTables,
    });
  }

  async start(): Promise<void> {
    const { driver, ignoredOptions = [], log } = this.#store;
    if (this.#isMirrored) log.warn({ attr_geometry_x: "latitude" }, MIRRORED);
    if (ignoredOptions.length > 0) log.warn({ options: ignoredOptions }, "unknown connection options are ignored");
    try {
      await driver.probe(new AbortController().signal);
    } catch (error) {
      log.error({ reason: reasonOf(this.#explained(error)) }, "the database is unavailable; writes will be retried");
    }
    this.#retention.start();
  }

  async persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    try {
      return await this.#persist(batch, signal);
    } catch (error) {
      // It may have been committed although the response was lost with the connection.
      this.#bookkeeping.forget();
      if (!isUnexpectedChanges(error)) throw error;
    }
    return await this.#persistAgain(batch, signal);
  }

  /** Reads its own rows again; if another agent has moved a position, that throws an error that names the agent. */
  async #persistAgain(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    try {
      return await this.#persist(batch, signal);
    } catch (error) {
      this.#bookkeeping.forget();
      throw isUnexpectedChanges(error) ? positionUnsettled(this.#name) : error;
    }
  }

  async #alreadyStored(batch: Batch, signal: AbortSignal): Promise<readonly Event[]> {
    this.#bookkeeping.forget();
    const missing = await this.#missing(batch, signal);
    const open = new Set(missing.flatMap(({ placed }) => placed.map(({ event }) => event)));
    return batch.events.filter((event) => !open.has(event));
  }

  /** A full disk or a missing privilege affects every row, so only errors that may concern a single value count. */
  async answers(error: unknown, signal: AbortSignal): Promise<boolean> {
    const { dialect, driver } = this.#store;
    const cause = error instanceof Error ? error.cause : undefined;
    if (dialect.errors.doubtful?.(databaseErrorOf(cause)) !== true) return false;
    await driver.probe(signal);
    return true;
  }

  /** The rows of the batch that are not known to be stored yet. */
  async #missing(batch: Batch, signal: AbortSignal): Promise<readonly TableBatch[]> {
    const tables = this.#placed(batch.events);
    try {
      const stored = await this.#bookkeeping.covered(batch, tables, signal);
      if (stored.length === 0) return tables;
      this.#rowBuilder.note(stored);
    } catch (error) {
      throw this.#explained(error);
    }
    return this.#rowBuilder.tables(batch.events);
  }

  async #persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    const tables = await this.#missing(batch, signal);
    const total = { requestBytes: 0, responseBytes: 0 };
    for (let start = 0; start < tables.length; start += TABLES_PER_TRANSACTION) {
      const end = start + TABLES_PER_TRANSACTION;
      const part = tables.slice(start, end);
      try {
        const receipt = await this.#writer.write(
          { position: batch.position?.text, tables: part, later: tables.slice(end), all: tables },
          signal,
        );
        total.requestBytes += receipt.requestBytes;
        total.responseBytes += receipt.responseBytes;
      } catch (error) {
        this.#rowBuilder.note(tables.slice(0, start));
        const failure = this.#failed(part, error);
        this.#reportRefused(batch.events, failure, part);
        throw failure;
      }
    }
    if (this.#capsRows) await this.#retention.grown(tables, signal);
    if (this.#store.register === undefined) return total;
    this.#upkeep?.facts.note(tables);
    await this.#services.settle(tables, signal);
    return total;
  }

  async #summary(signal: AbortSignal): Promise<StoredSummary> {
    try {
      return await storedSummary(this.#name, this.#store, signal);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  async #storedPositions(signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await this.#bookkeeping.stored(signal);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Makes partitions ahead of time, and deletes expired and excess rows, now instead of at the next check. */
  async sweep(): Promise<void> {
    await this.#retention.sweep(new AbortController().signal);
  }

  /** Writes the facts about its tables and makes their views now instead of after a moment. */
  async settle(): Promise<void> {
    await this.#upkeep?.flush(new AbortController().signal);
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#retention.stop();
    await this.#upkeep?.stop(signal);
    await this.#errorTable?.stop(signal);
    await this.#store.driver.close(signal);
  }

  /** The kernel splits a refused batch until the bad event is alone; that one is written to the error table. */
  #reportRefused(events: readonly Event[], failure: unknown, tables: readonly TableBatch[]): void {
    const [event, ...others] = events;
    if (this.#errorTable === undefined || event === undefined || others.length > 0) return;
    if (retryableOf(failure) !== false || isNotAdmitted(failure)) return;
    // A value that is no geometry has no statement.
    const sent = codeOf(failure) === "NOT_A_GEOMETRY" ? [] : tables;
    this.#errorTable.add({
      of: () => this.#rowBuilder.schemaOf(event),
      error: failure,
      statements: () =>
        sent.flatMap((table) => {
          const rows = fitted(table, this.#store.tables.columns(table.name), this.#store);
          return this.#rowBuilder.statements(table, rows, this.#store);
        }),
    });
  }

  /** The rows by table. An event that cannot have rows is written to the error table. */
  #placed(events: readonly Event[]): readonly TableBatch[] {
    try {
      return this.#rowBuilder.tables(events);
    } catch (error) {
      this.#reportRefused(events, error, []);
      throw error;
    }
  }

  #failed(tables: readonly TableBatch[], error: unknown): unknown {
    if (!(error instanceof PartlyWritten)) return this.#explained(error);
    this.#rowBuilder.note(tables.filter(({ name }) => error.wrote(name)));
    return this.#explained(error.cause);
  }

  #explained(error: unknown): unknown {
    return storeError(error, this.#store.dialect.errors, this.#store.server);
  }
}
