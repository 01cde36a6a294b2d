import { setTimeout } from "node:timers/promises";
import type { Column } from "../contract/column.js";
import { databaseErrorOf } from "../contract/database-error.js";
import type { PartitionedTable, PartitionStatements, StoredPartition, TimeRange } from "../contract/partitions.js";
import { type Cell, type TableName, tableKey } from "../contract/statement.js";
import type { TableBatch } from "../rows/grouping.js";
import { type KnownStore, lookUp } from "./known-store.js";
import { holds, openPart } from "./periods.js";
import { type TableLife, timesOf } from "./table-life.js";

const MOST_ATTEMPTS = 5;
// Each new partition takes several locks until the end of its transaction.
const PARTITIONS_PER_TRANSACTION = 200;
const TABLES_AT_ONCE = 500;
const PAUSE_MILLIS = 50;

/** A partition that a table needs. */
interface Wanted {
  readonly table: PartitionedTable;
  readonly ranges: readonly TimeRange[];
}

/** What makes partitions. */
export interface PartitionParts {
  readonly store: KnownStore;
  readonly life: TableLife;
  readonly statements: PartitionStatements;
}

/**
 * Makes the partitions that these rows lack, after the database refused one of them. A table that a conversion left
 * unfinished is released.
 */
export async function makePartitionsFor(
  batches: readonly TableBatch[],
  parts: PartitionParts,
  signal: AbortSignal,
): Promise<void> {
  const { life, statements, store } = parts;
  const histories = batches.filter(({ key }) => key.length === 0);
  const rangesByTable = new Map(
    histories.map((batch) => [tableKey(batch.name), life.rangesOfRows(timesOf(batch, life.time))]),
  );
  const names = histories.map(({ name }) => name);
  const found = await make(names, ({ name }) => rangesByTable.get(tableKey(name)) ?? [], parts, signal);
  const partitioned = new Set(found.map(({ name }) => tableKey(name)));
  const released = names.filter((name) => !partitioned.has(tableKey(name))).flatMap(statements.release);
  if (released.length > 0) await store.driver.write(released, signal);
}

/** Makes the partitions of a time in those of these tables that are partitioned. */
export async function makePartitionsAt(
  names: readonly TableName[],
  range: TimeRange,
  parts: PartitionParts,
  signal: AbortSignal,
): Promise<void> {
  await make(names, () => [range], parts, signal);
}

/** Those of these tables that are partitioned by the time, with their partitions. */
export async function partitionedTables(
  names: readonly TableName[],
  { store, life, statements }: PartitionParts,
  signal: AbortSignal,
): Promise<readonly PartitionedTable[]> {
  const found: PartitionedTable[] = [];
  for (let start = 0; start < names.length; start += TABLES_AT_ONCE) {
    const part = names.slice(start, start + TABLES_AT_ONCE);
    const answer = await store.driver.read(statements.list(part, life.time), signal);
    found.push(...tablesIn(answer, part, store, life.time));
  }
  return found;
}

/** Another process may make the same partitions at the same time: then they are looked up again. */
async function make(
  names: readonly TableName[],
  wanted: (table: PartitionedTable) => readonly TimeRange[],
  parts: PartitionParts,
  signal: AbortSignal,
): Promise<readonly PartitionedTable[]> {
  const { store, statements } = parts;
  for (let attempt = 1; ; attempt++) {
    await lookUp(names, store, signal);
    const tables = await partitionedTables(names, parts, signal);
    const open = tables.flatMap((table) => {
      const ranges = wanted(table).flatMap((range) => openRanges(range, table.partitions));
      return ranges.length === 0 ? [] : [{ table, ranges }];
    });
    try {
      for (const part of inParts(open)) {
        const all = part.flatMap(({ table, ranges }) => statements.add(table, ranges, attempt));
        if (all.length > 0) await store.driver.write(all, signal);
      }
      return tables;
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !store.dialect.errors.raced(databaseErrorOf(error))) throw error;
      // Two that wait for each other would meet again.
      await setTimeout(PAUSE_MILLIS * attempt * Math.random(), undefined, { signal });
    }
  }
}

/** The parts of a range that no partition takes; several if there are partitions of shorter periods in it. */
function openRanges(range: TimeRange, partitions: readonly StoredPartition[]): readonly TimeRange[] {
  const taken = partitions.filter(({ isFiller }) => !isFiller);
  const open: TimeRange[] = [];
  // The lowest text: every bound of a range is later.
  let at = range.from ?? "";
  while (range.to === undefined || at < range.to) {
    const holder = taken.find((partition) => holds(partition, at));
    if (holder === undefined) {
      const part = openPart({ from: at === "" ? undefined : at, to: range.to }, taken, at);
      open.push(part);
      if (part.to === undefined) break;
      at = part.to;
    } else if (holder.to === undefined) break;
    else at = holder.to;
  }
  return open;
}

/** In the same order everywhere, so that two sinks do not deadlock. */
function inParts(open: readonly Wanted[]): readonly (readonly Wanted[])[] {
  const single = open
    .flatMap(({ table, ranges }) => chunks(ranges).map((part) => ({ table, ranges: part })))
    .sort((one, other) => (tableKey(one.table.name) < tableKey(other.table.name) ? -1 : 1));
  const parts: Wanted[][] = [];
  let size = PARTITIONS_PER_TRANSACTION;
  for (const one of single) {
    if (size + one.ranges.length > PARTITIONS_PER_TRANSACTION) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(one);
    size += one.ranges.length;
  }
  return parts;
}

function chunks(ranges: readonly TimeRange[]): readonly (readonly TimeRange[])[] {
  const starts = Array.from({ length: Math.ceil(ranges.length / PARTITIONS_PER_TRANSACTION) }, (_, index) => index);
  return starts.map((start) =>
    ranges.slice(start * PARTITIONS_PER_TRANSACTION, (start + 1) * PARTITIONS_PER_TRANSACTION),
  );
}

function tablesIn(
  answer: readonly (readonly Cell[])[],
  names: readonly TableName[],
  store: KnownStore,
  time: string,
): readonly PartitionedTable[] {
  const found = new Map<string, { name: TableName; time: Column; partitions: StoredPartition[] }>();
  const wanted = new Set(names.map(tableKey));
  for (const [database = "", schema = "", table = "", partSchema = schema, partition, from, to, filler] of answer) {
    const name = { database, schema, table };
    const key = tableKey(name);
    if (!wanted.has(key)) continue;
    const kind = store.tables.kind(name, time) ?? "text";
    const one = found.get(key) ?? { name, time: { name: time, kind }, partitions: [] };
    found.set(key, one);
    if (partition === undefined) continue;
    const stored = { database, schema: partSchema, table: partition };
    one.partitions.push({ name: stored, from: boundary(from), to: boundary(to), isFiller: filler !== undefined });
  }
  for (const { partitions } of found.values())
    partitions.sort((one, other) => ((one.from ?? "") < (other.from ?? "") ? -1 : 1));
  return [...found.values()];
}

/** A midnight as a date, as the sink writes it. */
function boundary(text: Cell): Cell {
  return text?.replace(/ 00:00:00(\.0+)?$/, "");
}
