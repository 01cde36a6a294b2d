import {
  type Column,
  type PartitionConversion,
  type PartitionedTable,
  type Partitioning,
  type PartitionStatements,
  plain,
  type Statement,
  type StoredPartition,
  type TableIndex,
  type TimeRange,
} from "deneb/sql";
import { path, quoted } from "./statements.js";

// Others wait behind this statement, so it waits for a second only; MySQL and MariaDB have no time-out for one statement in
// common. It ends with the session setting of the server, or fails and is tried again.
const LOCK_WAIT = "SET SESSION lock_wait_timeout = 1";
const LOCK_WAIT_OF_SERVER = "SET SESSION lock_wait_timeout = DEFAULT";

/**
 * A table has no gaps: between partitions, and before the first one, are fillers with the prefix `before_`. They take
 * late rows and are split when a partition for a part of them is made. Rows after the last partition are refused, and
 * then it is made.
 */
export const mysqlPartitions: PartitionStatements = {
  areTables: false,
  missing: ({ code }) => code === "ER_NO_PARTITION_FOR_GIVEN_VALUE",
  list: (tables, time) => {
    const [first] = tables;
    if (first === undefined) return [];
    const text = `
      SELECT one, one, name, one, part, ${plainBound("lower_bound")}, ${plainBound("upper_bound")}, filler FROM (
        SELECT table_schema AS one, table_name AS name, partition_name AS part,
          LAG(partition_description) OVER
            (PARTITION BY table_schema, table_name ORDER BY partition_ordinal_position) AS lower_bound,
          partition_description AS upper_bound,
          CASE WHEN partition_name LIKE 'before#_%' ESCAPE '#' THEN 'filler' END AS filler
        FROM information_schema.partitions
        WHERE partition_method = 'RANGE COLUMNS' AND replace(replace(partition_expression, '\`', ''), '"', '') = ?
          AND (table_schema, table_name) IN (${tables.map(() => "(?, ?)").join(", ")})) AS bounds`;
    const runs = [[time, ...tables.flatMap(({ schema, table }) => [schema, table])]];
    return [{ at: first, text, runs }];
  },
  add: added,
  drop: ({ name, partitions }, expired) => {
    const gone = expired.length < partitions.length ? expired : expired.slice(0, -1);
    const last = expired.length < partitions.length ? [] : expired.slice(-1);
    return [
      plain(name, LOCK_WAIT),
      ...(gone.length === 0 ? [] : [plain(name, `ALTER TABLE ${path(name)} DROP PARTITION ${namesOf(gone)}`)]),
      // A table must keep one partition.
      ...(last.length === 0 ? [] : [plain(name, `ALTER TABLE ${path(name)} TRUNCATE PARTITION ${namesOf(last)}`)]),
      plain(name, LOCK_WAIT_OF_SERVER),
    ];
  },
  convertible: (name) => ({
    at: name,
    text: `
      SELECT CASE WHEN table_type = 'SYSTEM VERSIONED' THEN 'it is system-versioned'
        WHEN table_type <> 'BASE TABLE' THEN 'it is not a table'
        WHEN create_options LIKE '%partitioned%' THEN 'it is partitioned by something else' END
      FROM information_schema.tables WHERE table_schema = ? AND table_name = ?`,
    runs: [[name.schema, name.table]],
  }),
  convert: ({ name, time, ranges, indexes }: PartitionConversion) => [
    {
      what: "the table is copied into partitions",
      isLong: true,
      statements: [
        plain(
          name,
          `ALTER TABLE ${path(name)} ${[
            `MODIFY ${timeDefinition(time)}`,
            ...indexes.map((index) => `ADD ${indexText(index, time.name)}`),
          ].join(", ")}${partitionClause({ time, ranges, hypertable: undefined })}`,
        ),
      ],
    },
  ],
  createIndexes: ({ name, time }, indexes) =>
    indexes.map((index) => plain(name, `ALTER TABLE ${path(name)} ADD ${indexText(index, time.name)}`)),
  release: () => [],
};

// Of a text only the beginning is in the index.
const MOST_CHARACTERS_OF_AN_INDEX = 190;

/** A part of a definition; `partitionedBy` is a text column that is short. */
export function indexText({ name, columns }: TableIndex, partitionedBy?: string): string {
  const parts = columns.map((column) =>
    column.kind === "text" && column.name !== partitionedBy
      ? `${quoted(column.name)}(${MOST_CHARACTERS_OF_AN_INDEX})`
      : quoted(column.name),
  );
  return `INDEX ${quoted(name)} (${parts.join(", ")})`;
}

/** A text column cannot be the key of partitions; of a time it needs no more. */
export function timeDefinition({ name, kind }: Column): string {
  return kind === "time" ? `${quoted(name)} datetime(6)` : `${quoted(name)} varchar(40) COLLATE utf8mb4_bin`;
}

/** The partitions of a new table. */
export function partitionClause({ time, ranges }: Partitioning): string {
  const { pieces } = piecesFrom(undefined, ranges);
  return ` PARTITION BY RANGE COLUMNS(${quoted(time.name)}) (${pieces.join(", ")})`;
}

/**
 * One statement for the ranges after the last partition, and one for each filler that is split: each takes about as long as
 * one for a single partition.
 */
function added({ name, partitions }: PartitionedTable, ranges: readonly TimeRange[]): readonly Statement[] {
  const last = partitions.at(-1);
  const behind: TimeRange[] = [];
  const inFillers = new Map<StoredPartition, TimeRange[]>();
  for (const range of [...ranges].sort(byBeginning)) {
    const around = partitions.find((one) => one.isFiller && one.to !== undefined && isWithin(range, one));
    if (around !== undefined) inFillers.set(around, [...(inFillers.get(around) ?? []), range]);
    else if (last === undefined || isAfter(range, last)) behind.push(range);
  }
  const splits = [...inFillers].map(([filler, parts]) => {
    const { pieces, end } = piecesFrom(filler.from, parts);
    const rest = end === filler.to || filler.to === undefined ? [] : [fillerText(filler.to)];
    const text = `REORGANIZE PARTITION ${namesOf([filler])} INTO (${[...pieces, ...rest].join(", ")})`;
    return plain(name, `ALTER TABLE ${path(name)} ${text}`);
  });
  const { pieces } = piecesFrom(last?.to, behind);
  const addition = plain(name, `ALTER TABLE ${path(name)} ADD PARTITION (${pieces.join(", ")})`);
  return pieces.length === 0 ? splits : [...splits, addition];
}

/** Partitions for these ranges in order, with fillers between them, and where the last one ends. */
function piecesFrom(
  begin: string | undefined,
  ranges: readonly TimeRange[],
): { readonly pieces: readonly string[]; readonly end: string | undefined } {
  const pieces: string[] = [];
  let end = begin;
  for (const range of ranges) {
    if (range.from !== undefined && range.from !== end) pieces.push(fillerText(range.from));
    pieces.push(partitionText(range));
    end = range.to;
  }
  return { pieces, end };
}

function byBeginning({ from: one = "" }: TimeRange, { from: other = "" }: TimeRange): number {
  return one < other ? -1 : Number(one > other);
}

/** Late rows are in a filler already. */
function isAfter({ to }: TimeRange, last: StoredPartition): boolean {
  return last.to !== undefined && (to === undefined || to > last.to);
}

function isWithin({ from = "", to }: TimeRange, filler: TimeRange): boolean {
  return (filler.from ?? "") <= from && to !== undefined && (filler.to === undefined || to <= filler.to);
}

function partitionText({ from, to }: TimeRange): string {
  if (to === undefined) return "PARTITION late VALUES LESS THAN (MAXVALUE)";
  const name = from === undefined ? "early" : `p${underscored(from)}`;
  return `PARTITION ${quoted(name)} VALUES LESS THAN ('${boundary(to)}')`;
}

function fillerText(to: string): string {
  return `PARTITION ${quoted(`before_${underscored(to)}`)} VALUES LESS THAN ('${boundary(to)}')`;
}

/** Bounds are dates of the sink, or what the server said about its partitions. */
function boundary(date: string): string {
  return date.replaceAll(/[^\d:. T-]/g, "");
}

function underscored(date: string): string {
  return date.replaceAll(/\D/g, "_");
}

function namesOf(partitions: readonly StoredPartition[]): string {
  return partitions.map(({ name }) => quoted(name.table)).join(", ");
}

/** The server writes bounds as literals, and MAXVALUE. */
function plainBound(column: string): string {
  return `CASE WHEN ${column} = 'MAXVALUE' THEN NULL ELSE replace(${column}, '''', '') END`;
}
