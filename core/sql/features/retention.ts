import { setTimeout } from "node:timers/promises";
import { type ColumnNaming, columnName, isoTime } from "../../ngsi/index.js";
import { type Context, reasonOf } from "../../sdk/index.js";
import type { History } from "../contract/dialect.js";
import { RecentMap } from "../contract/recent-map.js";
import type { SqlConfig } from "../contract/schema.js";
import { type Statement, type TableName, tableKey } from "../contract/statement.js";
import type { TableBatch } from "../rows/grouping.js";
import { columnLayoutColumns } from "../rows/layout.js";
import { isShortened } from "../rows/table-names.js";
import type { KnownStore } from "../tables/known-store.js";
import type { ListedStore } from "../tables/make-missing.js";
import { historiesIn, historiesOf } from "./histories.js";

// The number of rows deleted in one transaction, so that writes need not wait long.
const ROWS_AT_ONCE = 5000;
const MOST_COUNTED = 100_000;
const SECOND = 1000;

/** Deletes rows from tables of history: the oldest excess rows, and expired ones. */
export class Retention {
  readonly #store: KnownStore;
  readonly #register: ListedStore["register"];
  readonly #naming: ColumnNaming;
  readonly #context: Context;
  readonly #mostRows: number;
  readonly #mostAgeMillis: number;
  readonly #pauseMillis: number;
  readonly #lastDataSuffix: string;
  /** Schemas whose tables the operator has assigned to this sink. */
  readonly #adopted: ReadonlySet<string>;
  readonly #ending = new AbortController();
  #working: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  /** The known number of rows of each table. */
  readonly #counts = new RecentMap<number>(MOST_COUNTED);

  constructor(config: SqlConfig, store: ListedStore, context: Context) {
    this.#store = store;
    this.#register = store.register;
    this.#naming = store.naming;
    this.#context = context;
    this.#mostRows = config["persistence_policy.max_records"];
    this.#mostAgeMillis = config["persistence_policy.expiration_time"] * SECOND;
    this.#pauseMillis = config["persistence_policy.checking_time"] * SECOND;
    this.#lastDataSuffix = config.last_data_table_suffix;
    this.#adopted = new Set(config["persistence_policy.adopted_schemas"]);
  }

  /** Checks at intervals until it is stopped. */
  start(): void {
    if (this.#mostRows < 0 && this.#mostAgeMillis < 0) return;
    this.#loop ??= this.#run(this.#ending.signal);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#loop;
  }

  /**
   * Deletes excess rows of the tables of history that grew. A failure is only logged: the rows are stored, and the next
   * check finds them.
   */
  async grown(tables: readonly TableBatch[], signal: AbortSignal): Promise<void> {
    if (this.#mostRows < 0) return;
    for (const { name, rows } of tables.filter((table) => table.key.length === 0 && !this.#isLastData(table.name))) {
      const known = this.#counts.get(tableKey(name));
      if (known !== undefined) this.#counts.set(tableKey(name), known + rows.length);
      const column = columnName(columnLayoutColumns.ld[0], this.#naming);
      const history = { name, time: { name: column, kind: this.#store.tables.kind(name, column) ?? "text" } };
      await this.#onTable(history, () => this.#cap(history, signal));
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#guarded({}, "old rows not checked, will be tried again", () => this.sweep(signal));
      // An abort ends the pause with an error, and then the loop.
      await setTimeout(this.#pauseMillis, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Checks all tables of history of this sink. */
  async sweep(signal: AbortSignal): Promise<void> {
    for (const history of await this.#histories(signal)) {
      if (signal.aborted) return;
      await this.#onTable(history, async () => {
        this.#counts.delete(tableKey(history.name));
        await this.#expire(history, signal);
        await this.#cap(history, signal);
      });
    }
  }

  /** The tables that this sink writes to, and those of adopted schemas. */
  async #histories(signal: AbortSignal): Promise<readonly History[]> {
    const looking = { store: this.#store, naming: this.#naming, signal };
    const { own, others } = (await this.#register?.tables(signal)) ?? { own: [], others: [] };
    const adopted = await historiesIn(this.#adopted, looking);
    const taken = new Set([...own, ...others].map(tableKey));
    return [
      ...(await historiesOf(own, looking)),
      // A shortened name has lost the suffix of last data.
      ...adopted.filter(
        ({ name }) => !taken.has(tableKey(name)) && !this.#isLastData(name) && !isShortened(name, this.#store.dialect),
      ),
    ];
  }

  async #cap(history: History, signal: AbortSignal): Promise<void> {
    if (this.#mostRows < 0) return;
    const key = tableKey(history.name);
    const count = this.#counts.get(key) ?? (await this.#number(this.#store.dialect.count(history), signal));
    // The number is unknown until the deletion is done.
    this.#counts.delete(key);
    for (let excess = count - this.#mostRows; excess > 0; excess -= ROWS_AT_ONCE) {
      const rows = Math.min(excess, ROWS_AT_ONCE);
      await this.#delete(this.#store.dialect.deleteExcess(history, this.#mostRows, rows), signal);
    }
    this.#counts.set(key, Math.min(count, this.#mostRows));
  }

  async #expire(history: History, signal: AbortSignal): Promise<void> {
    if (this.#mostAgeMillis < 0) return;
    const oldest = isoTime(this.#context.now().getTime() - this.#mostAgeMillis)
      .replace("T", " ")
      .replace("Z", "");
    for (;;) {
      const question = this.#store.dialect.countOlder(history, oldest, ROWS_AT_ONCE);
      const older = await this.#number(question, signal);
      if (older > 0) await this.#delete(this.#store.dialect.deleteOlder(history, oldest, ROWS_AT_ONCE), signal);
      if (older < ROWS_AT_ONCE) return;
    }
  }

  async #delete(deletion: Statement, signal: AbortSignal): Promise<void> {
    await this.#store.driver.write([deletion], signal);
    this.#store.log.debug({ table: deletion.at }, "old rows deleted");
  }

  async #number(question: Statement, signal: AbortSignal): Promise<number> {
    const [row] = await this.#store.driver.read([question], signal);
    return Number(row?.[0] ?? 0);
  }

  #isLastData({ table }: TableName): boolean {
    return this.#lastDataSuffix !== "" && table.endsWith(this.#lastDataSuffix);
  }

  async #guarded(fields: object, message: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#store.log.warn({ ...fields, reason: reasonOf(error) }, message);
    }
  }

  /** One at a time: two that count the same rows would delete too many. */
  async #onTable({ name: table }: History, work: () => Promise<void>): Promise<void> {
    const before = this.#working;
    this.#working = before.then(() => this.#guarded({ table }, "old rows not deleted, will be tried again", work));
    await this.#working;
  }
}
