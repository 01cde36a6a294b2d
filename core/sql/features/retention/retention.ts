import { setTimeout } from "node:timers/promises";
import { type ColumnNaming, columnName, isoTime } from "../../../ngsi/index.js";
import type { Context } from "../../../sdk/index.js";
import type { History } from "../../contract/dialect.js";
import type { PartitionedTable } from "../../contract/partitions.js";
import { RecentMap } from "../../contract/recent-map.js";
import { expirationSeconds, type SqlConfig } from "../../contract/schema.js";
import { type Statement, type TableName, tableKey } from "../../contract/statement.js";
import { allowedSchema } from "../../rows/admission.js";
import type { TableBatch } from "../../rows/grouping.js";
import { columnLayoutColumns } from "../../rows/layout.js";
import { isShortened } from "../../rows/table-names.js";
import type { KnownStore } from "../../tables/known-store.js";
import type { ListedStore } from "../../tables/make-missing.js";
import { WrittenTables } from "../../tables/table-life.js";
import { historiesIn, historiesOf } from "./histories.js";
import { PartitionRetention } from "./partition-retention.js";
import { RetentionClock } from "./retention-clock.js";
import { UpkeepFailures } from "./upkeep-failures.js";

// The number of rows deleted in one transaction, so that writes need not wait long.
const ROWS_AT_ONCE = 5000;
const MOST_COUNTED = 100_000;
const SECOND = 1000;

/** Deletes rows from tables of history: the oldest excess rows, and expired ones. */
export class Retention {
  readonly #store: KnownStore;
  readonly #register: ListedStore["register"];
  readonly #naming: ColumnNaming;
  readonly #clock: RetentionClock;
  readonly #mostRows: number;
  readonly #mostAgeMillis: number;
  /** Rows are not deleted from partitions, which are dropped as a whole. */
  readonly #wholePartitions: boolean;
  /** Undefined in a database without partitions. */
  readonly #partitions: PartitionRetention | undefined;
  /** The tables that get their next partitions ahead of time; undefined if new tables are not partitioned. */
  readonly writtenTables: WrittenTables | undefined;
  readonly #pauseMillis: number;
  readonly #lastDataSuffix: string;
  /** Schemas whose tables the operator has assigned to this sink. */
  readonly #adopted: ReadonlySet<string>;
  /** The tables of which it is not known whose they are. */
  #unclear = 0;
  readonly #upkeep: UpkeepFailures;
  readonly #ending = new AbortController();
  #working: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  /** The number of rows of each table since they were counted, with those of this sink. */
  readonly #counts = new RecentMap<number>(MOST_COUNTED);

  constructor(config: SqlConfig, store: ListedStore, context: Context) {
    this.#store = store;
    this.#upkeep = new UpkeepFailures(store.log, this.#ending.signal);
    this.#register = store.register;
    this.#naming = store.naming;
    this.#clock = new RetentionClock({ context, log: store.log, uptime: () => performance.now() });
    this.#mostRows = config["persistence_policy.max_records"];
    this.#mostAgeMillis = expirationSeconds(config) * SECOND;
    this.#wholePartitions = config["persistence_policy.expiration_time"] < 0;
    const { partitions: statements } = store.dialect;
    this.#partitions =
      statements === undefined
        ? undefined
        : new PartitionRetention({ store, life: store.life, statements }, config.timescaledb);
    if (store.life.period !== undefined && !config.timescaledb) this.writtenTables = new WrittenTables(MOST_COUNTED);
    this.#pauseMillis = config["persistence_policy.checking_time"] * SECOND;
    this.#lastDataSuffix = config.last_data_table_suffix;
    this.#adopted = new Set(config["persistence_policy.adopted_schemas"]);
  }

  /** Whether tables have a largest number of rows, so that they are checked when they grow. */
  get capsRows(): boolean {
    return this.#mostRows >= 0;
  }

  get #deletes(): boolean {
    return this.capsRows || this.#mostAgeMillis >= 0;
  }

  /** Checks at intervals until it is stopped. */
  start(): void {
    if (!this.#deletes && this.writtenTables === undefined) return;
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
      await this.#upkeep.guarded("check", {}, () => this.sweep(signal));
      // An abort ends the pause with an error, and then the loop.
      await setTimeout(this.#pauseMillis, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Makes partitions ahead of time, and checks all tables of history of this sink for rows to delete. */
  async sweep(signal: AbortSignal): Promise<void> {
    await this.#upkeep.guarded("partitions", {}, () => this.#ahead(signal));
    if (!this.#deletes) return;
    const histories = await this.#histories(signal);
    const names = histories.map(({ name }) => name);
    const partitioned = await this.#partitions?.tables(names, signal);
    const hypertables = await this.#partitions?.hypertables(names, signal);
    for (const history of histories) {
      if (signal.aborted) return;
      const key = tableKey(history.name);
      await this.#onTable(history, async () => {
        this.#counts.delete(key);
        await this.#expireTable(
          { history, partitioned: partitioned?.get(key), isHypertable: hypertables?.has(key) },
          signal,
        );
        await this.#cap(history, signal);
      });
    }
  }

  async #ahead(signal: AbortSignal): Promise<void> {
    const written = this.writtenTables?.take() ?? [];
    await this.#partitions?.ahead(written, this.#pauseMillis, signal);
  }

  async #expireTable({ history, partitioned, isHypertable }: KnownHistory, signal: AbortSignal): Promise<void> {
    if (this.#mostAgeMillis < 0) return;
    if (isHypertable === true) return await this.#partitions?.dropChunks(history, this.#oldest(), signal);
    if (partitioned === undefined) return await this.#expire(history, signal);
    const remaining = (await this.#partitions?.drop(partitioned, this.#oldest(), signal)) ?? [];
    if (!this.#wholePartitions) return await this.#expire(history, signal);
    for (const { name } of remaining.filter(({ isFiller }) => !isFiller))
      await this.#expire({ ...history, name }, signal);
  }

  /** In UTC with a space. */
  #oldest(): string {
    return isoTime(this.#clock.now() - this.#mostAgeMillis)
      .replace("T", " ")
      .replace("Z", "");
  }

  /** The tables that this sink writes to, and those of adopted schemas. */
  async #histories(signal: AbortSignal): Promise<readonly History[]> {
    const looking = { store: this.#store, naming: this.#naming, signal };
    const listed = await this.#register?.tables(signal);
    const { own, unclear, others } = listed ?? { own: [], unclear: [], others: [] };
    this.#warnOf(unclear);
    const schemas = [...this.#adopted].map(
      (schema) => allowedSchema({ database: "", schema }, this.#store.dialect).schema,
    );
    const adopted = await historiesIn(new Set(schemas), looking);
    const taken = new Set([...own, ...unclear, ...others].map(tableKey));
    return [
      ...(await historiesOf(own, looking)),
      // A shortened name has lost the suffix of last data.
      ...adopted.filter(
        ({ name }) => !taken.has(tableKey(name)) && !this.#isLastData(name) && !isShortened(name, this.#store.dialect),
      ),
    ];
  }

  /** Once for each number of them. */
  #warnOf(unclear: readonly TableName[]): void {
    if (unclear.length === this.#unclear) return;
    this.#unclear = unclear.length;
    if (unclear.length === 0) return;
    const [table] = unclear;
    this.#store.log.warn(
      { tables: unclear.length, table },
      "old rows of tables stay: an earlier version listed them, and several agents have a sink of this name; deneb tables adopt lists them under this one",
    );
  }

  async #cap(history: History, signal: AbortSignal): Promise<void> {
    if (!this.capsRows) return;
    const key = tableKey(history.name);
    // Others may have written or deleted rows since they were counted, and MySQL deletes by number: a row that is not excess would go.
    if ((this.#counts.get(key) ?? Number.POSITIVE_INFINITY) <= this.#mostRows) return;
    const count = await this.#number(this.#store.dialect.count(history), signal);
    // The number is unknown until the deletion is done.
    this.#counts.delete(key);
    for (let excess = count - this.#mostRows; excess > 0; excess -= ROWS_AT_ONCE) {
      const rows = Math.min(excess, ROWS_AT_ONCE);
      await this.#delete(this.#store.dialect.deleteExcess(history, this.#mostRows, rows), signal);
    }
    this.#counts.set(key, Math.min(count, this.#mostRows));
  }

  async #expire(history: History, signal: AbortSignal): Promise<void> {
    const oldest = this.#oldest();
    const { dialect } = this.#store;
    const older = () => this.#number(dialect.countOlder(history, oldest, Number.MAX_SAFE_INTEGER), signal);
    const before = await older();
    for (let rest = before; rest > 0; rest -= ROWS_AT_ONCE)
      await this.#delete(dialect.deleteOlder(history, oldest, ROWS_AT_ONCE), signal);
    // The database says of no deletion that its rows were taken out of it.
    if (before > 0 && (await older()) >= before)
      throw new Error("they are still there: a trigger, a rule or row security of the table keeps them");
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

  /** One at a time: two that count the same rows would delete too many. */
  async #onTable({ name: table }: History, work: () => Promise<void>): Promise<void> {
    const before = this.#working;
    this.#working = before.then(() => this.#upkeep.guarded("delete", { table }, work));
    await this.#working;
  }
}

/** How a table of history is kept by the database. */
interface KnownHistory {
  readonly history: History;
  readonly partitioned: PartitionedTable | undefined;
  readonly isHypertable: boolean | undefined;
}
