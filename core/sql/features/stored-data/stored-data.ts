import { hasOwnDatabase } from "../../../ngsi/index.js";
import type {
  AdoptRequest,
  Context,
  Erasure,
  RowSelection,
  StoredData,
  StoredProgress,
  StoredRows,
  StoredSelection,
  StoredTable,
  TableResult,
} from "../../../sdk/index.js";
import { storeError } from "../../contract/database-error.js";
import type { Store } from "../../contract/driver.js";
import { dataModelOf, type SqlConfig } from "../../contract/schema.js";
import { tableKey } from "../../contract/statement.js";
import { catalogued, fits } from "../../tables/catalogue.js";
import type { KnownStore } from "../../tables/known-store.js";
import { listerOf } from "../../tables/lister.js";
import { openStore } from "../../tables/open-store.js";
import { withViewNotes } from "../view-names.js";
import { adopt } from "./adopt.js";
import { erase } from "./erasure.js";
import { type FoundDatabases, withListedDatabases } from "./listed-databases.js";
import { PartitionTables } from "./partition-tables.js";
import { storedRows } from "./stored-rows.js";

/** What commands do with the tables of a sink. Each member is in a file of its own; this one passes the store. */
export class SqlStoredData implements StoredData {
  readonly #config: SqlConfig;
  readonly #context: Context;
  readonly #store: KnownStore;
  readonly #partitioning: PartitionTables;
  readonly #unread: FoundDatabases["unread"];

  constructor(config: SqlConfig, context: Context, store: Store) {
    this.#config = config;
    this.#context = context;
    const known = openStore(config, store, { log: context.log });
    const made = hasOwnDatabase(dataModelOf(config));
    const found = withListedDatabases(known, { sink: context.name, noted: config.exactly_once, made });
    this.#store = found.store;
    this.#unread = () => found.unread();
    this.#partitioning = new PartitionTables({ config, context, store: this.#store });
  }

  async tables(selection: StoredSelection, signal: AbortSignal): Promise<readonly StoredTable[]> {
    return await this.#explained(async () => {
      const all = await catalogued({}, this.#store, signal);
      const noted = this.#config.views ? withViewNotes(all, this.#context, this.#store.dialect.views) : all;
      return await withSizes(
        noted.filter((table) => fits(table, selection)),
        this.#store,
        signal,
      );
    });
  }

  async adopt(request: AdoptRequest, dryRun: boolean, signal: AbortSignal): Promise<readonly TableResult[]> {
    const parts = { store: this.#store, config: this.#config, context: this.#context };
    return await this.#explained(() => adopt(request, dryRun, { parts, signal }));
  }

  async partition(
    tables: readonly string[],
    dryRun: boolean,
    signal: AbortSignal,
    progress?: StoredProgress,
  ): Promise<readonly TableResult[]> {
    return await this.#explained(() => this.#partitioning.convert(tables, dryRun, { signal, progress }));
  }

  async erase(selection: StoredSelection, dryRun: boolean, signal: AbortSignal): Promise<Erasure> {
    const request = { selection, lister: listerOf(this.#context), dryRun };
    const erasure = await this.#explained(() => erase(request, this.#store, signal));
    return { ...erasure, left: [...erasure.left, ...this.#unread()] };
  }

  async *rows(selection: RowSelection, signal: AbortSignal): AsyncGenerator<StoredRows> {
    try {
      yield* storedRows(selection, listerOf(this.#context), { store: this.#store, signal });
    } catch (error) {
      throw storeError(error, this.#store.dialect.errors, this.#store.server);
    }
  }

  async close(): Promise<void> {
    await this.#store.driver.close(AbortSignal.abort());
  }

  /** An error of the database in one line. */
  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw storeError(error, this.#store.dialect.errors, this.#store.server);
    }
  }
}

const TABLES_AT_ONCE = 1000;

/** The tables with their partitions and rows, as far as the database knows them without counting. */
async function withSizes(
  tables: readonly StoredTable[],
  { dialect, driver }: KnownStore,
  signal: AbortSignal,
): Promise<readonly StoredTable[]> {
  if (dialect.tableSizes === undefined) return tables;
  const sizes = new Map<string, Pick<StoredTable, "partitions" | "rows">>();
  for (let start = 0; start < tables.length; start += TABLES_AT_ONCE) {
    const questions = dialect.tableSizes(tables.slice(start, start + TABLES_AT_ONCE));
    for (const [database = "", schema = "", table = "", rows, partitions] of await driver.read(questions, signal))
      sizes.set(tableKey({ database, schema, table }), {
        ...(rows === undefined ? {} : { rows: Math.round(Number(rows)) }),
        ...(partitions === undefined ? {} : { partitions: Number(partitions) }),
      });
  }
  return tables.map((table) => ({ ...table, ...sizes.get(tableKey(table)) }));
}
