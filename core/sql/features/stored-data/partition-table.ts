import { setTimeout } from "node:timers/promises";
import { reasonOf, type TableResult } from "../../../sdk/index.js";
import type { Column, TableIndex } from "../../contract/column.js";
import { databaseErrorOf } from "../../contract/database-error.js";
import type {
  ConversionStep,
  PartitionConversion,
  PartitionedTable,
  PartitionStatements,
  Period,
} from "../../contract/partitions.js";
import { type Statement, type TableName, tableKey } from "../../contract/statement.js";
import { type KnownStore, lookUp } from "../../tables/known-store.js";
import { partitionedTables } from "../../tables/make-partitions.js";
import { instantOf } from "../../tables/periods.js";
import type { TableLife } from "../../tables/table-life.js";
import { nameOf } from "./chosen-tables.js";

/** The transactions of writers end between two attempts to lock a table. */
const MOST_ATTEMPTS = 20;
const PAUSE_MILLIS = 250;

/** The partitioned tables of those that were looked up together, by key. */
export type Seen = ReadonlyMap<string, PartitionedTable>;

interface Look {
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** The partitioned tables of its page, which the store knows; undefined where the table has to be read anew. */
  readonly seen: Seen | undefined;
}

/** Gives one table the partitions and indexes of the configuration. */
export class TablePartitioning {
  readonly #store: KnownStore;
  readonly #life: TableLife;
  /** Databases that have no hypertables. */
  readonly #withoutHypertables = new Set<string>();

  constructor(store: KnownStore, life: TableLife) {
    this.#store = store;
    this.#life = life;
  }

  /** A table that the database refuses to change is a result. */
  async convert(table: TableName, call: Look): Promise<Outcome> {
    try {
      return await this.#convert(nameOf(table), call);
    } catch (error) {
      if (call.signal.aborted) throw error;
      const { server, dialect } = this.#store;
      const databaseError = databaseErrorOf(error);
      const reason = databaseError.code === undefined ? reasonOf(error) : dialect.errors.explain(databaseError, server);
      return { outcome: "refused", reason };
    }
  }

  async #convert(name: TableName, { dryRun, signal, seen }: Look): Promise<Outcome> {
    const store = this.#store;
    const { partitions: statements } = store.dialect;
    const { period } = this.#life;
    if (seen === undefined) {
      store.tables.forget(name);
      await lookUp([name], store, signal);
    }
    const kind = store.tables.kind(name, this.#life.time);
    if (kind === undefined)
      return { outcome: "refused", reason: `it does not exist, or has no column "${this.#life.time}"` };

    const time = { name: this.#life.time, kind };
    const columns = [...(store.tables.columns(name) ?? [])].map(([column, own]) => ({ name: column, kind: own }));
    const indexes = await this.#missing(name, this.#life.indexes(name, columns), signal);
    const divided = await this.#divided(name, { statements, indexes, seen, signal });
    if (divided !== undefined) return await this.#index(indexes, { ...divided, dryRun, signal });
    if (statements === undefined || period === undefined)
      return await this.#index(indexes, {
        statements: store.dialect.createIndexes(name, indexes),
        otherwise: this.#life.indexed ? "it has its indexes" : "partition = none and indexes = false",
        dryRun,
        signal,
      });
    if (this.#life.hypertables) return notMade(name, { time, period, statements });
    const [answer] = await store.driver.read([statements.convertible(name, time)], signal);
    const refusal = answer === undefined ? "it does not exist" : answer[0];
    if (refusal !== undefined) return { outcome: "refused", reason: refusal };
    const done = { outcome: "done", reason: `one partition for its rows, then one for each ${period}` } as const;
    if (dryRun) return done;
    return (await this.#exchange({ name, time, indexes }, statements, signal)) ?? done;
  }

  /** The indexes of a table that is divided already; undefined for a plain one. */
  async #divided(
    name: TableName,
    { statements, indexes, seen, signal }: Dividing,
  ): Promise<Pick<Indexing, "statements" | "otherwise"> | undefined> {
    if (statements === undefined) return undefined;
    const partitioned = seen === undefined ? await this.#partitioned(name, signal) : seen.get(tableKey(name));
    if (partitioned !== undefined)
      return { statements: statements.createIndexes(partitioned, indexes), otherwise: "it is partitioned" };
    if (!(await this.#isHypertable(name, statements, signal))) return undefined;
    return { statements: statements.hypertableIndexes?.(name, indexes) ?? [], otherwise: "it is a hypertable" };
  }

  /** Others make hypertables, too, so they are looked for without the property as well. */
  async #isHypertable(name: TableName, { hypertables }: PartitionStatements, signal: AbortSignal): Promise<boolean> {
    if (hypertables === undefined || this.#withoutHypertables.has(name.database)) return false;
    const { driver, dialect } = this.#store;
    try {
      return (await driver.read(hypertables([name]), signal)).length > 0;
    } catch (error) {
      if (this.#life.hypertables || !dialect.errors.missing(databaseErrorOf(error))) throw error;
      this.#withoutHypertables.add(name.database);
      return false;
    }
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

/** A plain table is not changed: making a hypertable of it would lock it for as long as its rows are copied. */
function notMade(name: TableName, { time, period, statements }: Hypertable): Outcome {
  if (time.kind !== "time")
    return { outcome: "refused", reason: `its column "${time.name}" is text, and a hypertable needs a time` };
  const remedy = statements.hypertableRemedy?.(name, time, period) ?? "";
  return { outcome: "refused", reason: `making a hypertable of it locks it; stop the agent and run ${remedy}` };
}

interface Dividing extends Pick<Look, "seen" | "signal"> {
  readonly statements: PartitionStatements | undefined;
  readonly indexes: readonly TableIndex[];
}

interface Hypertable {
  readonly time: Column;
  readonly period: Period;
  readonly statements: PartitionStatements;
}

type Outcome = Omit<TableResult, "name">;

interface Indexing {
  readonly statements: readonly Statement[];
  /** Why nothing is done if no index is missing. */
  readonly otherwise: string;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}
