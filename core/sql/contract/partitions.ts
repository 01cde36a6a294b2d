import type { Column, TableIndex } from "./column.js";
import type { DatabaseError } from "./database-error.js";
import type { Statement, TableName } from "./statement.js";

/** The lengths of time that a partition may cover. @beta */
export const periods = ["day", "week", "month", "year"] as const;

/** The length of time that a partition covers. @beta */
export type Period = (typeof periods)[number];

/**
 * The times from `from` up to and without `to`, as text that sorts as the times do: `2020-05-13`. Absent: unbounded.
 * @beta
 */
export interface TimeRange {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** A partition that exists. @beta */
export interface StoredPartition extends TimeRange {
  /** Where it is and what it is called; in MySQL the name of the partition stands for that of the table. */
  readonly name: TableName;
  /** It takes what no other partition takes, so a partition for a part of its range can still be made. */
  readonly isFiller: boolean;
}

/** A partitioned table. @beta */
export interface PartitionedTable {
  readonly name: TableName;
  readonly time: Column;
  /** In the order of their times. */
  readonly partitions: readonly StoredPartition[];
}

/** How a table is created: with partitions of these ranges, or as a hypertable of TimescaleDB. @beta */
export interface Partitioning {
  readonly time: Column;
  readonly ranges: readonly TimeRange[];
  /** The length of a chunk; undefined where the database itself is to have the partitions. */
  readonly hypertable: Period | undefined;
}

/** A plain table to be partitioned; rows before `until` stay where they are, in one partition. @beta */
export interface PartitionConversion {
  readonly name: TableName;
  readonly time: Column;
  readonly until: string;
  /** This period and the next ones; `until` is the end of one of them. */
  readonly ranges: readonly TimeRange[];
  readonly indexes: readonly TableIndex[];
}

/** One step of a conversion. Each may be repeated. @beta */
export interface ConversionStep {
  readonly what: string;
  readonly statements: readonly Statement[];
  /** It cannot run in a transaction, or takes as long as the table is large. */
  readonly isLong: boolean;
}

/** The statements of a database with partitions by ranges of a time column. @beta */
export interface PartitionStatements {
  /** Whether a partition is a table, so that single rows can be deleted from it. */
  readonly areTables: boolean;
  /** The row belongs to no partition, or is outside of what an unfinished conversion lets in. */
  missing(error: DatabaseError): boolean;
  /**
   * Selects database, schema and table, the schema and name of a partition, its bounds, and `filler` or NULL: of those
   * of these tables that are partitioned by this column. A table without partitions has one row with NULL for them.
   */
  list(tables: readonly TableName[], time: string): readonly Statement[];
  /** Makes partitions. `attempt` chooses another name when one is taken by a table that is no partition any more. */
  add(table: PartitionedTable, ranges: readonly TimeRange[], attempt: number): readonly Statement[];
  /** Removes partitions with their rows, unless another process uses the table for longer than a moment. */
  drop(table: PartitionedTable, expired: readonly StoredPartition[]): readonly Statement[];
  /** Selects a reason for each of these tables that cannot be converted, and its first and last time. */
  convertible(name: TableName, time: Column): Statement;
  /** The steps that partition a plain table. */
  convert(conversion: PartitionConversion): readonly ConversionStep[];
  /** Creates indexes of a partitioned table and of its partitions; like `createIndexes` of the dialect. */
  createIndexes(table: PartitionedTable, indexes: readonly TableIndex[]): readonly Statement[];
  /** Takes back what an unfinished conversion changed; does nothing for other tables. */
  release(name: TableName): readonly Statement[];
  /** Selects database, schema and table of those of these tables that are hypertables; absent where there are none. */
  readonly hypertables?: (tables: readonly TableName[]) => readonly Statement[];
  /** What an operator runs to make a hypertable of a plain table while nothing writes to it. */
  readonly hypertableRemedy?: (name: TableName, time: Column, period: Period) => string;
  /** Creates indexes of a hypertable; like `createIndexes` of the dialect. */
  readonly hypertableIndexes?: (name: TableName, indexes: readonly TableIndex[]) => readonly Statement[];
  /** Drops the chunks of a hypertable that are older than the time. */
  readonly dropChunks?: (name: TableName, time: Column, before: string) => Statement;
}
