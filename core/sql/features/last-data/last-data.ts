import { columnName, type Naming, nameLimits, shorten } from "../../../ngsi/index.js";
import type { Column } from "../../contract/column.js";
import type { Dialect } from "../../contract/dialect.js";
import type { MemberChanges, RemovedRows } from "../../contract/last-row.js";
import { RecentMap } from "../../contract/recent-map.js";
import type { SqlConfig } from "../../contract/schema.js";
import { type Cell, joinedRuns, type Statement, type TableName, tableKey } from "../../contract/statement.js";
import { freeTable } from "../../rows/admission.js";
import { overflowColumn } from "../../rows/column-names.js";
import { groupedByTable, type PlacedRow, type TableBatch } from "../../rows/grouping.js";
import { columnLayoutColumns, namesOf, only, type Row, textValue } from "../../rows/layout.js";
import type { FittedRows } from "../../tables/fitting.js";
import { hasPassed, type KnownStore } from "../../tables/known-store.js";
import type { KnownColumns } from "../../tables/known-tables.js";
import { inMicroseconds, instantOf, inUtc } from "./comparable-times.js";
import { refuseNoTime, refuseUnfit, refuseWithout } from "./last-data-refusals.js";
import { MemberOwners } from "./member-owners.js";

const MOST_REMEMBERED = 100_000;
/** Another agent may have added columns to a table: those of members must be known when a row is written. */
const COLUMNS_KNOWN_MILLIS = 60_000;

/** Maintains, beside a table of history, a table with one row for each entity: its last values. */
export class LastData {
  readonly #naming: Naming;
  readonly #dialect: Pick<Dialect, "allowed" | "columnKey" | "database" | "comparesLetters">;
  readonly #suffix: string;
  /** The columns that identify an entity. */
  readonly #entityKey: readonly string[];
  /** The columns that identify a row. */
  readonly #key: readonly string[];
  readonly #time: string;
  readonly #timeFormat: string | undefined;
  /** Whether times are texts of ISO 8601, which databases without a type for them compare letter by letter. */
  readonly #comparesTexts: boolean;
  /** Whether the time is that of reception, which this sink writes itself. */
  readonly #ownTime: boolean;
  /** Whether it is in milliseconds, as text in tables of NGSI v2. */
  readonly #isInMillis: boolean;
  /** The columns of a row that deletes an entity: what an entity has is not added to the table by its deletion. */
  readonly #identifying: ReadonlySet<string> | undefined;
  readonly #memberOwners: MemberOwners;
  /** For a list of columns of rows, the last plan: most rows of a batch share it. */
  readonly #plans = new WeakMap<readonly string[], Plan>();
  /** When the columns of a table were looked up. */
  readonly #lookedUp = new RecentMap<number>(MOST_REMEMBERED);

  constructor(
    config: SqlConfig,
    naming: Naming,
    dialect: Pick<Dialect, "allowed" | "columnKey" | "database" | "comparesLetters">,
  ) {
    this.#naming = naming;
    this.#dialect = dialect;
    this.#suffix = config.last_data_table_suffix;
    this.#entityKey = config.last_data_unique_key.map((column) => columnName(column, naming));
    this.#key = [
      ...this.#entityKey,
      ...columnsOfRows[config.attr_persistence].map((column) => columnName(column, naming)),
    ];
    this.#time = columnName(config.last_data_timestamp_key, naming);
    this.#timeFormat = config.last_data_sql_timestamp_format || undefined;
    this.#comparesTexts = this.#timeFormat === undefined && !config.attr_native_types;
    this.#isInMillis = config.attr_persistence === "row" && columnName("recvTimeTs", naming) === this.#time;
    this.#ownTime = ["recvTime", "recvTimeTs"].some((column) => columnName(column, naming) === this.#time);
    const fixed = namesOf([...columnLayoutColumns.ld, ...columnLayoutColumns.v2], naming);
    this.#identifying =
      config.attr_persistence === "column" ? new Set([...fixed, ...this.#key, this.#time]) : undefined;
    this.#memberOwners = new MemberOwners(naming, dialect.columnKey);
  }

  /**
   * The rows as tables of last data have them, typed times in microseconds. Throws `LAST_DATA_INCOMPLETE` for a row without key or
   * time; a removal needs no time.
   */
  rows(rows: readonly PlacedRow[]): readonly PlacedRow[] {
    return rows.map((row) => {
      for (const column of row.removed ? this.#key : [...this.#key, this.#time]) refuseWithout(column, row);
      const name = this.#nameBeside(row.name);
      const comparable = this.#comparable(row);
      return row.removed ? { ...this.#identified(comparable), name } : { ...this.#owned(comparable), name };
    });
  }

  #comparable(row: PlacedRow): PlacedRow {
    const isInUtc = this.#timeFormat === undefined && this.#dialect.comparesLetters === true;
    const given = isInUtc ? inUtc(row, this.#time) : row;
    return this.#comparesTexts ? given : inMicroseconds(given, this.#time);
  }

  #identified(row: PlacedRow): PlacedRow {
    const kept = this.#identifying;
    if (kept === undefined) return row;
    const isKept = (_: unknown, index: number) => kept.has(row.columns[index] ?? "");
    return {
      ...row,
      columns: row.columns.filter(isKept),
      cells: row.cells.filter(isKept),
      values: only(() => row.values().filter(isKept)),
      attributes: [],
    };
  }

  #owned(row: PlacedRow): PlacedRow {
    const { columns, cells } = this.#memberOwners.owned(row);
    if (cells.length === 0) return row;
    const all = only(() => [...row.values(), ...cells.map(textValue)]);
    const values: Row["values"] = (column) => (isOf(row, column) ? row.values(column) : all(column));
    return { ...row, columns, cells: [...row.cells, ...cells], values };
  }

  /** Has the columns of tables looked up again from time to time. */
  refresh(tables: readonly TableBatch[], { tables: known }: KnownStore, now: Date): void {
    for (const { name, key, placed } of tables) {
      if (key.length === 0 || placed.every(({ attributes }) => attributes.length === 0)) continue;
      if (!hasPassed(COLUMNS_KNOWN_MILLIS, this.#lookedUp.get(tableKey(name)), now.getTime())) continue;
      this.#lookedUp.set(tableKey(name), now.getTime());
      known.forget(name);
    }
  }

  /**
   * The rows by table, with tables and entities in the same order everywhere, so that two sinks that change the same
   * rows do not deadlock. The rows of one entity stay in the order of arrival.
   */
  batches(rows: readonly PlacedRow[]): readonly TableBatch[] {
    const keyed = rows.map((row) => ({ row, key: this.#orderOf(row) }));
    const ordered = keyed.sort(({ key: one }, { key: other }) => compare(one, other)).map(({ row }) => row);
    return groupedByTable(ordered, this.#dialect.columnKey).map((batch) => ({ ...batch, key: this.#key }));
  }

  /**
   * In order of arrival: a row that is newer than the stored one replaces it, a row of a removed entity deletes it, and
   * what is older than a deletion of the same batch does not bring the entity back.
   */
  statements({ placed }: TableBatch, fitted: FittedRows, store: KnownStore): readonly Statement[] {
    const removals = new Map<string, Instant>();
    const statements = placed.flatMap((row, index) => {
      const cells = fitted.rows[index] ?? [];
      if (row.removed) {
        noteRemoval(removals, this.#orderOf(row), this.#instantOf(row));
        return this.#removal(row, fitted, cells, store);
      }
      const removedAt = removals.size === 0 ? undefined : removals.get(this.#orderOf(row));
      if (removedAt !== undefined && isEarlier(this.#instantOf(row), removedAt)) return [];
      return this.#upsert(row, fitted, cells, store);
    });
    return joinedRuns(statements);
  }

  #instantOf({ columns, cells }: PlacedRow): Instant {
    return instantOf(cells[columns.indexOf(this.#time)] ?? "");
  }

  #upsert(row: PlacedRow, fitted: FittedRows, cells: readonly Cell[], store: KnownStore): Statement {
    const { from, columns, members, time, needed } = this.#planned(row, fitted, store);
    for (const { column, at } of needed) if (cells[at] === undefined) refuseUnfit(column, row);
    this.#refuseNoTime(time, row);
    return store.dialect.upsert({
      name: fitted.name,
      columns,
      cells: from.map((at) => (at === undefined ? undefined : cells[at])),
      key: this.#key,
      time,
      timeFormat: this.#timeFormat,
      members,
    });
  }

  #planned(row: PlacedRow, fitted: FittedRows, store: KnownStore): Plan {
    const known = store.tables.columns(fitted.name);
    const last = this.#plans.get(row.columns);
    if (last !== undefined && last.fitted === fitted.columns && last.known === known) return last;

    const beside = row.columns.map((column) => overflowColumn(column, this.#naming));
    const { columnKey: keyOf } = this.#dialect;
    // The table may have a column by another spelling of its name.
    const named = new Set([...row.columns, ...beside].map(keyOf));
    const own = [...fitted.columns.entries()].filter(([, column]) => named.has(keyOf(column.name)));
    const given = new Set(own.map(([, column]) => keyOf(column.name)));
    // An overflow value of an earlier row must not remain.
    const emptied = beside.filter(
      (column) => !given.has(keyOf(column)) && store.tables.kind(fitted.name, column) !== undefined,
    );
    const plan = {
      fitted: fitted.columns,
      known,
      columns: [...own.map(([, column]) => column), ...emptied.map((name) => ({ name, kind: "text" }) as const)],
      from: [...own.map(([at]) => at), ...emptied.map(() => undefined)],
      members: this.#memberOwners.changes(row, known, [...this.#key, this.#time]),
      time: this.#timeColumn(fitted),
      needed: own
        .filter(([, { name }]) => name === this.#time || this.#key.includes(name))
        .map(([at, column]) => ({ at, column })),
    };
    this.#plans.set(row.columns, plan);
    return plan;
  }

  #refuseNoTime(time: Column, row: PlacedRow): void {
    if (time.kind === "text" && this.#timeFormat === undefined && !this.#ownTime) refuseNoTime(this.#time, row);
  }

  #removal(row: PlacedRow, fitted: FittedRows, stored: readonly Cell[], { dialect }: KnownStore): Statement {
    const { name, columns } = fitted;
    const cellOf = (wanted: string) => stored[columns.findIndex((column) => column.name === wanted)];
    const rows = { name, key: this.#entityKey, cells: this.#entityKey.map(cellOf) };
    if (row.cells[row.columns.indexOf(this.#time)] === undefined) return dialect.remove(rows);
    const time = this.#timeColumn(fitted);
    const cell = cellOf(this.#time);
    if (cell === undefined) refuseUnfit(time, row);
    this.#refuseNoTime(time, row);
    const until: RemovedRows["until"] = { time, cell, timeFormat: this.#timeFormat };
    return dialect.remove({ ...rows, until });
  }

  #timeColumn({ columns }: FittedRows): Column {
    const { name, kind } = columns.find((column) => column.name === this.#time) ?? { name: this.#time, kind: "text" };
    // Milliseconds are as long as each other, and no database reads them as a time: they are compared as they are.
    return { name, kind: kind === "text" && this.#isInMillis ? "longtext" : kind };
  }

  #orderOf({ name, columns, cells }: PlacedRow): string {
    return [tableKey(name), ...this.#entityKey.map((column) => cells[columns.indexOf(column)] ?? "")].join("\0");
  }

  #nameBeside(name: TableName): TableName {
    const table = shorten(`${name.table}${this.#suffix}`, nameLimits[this.#naming.database]);
    return freeTable({ ...name, table }, this.#dialect);
  }
}

/** The columns that identify the rows of one entity. */
const columnsOfRows = { column: [], row: ["attrName"] } as const satisfies Record<
  SqlConfig["attr_persistence"],
  readonly string[]
>;

/** How the rows with a list of columns are written. */
interface Plan {
  /** What it was made for. */
  readonly fitted: readonly Column[];
  readonly known: KnownColumns | undefined;
  readonly columns: readonly Column[];
  /** Where the cell of each column stands in a converted row; undefined for NULL. */
  readonly from: readonly (number | undefined)[];
  readonly members: MemberChanges | undefined;
  readonly time: Column;
  /** The columns of the key and the time, and where their cells stand in a converted row. */
  readonly needed: readonly { readonly at: number; readonly column: Column }[];
}

type Instant = ReturnType<typeof instantOf>;

function noteRemoval(removals: Map<string, Instant>, entity: string, time: Instant): void {
  const before = removals.get(entity);
  if (before === undefined || time === undefined || time >= before) removals.set(entity, time);
}

/** Whether both are known, and the first one is earlier. */
function isEarlier(one: Instant, other: Instant): boolean {
  return one !== undefined && other !== undefined && one < other;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Whether a column of the row alone is asked for. */
function isOf({ columns }: Row, column: number | undefined): boolean {
  return column !== undefined && column < columns.length;
}
