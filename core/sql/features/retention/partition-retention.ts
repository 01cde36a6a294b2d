import { isoTime } from "../../../ngsi/index.js";
import type { History } from "../../contract/dialect.js";
import type { PartitionedTable, StoredPartition } from "../../contract/partitions.js";
import { type TableName, tableKey } from "../../contract/statement.js";
import { makePartitionsAt, type PartitionParts, partitionedTables } from "../../tables/make-partitions.js";
import { holds, instantOf } from "../../tables/periods.js";

/** Drops whole partitions of tables of history, and makes those of the next period. */
export class PartitionRetention {
  readonly #parts: PartitionParts;
  readonly #hasHypertables: boolean;

  constructor(parts: PartitionParts, hasHypertables: boolean) {
    this.#parts = parts;
    this.#hasHypertables = hasHypertables;
  }

  /** Those of the tables that are partitioned, by their keys. */
  async tables(names: readonly TableName[], signal: AbortSignal): Promise<ReadonlyMap<string, PartitionedTable>> {
    const found = await partitionedTables(names, this.#parts, signal);
    return new Map(found.map((table) => [tableKey(table.name), table]));
  }

  /**
   * Drops the partitions whose rows are all older. Resolves to the remaining partitions without a beginning from which single
   * rows can be deleted: those that were there before the table was partitioned grow old in them.
   */
  async drop(table: PartitionedTable, oldest: string, signal: AbortSignal): Promise<readonly StoredPartition[]> {
    const { store, statements } = this.#parts;
    await this.#split(table, signal);
    const expired = table.partitions.filter(({ to }) => to !== undefined && to <= oldest);
    if (expired.length > 0) {
      await store.driver.write(statements.drop(table, expired), signal);
      store.log.info({ table: table.name, partitions: expired.length }, "old partitions dropped");
    }
    if (!statements.areTables) return [];
    const gone = new Set(expired);
    return table.partitions.filter((one) => one.from === undefined && one.to !== undefined && !gone.has(one));
  }

  /**
   * A row of the far future, as of a clock that was set wrong, leaves a filler up to there, which would keep the rows of now until
   * then: it gets a partition for them, and ends before it.
   */
  async #split({ name, partitions }: PartitionedTable, signal: AbortSignal): Promise<void> {
    const { life } = this.#parts;
    const now = isoTime(life.now()).replace("T", " ");
    const isEndless = partitions.some((one) => one.isFiller && one.to !== undefined && holds(one, now));
    if (isEndless) await makePartitionsAt([name], life.rangeNow(), this.#parts, signal);
  }

  /** The keys of those of the tables that are hypertables. */
  async hypertables(names: readonly TableName[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { store, statements } = this.#parts;
    if (!this.#hasHypertables || names.length === 0) return new Set();
    const answer = await store.driver.read(statements.hypertables?.(names) ?? [], signal);
    return new Set(answer.map(([database = "", schema = "", table = ""]) => tableKey({ database, schema, table })));
  }

  async dropChunks({ name, time }: History, oldest: string, signal: AbortSignal): Promise<void> {
    const { store, statements } = this.#parts;
    const statement = statements.dropChunks?.(name, time, oldest);
    if (statement !== undefined) await store.driver.write([statement], signal);
  }

  /**
   * Makes the partitions of the next period in tables that get rows, in the last quarter of a period, or earlier if checks
   * are rare: the first row of a period then finds its partition.
   */
  async ahead(names: readonly TableName[], pauseMillis: number, signal: AbortSignal): Promise<void> {
    const { life, store } = this.#parts;
    const { from = "", to } = life.rangeNow();
    if (to === undefined || names.length === 0) return;
    const end = instantOf(to);
    const early = Math.max((end - instantOf(from)) / PARTS_OF_A_PERIOD, 2 * pauseMillis);
    if (life.now() < end - early) return;
    await makePartitionsAt(names, life.rangeAt(end), this.#parts, signal);
    store.log.debug({ tables: names.length, from: isoTime(end) }, "partitions made ahead of time");
  }
}

const PARTS_OF_A_PERIOD = 4;
