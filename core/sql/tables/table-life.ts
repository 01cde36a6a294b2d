import { columnName, type Naming, nameLimits, shorten } from "../../ngsi/index.js";
import type { Context } from "../../sdk/index.js";
import type { Column, TableIndex } from "../contract/column.js";
import type { Dialect, TableDefinition } from "../contract/dialect.js";
import type { Period, TimeRange } from "../contract/partitions.js";
import type { SqlConfig } from "../contract/schema.js";
import { type TableName, tableKey } from "../contract/statement.js";
import type { TableBatch } from "../rows/grouping.js";
import { columnLayoutColumns } from "../rows/layout.js";
import type { FittedRows } from "./fitting.js";
import { rangeAt, rangesOf } from "./periods.js";

/** For tables whose partitions were made by an earlier configuration. */
const PERIOD_WITHOUT_CONFIGURATION: Period = "month";

// `-database` and `-database-schema` name the same tables in other places.
const ONE_ENTITY = /^dm-by-entity(-database(-schema)?)?$/;

interface TableLifeParts {
  readonly naming: Naming;
  readonly dialect: Dialect;
  readonly context: Pick<Context, "now">;
}

/** How the configuration wants tables of history to be: their partitions and indexes. */
export class TableLife {
  /** The column of the time of reception. */
  readonly time: string;
  /** Undefined if new tables are plain. */
  readonly period: Period | undefined;
  readonly #entity: string | undefined;
  /** Whether partitioned tables are hypertables of TimescaleDB. */
  readonly hypertables: boolean;
  /** Whether tables of history have indexes. */
  readonly indexed: boolean;
  readonly #parts: TableLifeParts;

  constructor(config: SqlConfig, parts: TableLifeParts) {
    const [time, entity] = columnLayoutColumns.ld;
    this.#parts = parts;
    this.time = columnName(time, parts.naming);
    this.#entity = ONE_ENTITY.test(parts.naming.dataModel) ? undefined : columnName(entity, parts.naming);
    this.period = config.partition === "none" || parts.dialect.partitions === undefined ? undefined : config.partition;
    this.hypertables = config.timescaledb;
    this.indexed = config.indexes;
  }

  now(): number {
    return this.#parts.context.now().getTime();
  }

  /** The definition of a new table for these rows. Tables of last data are never partitioned. */
  definition(table: FittedRows): TableDefinition {
    if (table.key.length > 0) return table;
    const { period } = this;
    const time = table.columns.find(({ name }) => name === this.time);
    const indexes = this.indexes(table.name, table.columns);
    if (period === undefined || time === undefined) return indexes.length === 0 ? table : { ...table, indexes };
    // Whether the column is typed follows from the layout: the one of rows keeps the time as text.
    const hypertable = this.hypertables && time.kind === "time" ? period : undefined;
    return {
      ...table,
      indexes,
      partitioning: {
        time,
        ranges: this.rangesOfRows(
          timesOf({ columns: table.columns.map(({ name }) => name), rows: table.rows }, time.name),
        ),
        hypertable,
      },
    };
  }

  /** The indexes that a table of history with these columns is meant to have. */
  indexes(name: TableName, columns: readonly Column[]): readonly TableIndex[] {
    if (!this.indexed) return [];
    const { columnKey } = this.#parts.dialect;
    const column = (wanted: string): Column | undefined => {
      const found = columns.find((one) => columnKey(one.name) === columnKey(wanted));
      return found === undefined ? undefined : { name: wanted, kind: found.kind };
    };
    const time = column(this.time);
    const entity = this.#entity === undefined ? undefined : column(this.#entity);
    if (time === undefined) return [];
    return [
      { name: this.#indexName(name, "_time"), columns: [time] },
      ...(entity === undefined ? [] : [{ name: this.#indexName(name, "_entity"), columns: [entity, time] }]),
    ];
  }

  /** The ranges that rows with these times need. */
  rangesOfRows(times: readonly string[]): readonly TimeRange[] {
    const period = this.period ?? PERIOD_WITHOUT_CONFIGURATION;
    const days = new Set(times.map((time) => time.slice(0, "2020-05-13".length)));
    return distinct([...days].flatMap((day) => rangesOf(day, period)));
  }

  rangeNow(): TimeRange {
    return rangeAt(this.now(), this.period ?? PERIOD_WITHOUT_CONFIGURATION);
  }

  rangeAt(epochMillis: number): TimeRange {
    return rangeAt(epochMillis, this.period ?? PERIOD_WITHOUT_CONFIGURATION);
  }

  /** A name that no sender can choose for a table. */
  #indexName({ table }: TableName, suffix: string): string {
    const { length } = nameLimits.postgresql;
    return `deneb_${shorten(table, length - "deneb_".length - suffix.length)}${suffix}`;
  }
}

/** The times of the rows of a table, as text of either API. */
export function timesOf({ columns, rows }: Pick<TableBatch, "columns" | "rows">, time: string): readonly string[] {
  const index = columns.indexOf(time);
  return rows.map((row) => row[index] ?? "");
}

function distinct(ranges: readonly TimeRange[]): readonly TimeRange[] {
  const byStart = new Map(ranges.map((range) => [`${range.from} ${range.to}`, range]));
  return [...byStart.values()].sort((one, other) => ((one.from ?? "") < (other.from ?? "") ? -1 : 1));
}

/** Tables that were written to since the last look, to make partitions ahead of time for those only. */
export class WrittenTables {
  readonly #names = new Map<string, TableName>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(name: TableName): void {
    if (this.#names.size < this.#most) this.#names.set(tableKey(name), name);
  }

  /** Forgets them too. */
  take(): readonly TableName[] {
    const names = [...this.#names.values()];
    this.#names.clear();
    return names;
  }
}
