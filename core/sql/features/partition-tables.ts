import { setTimeout } from "node:timers/promises";
import { type Context, reasonOf, type TableResult } from "../../sdk/index.js";
import type { Column } from "../contract/column.js";
import { databaseErrorOf } from "../contract/database-error.js";
import type {
  ConversionStep,
  PartitionConversion,
  PartitionedTable,
  PartitionStatements,
  Period,
} from "../contract/partitions.js";
import { namingOf, type SqlConfig } from "../contract/schema.js";
import type { Statement, TableName } from "../contract/statement.js";
import type { TableIndex } from "../contract/table-index.js";
import { catalogued } from "../tables/catalogue.js";
import { type KnownStore, lookUp } from "../tables/known-store.js";
import { type Lister, listerOf, UNCLEAR } from "../tables/lister.js";
import { partitionedTables } from "../tables/make-partitions.js";
import { instantOf } from "../tables/periods.js";
import { TableLife } from "../tables/table-life.js";
import { belongingTables } from "./chosen-tables.js";

/** The transactions of writers end between two attempts to lock a table. */
const MOST_ATTEMPTS = 20;
const PAUSE_MILLIS = 250;

/** What the partitioning of tables needs. */
export interface PartitionTablesParts {
  readonly config: SqlConfig;
  readonly context: Context;
  readonly store: KnownStore;
}

/**
 * Gives existing tables the partitions and indexes of the configuration, while agents write to them. It can be ended at
 * any time and repeated.
 */
export class PartitionTables {
  readonly #store: KnownStore;
  readonly #life: TableLife;
  readonly #lister: Lister;

  constructor({ config, context, store }: PartitionTablesParts) {
    this.#store = store;
    this.#lister = listerOf(context);
    this.#life = new TableLife(config, {
      naming: namingOf(config, store.dialect.database),
      dialect: store.dialect,
      context,
    });
  }

  /** Of the tables of history that this sink has listed: these, or all if none is given. */
  async convert(names: readonly string[], dryRun: boolean, signal: AbortSignal): Promise<readonly TableResult[]> {
    const { own: listed, unclear } = belongingTables(await catalogued({}, this.#store, signal), this.#lister);
    const own = listed.filter(({ kind }) => kind === "history");
    const open = unclear.filter(({ kind }) => kind === "history");
    const wanted = names.length === 0 ? [...own, ...open].map(({ name }) => name) : [...new Set(names)];
    const results: TableResult[] = [];
    for (const name of wanted) {
      const table = own.find((one) => one.name === name);
      const isUnclear = open.some((one) => one.name === name);
      const reason = isUnclear ? UNCLEAR : "this sink has not listed it as a table of history";
      if (table === undefined) results.push({ name, outcome: "refused", reason });
      else results.push({ name, ...(await this.#guarded(table, dryRun, signal)) });
    }
    return results;
  }

  async #guarded({ database, schema, table }: TableName, dryRun: boolean, signal: AbortSignal): Promise<Outcome> {
    try {
      return await this.#convert({ database, schema, table }, dryRun, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const { server, dialect } = this.#store;
      const databaseError = databaseErrorOf(error);
      const reason = databaseError.code === undefined ? reasonOf(error) : dialect.errors.explain(databaseError, server);
      return { outcome: "refused", reason };
    }
  }

  async #convert(name: TableName, dryRun: boolean, signal: AbortSignal): Promise<Outcome> {
    const store = this.#store;
    const { partitions: statements } = store.dialect;
    const { period } = this.#life;
    store.tables.forget(name);
    await lookUp([name], store, signal);
    const kind = store.tables.kind(name, this.#life.time);
    if (kind === undefined)
      return { outcome: "refused", reason: `it does not exist, or has no column "${this.#life.time}"` };

    const time = { name: this.#life.time, kind };
    const columns = [...(store.tables.columns(name) ?? [])].map(([column, own]) => ({ name: column, kind: own }));
    const indexes = await this.#missing(name, this.#life.indexes(name, columns), signal);
    const partitioned = await this.#partitioned(name, signal);
    if (partitioned !== undefined)
      return await this.#index(indexes, {
        statements: statements?.createIndexes(partitioned, indexes) ?? [],
        otherwise: "it is partitioned",
        dryRun,
        signal,
      });
    if (statements === undefined || period === undefined)
      return await this.#index(indexes, {
        statements: store.dialect.createIndexes(name, indexes),
        otherwise: this.#life.indexed ? "it has its indexes" : "partition = none and indexes = false",
        dryRun,
        signal,
      });
    if (this.#life.hypertables) return await this.#hypertable(name, { time, period, statements, signal });
    const [answer] = await store.driver.read([statements.convertible(name, time)], signal);
    const refusal = answer === undefined ? "it does not exist" : answer[0];
    if (refusal !== undefined) return { outcome: "refused", reason: refusal };
    const done = { outcome: "done", reason: `one partition for its rows, then one for each ${period}` } as const;
    if (dryRun) return done;
    return (await this.#exchange({ name, time, indexes }, statements, signal)) ?? done;
  }

  /** A plain table is not changed: making a hypertable of it would lock it for as long as its rows are copied. */
  async #hypertable(name: TableName, { time, period, statements, signal }: Hypertable): Promise<Outcome> {
    const found = await this.#store.driver.read(statements.hypertables?.([name]) ?? [], signal);
    if (found.length > 0) return { outcome: "unchanged", reason: "it is a hypertable" };
    if (time.kind !== "time")
      return { outcome: "refused", reason: `its column "${time.name}" is text, and a hypertable needs a time` };
    const remedy = statements.hypertableRemedy?.(name, time, period) ?? "";
    return { outcome: "refused", reason: `making a hypertable of it locks it; stop the agent and run ${remedy}` };
  }

  /** Undefined when the table is partitioned. */
  async #exchange(
    table: Pick<PartitionConversion, "name" | "time" | "indexes">,
    statements: PartitionStatements,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    const ranges = this.#ranges();
    const until = ranges[1]?.to;
    if (until === undefined) return { outcome: "refused", reason: "the clock is wrong" };
    try {
      for (const step of statements.convert({ ...table, until, ranges })) await this.#run(step, signal);
      return undefined;
    } catch (error) {
      // Also when the command was ended by its user; a killed one leaves that to the agent.
      const released = statements.release(table.name);
      const { driver } = this.#store;
      if (released.length > 0) await driver.write(released, new AbortController().signal).catch(() => undefined);
      signal.throwIfAborted();
      if ((await this.#partitioned(table.name, signal)) === undefined) throw error;
      return { outcome: "unchanged", reason: "another process has partitioned it" };
    }
  }

  /** This period and the next ones: rows go on arriving while a large table is read. */
  #ranges() {
    const now = this.#life.rangeNow();
    const next = this.#life.rangeAt(instantOf(now.to ?? ""));
    return [now, next, this.#life.rangeAt(instantOf(next.to ?? ""))];
  }

  async #partitioned(name: TableName, signal: AbortSignal): Promise<PartitionedTable | undefined> {
    const { partitions: statements } = this.#store.dialect;
    if (statements === undefined) return undefined;
    const [found] = await partitionedTables([name], { store: this.#store, life: this.#life, statements }, signal);
    return found;
  }

  /** Without those that the table has. */
  async #missing(name: TableName, indexes: readonly TableIndex[], signal: AbortSignal): Promise<readonly TableIndex[]> {
    const { dialect, driver } = this.#store;
    if (dialect.indexNames === undefined || indexes.length === 0) return indexes;
    const there = new Set((await driver.read([dialect.indexNames(name)], signal)).map(([index]) => index));
    return indexes.filter((index) => !there.has(index.name));
  }

  async #index(indexes: readonly TableIndex[], { statements, otherwise, dryRun, signal }: Indexing): Promise<Outcome> {
    if (indexes.length === 0) return { outcome: "unchanged", reason: otherwise };
    if (!dryRun) for (const statement of statements) await this.#alone(statement, signal);
    return { outcome: "done", reason: `indexes ${indexes.map((index) => index.name).join(", ")}` };
  }

  /** A short step is repeated when a writer has locked the table. */
  async #run({ statements, isLong }: ConversionStep, signal: AbortSignal): Promise<void> {
    const { driver, dialect } = this.#store;
    for (let attempt = 1; ; attempt++) {
      try {
        if (!isLong) await driver.write(statements, signal);
        else for (const statement of statements) await this.#alone(statement, signal);
        return;
      } catch (error) {
        if (isLong || attempt === MOST_ATTEMPTS || !dialect.errors.retryable(databaseErrorOf(error))) throw error;
        await setTimeout(PAUSE_MILLIS, undefined, { signal });
      }
    }
  }

  async #alone(statement: Statement, signal: AbortSignal): Promise<void> {
    const { driver } = this.#store;
    if (driver.alone === undefined) await driver.write([statement], signal);
    else await driver.alone(statement, signal);
  }
}

interface Hypertable {
  readonly time: Column;
  readonly period: Period;
  readonly statements: PartitionStatements;
  readonly signal: AbortSignal;
}

type Outcome = Omit<TableResult, "name">;

interface Indexing {
  readonly statements: readonly Statement[];
  /** Why nothing is done if no index is missing. */
  readonly otherwise: string;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}
