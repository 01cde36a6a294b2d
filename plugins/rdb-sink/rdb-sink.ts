import { type Batch, type Context, type Event, type Receipt, reasonOf, type Sink } from "deneb/sdk";
import { type RdbConfig, storedModel } from "./config.js";
import { PartlyWritten } from "./drivers/driver.js";
import { faultOf } from "./faults.js";
import { groupedByTable, type PlacedRow, type TableBatch } from "./grouping.js";
import type { KnownStore } from "./known-store.js";
import { ColumnLayout } from "./layouts/column.js";
import { makeMissing } from "./make-missing.js";
import { type Placing, placedRow } from "./placing.js";
import { bytesOf } from "./statement.js";
import type { Store } from "./store.js";
import { storeError } from "./store-error.js";
import { storeKinds } from "./store-kinds.js";
import { Tables } from "./tables.js";

// Each table in a transaction takes a lock, and a PostgreSQL server has some thousands of them.
const TABLES_PER_TRANSACTION = 2000;
const WARNING_PAUSE_MILLIS = 60_000;

/** Stores each entity as a row of its table. */
export class RdbSink implements Sink {
  readonly #context: Context;
  readonly #store: KnownStore;
  readonly #placing: Placing;
  /** Events whose row is committed while their batch is not: a repeat of the batch leaves them out. */
  readonly #written = new WeakSet<Event>();
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(
    config: RdbConfig,
    context: Context,
    store: Store = storeKinds[config.rdb_dialect].open(config, context),
  ) {
    this.#context = context;
    this.#store = { ...store, tables: new Tables(), log: context.log };
    this.#placing = {
      naming: {
        dataModel: storedModel(config.data_model) ?? "dm-by-entity",
        encoding: config.enable_encoding,
        database: config.rdb_dialect,
        lowercase: config.enable_lowercase,
      },
      layout: new ColumnLayout({ nativeTypes: config.attr_native_types, reserved: store.dialect.reservedColumns }),
      dialect: store.dialect,
      mapped: config.enable_name_mappings,
    };
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
  }

  async persist({ events }: Batch, signal: AbortSignal): Promise<Receipt> {
    const rows = events.filter((event) => !this.#written.has(event)).flatMap((event) => this.#placed(event));
    const tables = groupedByTable(rows);
    const total = { requestBytes: 0, responseBytes: 0 };
    for (let start = 0; start < tables.length; start += TABLES_PER_TRANSACTION) {
      const part = tables.slice(start, start + TABLES_PER_TRANSACTION);
      try {
        const receipt = await this.#writeTwice(part, signal);
        total.requestBytes += receipt.requestBytes;
        total.responseBytes += receipt.responseBytes;
      } catch (error) {
        this.#note(tables.slice(0, start));
        throw this.#failed(part, error);
      }
    }
    return total;
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#store.driver.close(signal);
  }

  #placed(event: Event): readonly PlacedRow[] {
    const row = placedRow(event, this.#placing);
    if (row !== undefined) return [row];
    this.#warnWithoutAttributes();
    return [];
  }

  #warnWithoutAttributes(): void {
    const now = this.#context.now().getTime();
    if (now - this.#warnedAt < WARNING_PAUSE_MILLIS) return;
    this.#warnedAt = now;
    this.#context.log.warn({}, "entities without attributes make no row");
  }

  #failed(tables: readonly TableBatch[], error: unknown): unknown {
    if (!(error instanceof PartlyWritten)) return this.#explained(error);
    this.#note(tables.filter(({ name }) => error.schemas.includes(name.schema)));
    return this.#explained(error.cause);
  }

  #note(tables: readonly TableBatch[]): void {
    for (const { events } of tables) for (const event of events) this.#written.add(event);
  }

  /** Somebody may have dropped what is known to exist: then it is made again, once. */
  async #writeTwice(tables: readonly TableBatch[], signal: AbortSignal): Promise<Receipt> {
    try {
      return await this.#write(tables, signal);
    } catch (error) {
      if (!this.#store.dialect.faults.missing(faultOf(error))) throw error;
      for (const { name } of tables) this.#store.tables.forget(name);
      return await this.#write(tables, signal);
    }
  }

  async #write(tables: readonly TableBatch[], signal: AbortSignal): Promise<Receipt> {
    await makeMissing(tables, this.#store, signal);
    const statements = tables.flatMap((table) => this.#store.dialect.insert(table));
    const responseBytes = await this.#store.driver.write(statements, signal);
    return { requestBytes: bytesOf(statements), responseBytes };
  }

  #explained(error: unknown): unknown {
    return storeError(error, this.#store.dialect.faults, this.#store.place);
  }
}
