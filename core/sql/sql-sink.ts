import type {
  Batch,
  Context,
  Event,
  Examiner,
  Probe,
  Receipt,
  Sink,
  SinkPositions,
  SinkTuning,
  StoreAnswer,
} from "../sdk/index.js";
import { databaseErrorOf, storeError } from "./contract/database-error.js";
import { isUnexpectedChanges, PartlyWritten, type Store } from "./contract/driver.js";
import { namingOf, type SqlConfig } from "./contract/schema.js";
import { schemaKey } from "./contract/statement.js";
import { FailedEvents } from "./failed-events.js";
import { ErrorTable } from "./features/error-table.js";
import { ErrorTableWriter } from "./features/error-table-writer.js";
import { FirstUse } from "./features/first-use.js";
import { Bookkeeping } from "./features/positions/bookkeeping.js";
import { DEFAULT_SCHEMA } from "./features/positions/commit-units.js";
import { LeftOut } from "./features/positions/left-out.js";
import { positionMoving, positionUnsettled, tooManyTables } from "./features/positions/position-errors.js";
import { placeOf, storedSummary } from "./features/positions/stored-summary.js";
import { storeProbes } from "./features/probes.js";
import { Retention } from "./features/retention/retention.js";
import { Upkeep } from "./features/upkeep.js";
import { OtherTables } from "./other-tables.js";
import { RefusedRows } from "./refused-rows.js";
import { RowBuilder } from "./row-builder.js";
import type { TableBatch } from "./rows/grouping.js";
import { StepWriter } from "./step-writer.js";
import { storedByUnit } from "./stored-by-unit.js";
import type { ListedStore } from "./tables/make-missing.js";
import { listedStore, openStore } from "./tables/open-store.js";
import { SchemaServices } from "./tables/schema-services.js";

// Each table in a transaction takes a lock, and a PostgreSQL server has some thousands of them.
const TABLES_PER_TRANSACTION = 2000;
/** Larger transactions are not faster. */
const LARGEST_BATCH = 1000;
/** Attempts when several agents write the same events: in each round one of them succeeds. */
const MOST_ATTEMPTS_IF_SHARED = 8;

/** Stores entities as rows of a database. */
export class SqlSink implements Sink {
  readonly tuning: SinkTuning = { largestBatch: LARGEST_BATCH, batchLinger: "under-load" };
  readonly positions: Required<Omit<SinkPositions, "place">> & SinkPositions;
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
  readonly #leftOut: LeftOut;
  readonly #others: OtherTables;
  readonly #failedEvents: FailedEvents;
  /** The batch that was not stored last. */
  #unstored: Batch | undefined;
  readonly #name: string;
  /** Undefined after the first use of the store. */
  #firstUse: FirstUse | undefined;

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
    this.#leftOut = new LeftOut(context);
    this.#bookkeeping = new Bookkeeping(config, context, this.#store);
    this.#writer = new StepWriter({
      store: this.#store,
      rowBuilder: this.#rowBuilder,
      bookkeeping: this.#bookkeeping,
      writtenTables: this.#retention.writtenTables,
    });
    const counting = { sink: context.name, store: this.#store, counts: config.exactly_once };
    this.positions = {
      ...(config.exactly_once ? { place: placeOf(store, context) } : {}),
      stored: (signal) => this.#asked(() => this.#bookkeeping.stored(signal)),
      alreadyStored: (batch, signal) => this.#alreadyStored(batch, signal),
      summary: (signal) => this.#asked(() => storedSummary(counting, signal)),
    };
    const writing = { store: this.#store, rowBuilder: this.#rowBuilder, writer: this.#writer };
    const refusedRows = new RefusedRows({ ...writing, now: () => context.now() });
    this.#failedEvents = new FailedEvents({ ...writing, refusedRows, errorTable: this.#errorTable });
    this.#others = new OtherTables(writing);
  }

  probes(examiner: Examiner): readonly Probe[] {
    return storeProbes(this.#store, examiner);
  }

  async start(): Promise<void> {
    const { driver, log } = this.#store;
    this.#firstUse = new FirstUse({ probe: (signal) => this.#asked(() => driver.probe(signal)), log });
    await this.#firstUse.begin();
    this.#retention.start();
  }

  async persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    const isShared = batch.position?.shared === true;
    const most = isShared ? MOST_ATTEMPTS_IF_SHARED : 2;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#persist(batch, signal);
      } catch (error) {
        // The next attempt reads again. If another agent has moved a position that is not shared, that names the agent.
        this.#bookkeeping.forget(batch);
        if (!isUnexpectedChanges(error)) {
          // It may have been committed although the response was lost with the connection.
          this.#leftOut.doubt(batch);
          this.#unstored = batch;
          throw error;
        }
        if (attempt < most) continue;
        throw isShared ? positionMoving(this.#name, most) : positionUnsettled(this.#name);
      }
    }
  }

  async #alreadyStored(batch: Batch, signal: AbortSignal): Promise<readonly Event[]> {
    this.#bookkeeping.forget(batch);
    await this.#knowsNames(signal);
    // One that cannot have rows is not stored, and keeps nobody from being told of the others.
    const events = batch.events.filter((event) => this.#rowBuilder.canPlace(event));
    const stored = (some: readonly Event[]) => this.#stored(batch, some, signal);
    if (!this.#hasUnits(events)) return await stored(events);
    const unitOf = (event: Event) => this.#unitOf(event);
    return await storedByUnit(events, { unitOf, stored, probe: () => this.#store.driver.probe(signal) });
  }

  async #stored(batch: Batch, events: readonly Event[], signal: AbortSignal): Promise<readonly Event[]> {
    const missing = await this.#missing(batch, events, signal);
    const open = new Set(missing.flatMap(({ placed }) => placed.map(({ event }) => event)));
    return events.filter((event) => !open.has(event));
  }

  /** Whether any of them has its rows where another one, or the store itself, may be read when it cannot. */
  #hasUnits(events: readonly Event[]): boolean {
    const ofStore = this.#store.dialect.commitUnit(DEFAULT_SCHEMA);
    return events.some((event) => this.#unitOf(event) !== schemaKey(ofStore));
  }

  #unitOf(event: Event): string {
    return schemaKey(this.#store.dialect.commitUnit(this.#rowBuilder.schemaOf(event)));
  }

  /** A full disk affects every row; whether an error is of one table, rows of others show. */
  async answers(error: unknown, signal: AbortSignal): Promise<StoreAnswer> {
    const { dialect, driver } = this.#store;
    const cause = databaseErrorOf(error instanceof Error ? error.cause : undefined);
    const isDoubtful = dialect.errors.doubtful?.(cause) === true;
    if (!isDoubtful && dialect.errors.ofOnePlace?.(cause) !== true) return false;
    await driver.probe(signal);
    const closed = cause.opening === true ? (cause.database ?? this.#store.server.database) : undefined;
    const takesOthers = await this.#others.takes({ ...(this.#unstored ?? { events: [] }), closed }, signal);
    if (isDoubtful) return takesOthers ? "lasting" : true;
    return takesOthers && "passing";
  }

  /** The rows of these events of the batch that are not known to be stored yet. */
  async #missing(batch: Batch, events: readonly Event[], signal: AbortSignal): Promise<readonly TableBatch[]> {
    const tables = this.#placed(events);
    try {
      const stored = await this.#bookkeeping.covered(batch, tables, signal);
      if (stored.length === 0) return tables;
      this.#rowBuilder.note(stored);
      const missing = this.#rowBuilder.tables(events);
      if (batch.position?.shared === true) this.#leftOut.note(batch, stored, missing);
      return missing;
    } catch (error) {
      throw this.#explained(error);
    }
  }

  async #persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    await this.#knowsNames(signal);
    const tables = await this.#missing(batch, batch.events, signal);
    if (tables.length > TABLES_PER_TRANSACTION && batch.position?.shared === true)
      throw tooManyTables(tables.length, TABLES_PER_TRANSACTION);
    const elsewhere = batch.position?.shared === true ? this.#leftOut.of(batch) : [];
    const total = { requestBytes: 0, responseBytes: 0, ...(elsewhere.length === 0 ? {} : { elsewhere }) };
    for (let start = 0; start < tables.length; start += TABLES_PER_TRANSACTION) {
      const end = start + TABLES_PER_TRANSACTION;
      const part = tables.slice(start, end);
      try {
        const receipt = await this.#writer.write(
          { position: batch.position, tables: part, later: tables.slice(end), all: tables },
          signal,
        );
        total.requestBytes += receipt.requestBytes;
        total.responseBytes += receipt.responseBytes;
      } catch (error) {
        this.#rowBuilder.note(tables.slice(0, start));
        const failure = this.#failed(part, error);
        throw await this.#failedEvents.reported(batch, { error, failure, tables: part }, signal);
      }
    }
    this.#used();
    this.#unstored = undefined;
    if (this.#capsRows) await this.#retention.grown(tables, signal);
    if (this.#store.register === undefined) return total;
    this.#upkeep?.facts.note(tables);
    await this.#services.register(tables, signal);
    return total;
  }

  async #knowsNames(signal: AbortSignal): Promise<void> {
    try {
      await this.#store.driver.knowsNames?.(signal);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      this.#used();
      return answer;
    } catch (error) {
      throw this.#explained(error);
    }
  }

  #used(): void {
    this.#firstUse?.works();
    this.#firstUse = undefined;
  }

  /** Makes partitions ahead of time, and deletes expired and excess rows, now instead of at the next check. */
  async sweep(): Promise<void> {
    await this.#retention.sweep(new AbortController().signal);
  }

  /** Writes the facts about its tables and makes their views now instead of after a moment. */
  async flush(): Promise<void> {
    await this.#upkeep?.flush(new AbortController().signal);
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#firstUse?.stop();
    await this.#retention.stop();
    await this.#upkeep?.stop(signal);
    await this.#errorTable?.stop(signal);
    await this.#store.driver.close(signal);
  }

  /** The rows by table. An event that cannot have rows is written to the error table. */
  #placed(events: readonly Event[]): readonly TableBatch[] {
    try {
      return this.#rowBuilder.tables(events);
    } catch (error) {
      this.#failedEvents.report(events, error, []);
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
