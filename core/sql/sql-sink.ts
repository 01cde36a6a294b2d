import {
  AgentError,
  type Batch,
  type Context,
  codeOf,
  type Event,
  type Examiner,
  type Probe,
  type Receipt,
  reasonOf,
  retryableOf,
  type Sink,
  type SinkPositions,
  type SinkTuning,
  type StoreAnswer,
} from "../sdk/index.js";
import { databaseErrorOf, storeError } from "./contract/database-error.js";
import { isUnexpectedChanges, PartlyWritten, type Store } from "./contract/driver.js";
import { namingOf, type SqlConfig } from "./contract/schema.js";
import { schemaKey } from "./contract/statement.js";
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
import { isNotAdmitted } from "./rows/admission.js";
import type { TableBatch } from "./rows/grouping.js";
import { StepWriter } from "./step-writer.js";
import { storedByUnit } from "./stored-by-unit.js";
import { fitted } from "./tables/fitting.js";
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
  readonly #refusedRows: RefusedRows;
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
    this.#refusedRows = new RefusedRows({
      store: this.#store,
      rowBuilder: this.#rowBuilder,
      writer: this.#writer,
      now: () => context.now(),
    });
    this.#others = new OtherTables({ store: this.#store, rowBuilder: this.#rowBuilder, writer: this.#writer });
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
    // One that cannot have rows is not stored, and keeps nobody from being told of the others.
    const events = batch.events.filter((event) => this.#rowBuilder.canPlace(event));
    const stored = (some: readonly Event[]) => this.#stored(batch, some, signal);
    if (batch.position?.shared !== true || !this.#hasUnits(events)) return await stored(events);
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
        throw this.#reported(batch, part, await this.#named(batch, { error, failure }, signal));
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

  /** The failure with the events that are the reason, where the table that refuses them is known. */
  async #named({ events }: Batch, { error, failure }: Failed, signal: AbortSignal): Promise<unknown> {
    const cause = error instanceof PartlyWritten ? error.cause : error;
    const table = events.length === 1 ? undefined : this.#writer.refusedTable(cause);
    const refused = table && (await this.#refusedRows.among(events, { table, error: cause }, signal));
    if (refused === undefined || refused.size === 0) return failure;
    const options = { cause, retryable: retryableOf(failure) ?? true, events: refused };
    return new AgentError(codeOf(failure) ?? "DATA_REFUSED", reasonOf(failure), options);
  }

  /** The failure of a batch; where it is known which of its events are refused, the others are named as not written. */
  #reported({ events }: Batch, part: readonly TableBatch[], failure: unknown): unknown {
    const refused = refusedOf(failure);
    if (refused === undefined) {
      this.#reportRefused(events, failure, part);
      return failure;
    }
    for (const [event, reason] of refused) this.#reportRefused([event], reason, this.#rowBuilder.tables([event]));
    return besideRefused(events, refused, failure);
  }

  /** Writes a refused event to the error table, when it is named or alone: the kernel splits a batch of which none is named. */
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

interface Failed {
  readonly error: unknown;
  /** The same for people. */
  readonly failure: unknown;
}

/** The events that a failure names, each with its reason. */
function refusedOf(failure: unknown): ReadonlyMap<Event, unknown> | undefined {
  if (!(failure instanceof AgentError) || failure.events === undefined) return undefined;
  const { events } = failure;
  return "get" in events ? events : new Map(events.map((event) => [event, failure]));
}

/** All events of the batch have failed: a position would cover the refused ones. */
function besideRefused(events: readonly Event[], refused: ReadonlyMap<Event, unknown>, failure: unknown): AgentError {
  const message = reasonOf(failure);
  const others = new AgentError("NOT_WRITTEN", `not written with events that are refused: ${message}`, {
    retryable: true,
  });
  const failed = new Map(events.map((event) => [event, refused.get(event) ?? others]));
  const retryable = retryableOf(failure) ?? false;
  const code = retryable ? (codeOf(failure) ?? "STORE_UNAVAILABLE") : "DATA_REFUSED";
  const cause = retryable && failure instanceof Error ? failure.cause : failure;
  return new AgentError(code, message, { cause, retryable, events: failed });
}
