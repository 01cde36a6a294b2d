import { setTimeout } from "node:timers/promises";
import { type Context, reasonOf, type TableResult } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import type { ConversionStep } from "../contract/partitions.js";
import { namingOf, type SqlConfig } from "../contract/schema.js";
import type { Statement, TableName } from "../contract/statement.js";
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
    const indexes = this.#life.indexes(name, columns);
    if (statements === undefined || period === undefined) return await this.#index(name, { indexes, dryRun, signal });

    const [partitioned] = await partitionedTables([name], { store, life: this.#life, statements }, signal);
    if (partitioned !== undefined) return { outcome: "unchanged", reason: "it is partitioned" };
    const [answer] = await store.driver.read([statements.convertible(name, time)], signal);
    const refusal = answer === undefined ? "it does not exist" : answer[0];
    if (refusal !== undefined) return { outcome: "refused", reason: refusal };
    const done = `one partition for its rows, then one for each ${period}`;
    if (dryRun) return { outcome: "done", reason: done };

    const ranges = this.#ranges();
    const until = ranges[1]?.to;
    if (until === undefined) return { outcome: "refused", reason: "the clock is wrong" };
    try {
      for (const step of statements.convert({ name, time, until, ranges, indexes })) await this.#run(step, signal);
    } catch (error) {
      // Also when the command was ended by its user; a killed one leaves that to the agent.
      const released = statements.release(name);
      if (released.length > 0) await store.driver.write(released, new AbortController().signal).catch(() => undefined);
      throw error;
    }
    return { outcome: "done", reason: done };
  }

  /** This period and the next ones: rows go on arriving while a large table is read. */
  #ranges() {
    const now = this.#life.rangeNow();
    const next = this.#life.rangeAt(instantOf(now.to ?? ""));
    return [now, next, this.#life.rangeAt(instantOf(next.to ?? ""))];
  }

  async #index(name: TableName, { indexes, dryRun, signal }: Indexing): Promise<Outcome> {
    if (indexes.length === 0) return { outcome: "unchanged", reason: "partition = none and indexes = false" };
    const done = `indexes ${indexes.map((index) => index.name).join(", ")}`;
    if (!dryRun)
      for (const statement of this.#store.dialect.createIndexes(name, indexes)) await this.#alone(statement, signal);
    return { outcome: "done", reason: done };
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

type Outcome = Omit<TableResult, "name">;

interface Indexing {
  readonly indexes: ReturnType<TableLife["indexes"]>;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}
