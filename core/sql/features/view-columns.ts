import type { Context } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { type Cell, type Statement, type TableName, tableKey } from "../contract/statement.js";
import type { TypedColumn, ViewedNames, ViewedTable, ViewSql } from "../contract/views.js";
import { hasPassed, type KnownStore } from "../tables/known-store.js";

/** For the type of a new column. */
const ENOUGH_VALUES = 10;
/** Of which the latest values are looked at. */
const SAMPLED_TABLES = 10;
/** Between two looks at the latest values of a view. */
const CHECK_MILLIS = 3_600_000;
/** Added to the views of history; an attribute of this name is not shown. */
const VIEW_TIME = "deneb_time";

interface ViewColumnsParts {
  readonly store: KnownStore;
  readonly sql: ViewSql;
  readonly names: ViewedNames;
  readonly context: Pick<Context, "now">;
}

/** The columns of a view. */
interface ViewColumnTypes {
  readonly columns: readonly TypedColumn[];
  /** The columns with the types that they have; undefined unless one of them has to become text. */
  readonly kept: readonly TypedColumn[] | undefined;
}

/** Decides the types of the columns of views. */
export class ViewColumns {
  readonly #parts: ViewColumnsParts;
  /** When the latest values of a view were looked at, and at how many tables so far. */
  readonly #checks = new Map<string, { readonly at: number; readonly tables: number }>();

  constructor(parts: ViewColumnsParts) {
    this.#parts = parts;
  }

  /**
   * The columns of the view as they are, then the new ones. A column keeps its type, so that the view can be replaced, until
   * its latest values no longer fit.
   */
  async of(
    view: TableName,
    existing: readonly TypedColumn[],
    tables: readonly ViewedTable[],
    signal: AbortSignal,
  ): Promise<ViewColumnTypes> {
    const { columnKey } = this.#parts.store.dialect;
    const known = existing.filter(({ name }) => name !== VIEW_TIME);
    const added = await this.#added(new Set(existing.map(({ name }) => columnKey(name))), tables, signal);
    const unfit = await this.#unfit(view, known, tables, signal);
    const all = [...known, ...added];
    if (unfit.size === 0) return { columns: all, kept: undefined };
    const type = this.#parts.sql.typeOf([]);
    return { columns: all.map((column) => (unfit.has(column.name) ? { ...column, type } : column)), kept: all };
  }

  async #added(
    known: ReadonlySet<string>,
    tables: readonly ViewedTable[],
    signal: AbortSignal,
  ): Promise<readonly TypedColumn[]> {
    const { sql, store, names } = this.#parts;
    const { columnKey } = store.dialect;
    const spelt = new Map<string, string>();
    const types = new Map<string, string[]>();
    for (const { columns } of tables)
      for (const { name: own, type } of columns) {
        const key = columnKey(own);
        if (known.has(key) || key === columnKey(VIEW_TIME)) continue;
        const name = spelt.get(key) ?? own;
        spelt.set(key, name);
        types.set(name, [...(types.get(name) ?? []), type]);
      }
    const fixed = new Set([names.time, names.id, names.type].map(columnKey));
    const added: { readonly name: string; readonly type: string | undefined }[] = [...types].map(([name, all]) => ({
      name,
      type: sql.common(all) ?? (fixed.has(columnKey(name)) ? "text" : undefined),
    }));
    const open = added.flatMap((column) => (column.type === undefined ? [column.name] : []));
    const texts = await sampled(new Set(open), tables, {
      enough: ENOUGH_VALUES,
      read: async (name, columns) => await store.driver.read([sql.sample(name, columns)], signal),
    });
    return added.map((one) => ({ name: one.name, type: one.type ?? sql.typeOf(texts.get(one.name) ?? []) }));
  }

  /** The columns of which most of the latest values are NULL in the view; once an hour, of some of its tables in turn. */
  async #unfit(
    view: TableName,
    known: readonly TypedColumn[],
    tables: readonly ViewedTable[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const { sql, names, context } = this.#parts;
    const converted = known.filter((column) => isOfTexts(column, tables, sql));
    const now = context.now().getTime();
    const check = this.#checks.get(tableKey(view));
    if (!hasPassed(CHECK_MILLIS, check?.at, now)) return new Set();
    const from = (check?.tables ?? 0) % tables.length;
    this.#checks.set(tableKey(view), { at: now, tables: from + SAMPLED_TABLES });
    if (converted.length === 0) return new Set();
    const inTurn = [...tables.slice(from), ...tables.slice(0, from)].slice(0, SAMPLED_TABLES);
    const texts = await sampled(new Set(converted.map(({ name }) => name)), inTurn, {
      enough: Number.POSITIVE_INFINITY,
      read: async (name, columns) => await this.#latest(name, sql.latest(name, columns, names.time), signal),
    });
    return new Set(converted.flatMap(({ name, type }) => (sql.fits(texts.get(name) ?? [], type) ? [] : [name])));
  }

  /** A look that takes too long is abandoned by the server. */
  async #latest(
    { schema, table }: TableName,
    statements: readonly Statement[],
    signal: AbortSignal,
  ): Promise<readonly (readonly Cell[])[]> {
    const { driver, log } = this.#parts.store;
    try {
      return await driver.read(statements, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const fields = { schema, table, reason: databaseErrorOf(error).message };
      log.warn(fields, "the latest values of a table cannot be compared with its view; indexes = true makes that fast");
      return [];
    }
  }
}

interface Sampling {
  /** A column with that many values is not looked for in further tables. */
  readonly enough: number;
  readonly read: (name: TableName, columns: readonly string[]) => Promise<readonly (readonly Cell[])[]>;
}

async function sampled(
  wanted: ReadonlySet<string>,
  tables: readonly ViewedTable[],
  { enough, read }: Sampling,
): Promise<ReadonlyMap<string, readonly Cell[]>> {
  const texts = new Map<string, Cell[]>();
  for (const { name, columns } of tables) {
    const own = columns.map((column) => column.name).filter((column) => wanted.has(column));
    const few = own.filter((column) => (texts.get(column)?.length ?? 0) < enough);
    if (few.length === 0) continue;
    const rows = await read(name, few);
    few.forEach((column, index) => {
      texts.set(column, [...(texts.get(column) ?? []), ...rows.map((row) => row[index])]);
    });
  }
  return texts;
}

/** Whether a view converts the texts of its tables for this column. */
function isOfTexts({ name, type }: TypedColumn, tables: readonly ViewedTable[], sql: ViewSql): boolean {
  const types = tables.flatMap(({ columns }) => columns.filter((own) => own.name === name).map((own) => own.type));
  return types.length > 0 && sql.common(types) === undefined && type !== sql.typeOf([]);
}
