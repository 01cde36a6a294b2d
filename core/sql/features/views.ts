import { createHash } from "node:crypto";
import { columnName } from "../../ngsi/index.js";
import { FailureLog } from "../../sdk/failure-log.js";
import type { Context } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "../contract/statement.js";
import type { EntityViews, TypedColumn, ViewedNames, ViewedTable, ViewSql } from "../contract/views.js";
import { columnLayoutColumns, namesOf, rowLayoutColumns } from "../rows/layout.js";
import type { KnownStore } from "../tables/known-store.js";
import { type ListedType, listedTypes } from "../tables/listed-types.js";
import type { TableFacts } from "../tables/table-facts.js";
import { ViewColumns } from "./view-columns.js";
import { viewNames } from "./view-names.js";

const DELAY_MILLIS = 3000;
/** After a failure, doubled after each further one. */
const FIRST_PAUSE_MILLIS = 10_000;
const LONGEST_PAUSE_MILLIS = 600_000;

interface ViewsParts {
  readonly store: KnownStore;
  readonly sql: ViewSql;
  readonly context: Pick<Context, "name" | "now">;
  /** Writes the facts that the views are made from. */
  readonly flushFacts: (signal: AbortSignal) => Promise<void>;
}

/** Keeps the views of each entity type: in the background, some seconds after tables or columns are new. */
export class Views {
  readonly #parts: ViewsParts;
  readonly #names: ViewedNames;
  readonly #columns: ViewColumns;
  readonly #changed = new Map<string, SchemaName>();
  /** By schema. */
  readonly #failures = new Map<string, FailureLog>();
  /** What the views of a type were last made from, as `sourceOf` tells it. */
  readonly #made = new Map<string, string>();
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #pauseMillis = FIRST_PAUSE_MILLIS;
  #working: Promise<void> = Promise.resolve();

  constructor(parts: ViewsParts) {
    this.#parts = parts;
    const { naming } = parts.store;
    const named = (column: string) => columnName(column, naming);
    const [time, id, type] = columnLayoutColumns.ld.map(named);
    const others = ["notifiedAt", "subscriptionId", "sequence"];
    this.#names = {
      time: time ?? "",
      id: id ?? "",
      type: type ?? "",
      attribute: named("attrName"),
      value: named("attrValue"),
      fixed: new Set(namesOf([...columnLayoutColumns.v2, ...rowLayoutColumns, ...others], naming)),
    };
    this.#columns = new ViewColumns({ ...parts, names: this.#names });
  }

  /** Notes that tables or columns of a schema are new. */
  changed({ database, schema }: SchemaName): void {
    this.#changed.set(schemaKey({ database, schema }), { database, schema });
    this.#wait(DELAY_MILLIS);
  }

  /** Makes and replaces what has changed now. A failure is only logged, and tried again. */
  async flush(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#working = this.#working.then(() => this.#refreshAll(signal));
    await this.#working;
  }

  /** What has changed meanwhile is done after the next start. */
  async stop(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#working;
  }

  #wait(millis: number): void {
    if (this.#ending.signal.aborted) return;
    this.#timer ??= setTimeout(() => void this.flush(this.#ending.signal), millis).unref();
  }

  async #refreshAll(signal: AbortSignal): Promise<void> {
    const changed = [...this.#changed.values()];
    this.#changed.clear();
    if (changed.length === 0) return;
    await this.#parts.flushFacts(signal);
    for (const schema of changed) {
      if (signal.aborted) return;
      try {
        await this.#refresh(schema, signal);
        this.#pauseMillis = FIRST_PAUSE_MILLIS;
        this.#failures.get(schemaKey(schema))?.works({ schema: schema.schema });
        this.#failures.delete(schemaKey(schema));
      } catch (error) {
        this.#failed(schema, error, signal);
      }
    }
  }

  #failed(schema: SchemaName, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const known = this.#failures.get(schemaKey(schema));
    const failures = known ?? new FailureLog(this.#parts.store.log, "views are up to date again");
    this.#failures.set(schemaKey(schema), failures);
    const fields = { schema: schema.schema, seconds: this.#pauseMillis / 1000 };
    const message = "views are not up to date, will be tried again";
    failures.failed("warn", new Error(databaseErrorOf(error).message), { message, fields });
    this.#changed.set(schemaKey(schema), schema);
    this.#wait(this.#pauseMillis);
    this.#pauseMillis = Math.min(this.#pauseMillis * 2, LONGEST_PAUSE_MILLIS);
  }

  async #refresh(schema: SchemaName, signal: AbortSignal): Promise<void> {
    const { store, context } = this.#parts;
    const listed = await listedTypes(schema, { sink: context.name, store }, signal);
    const names = viewNames(listed.map(({ entityType }) => entityType));
    for (const [entityType, { all, latest, tidy }] of names) {
      // Tables are altered in this order too: then no reader blocks a writer that blocks it.
      const own = listed.filter((table) => table.entityType === entityType).sort(byName);
      const named = (table: string) => ({ ...schema, table });
      const target = { at: schema, entityType, all: named(all), latest: named(latest), tidy: named(tidy) };
      await this.#refreshType(target, own, signal);
    }
  }

  async #refreshType(target: Target, own: readonly ListedType[], signal: AbortSignal): Promise<void> {
    const { store, sql } = this.#parts;
    const { entityType, at } = target;
    const histories = own.filter(({ kind }) => kind === "history").map(({ name }) => name);
    const last = own.filter(({ kind }) => kind === "last data").map(({ name }) => name);
    if (histories.length === 0) return;
    if (histories.length > sql.mostTables) {
      if (this.#isMade(target, "too many")) return;
      await store.driver.write(sql.drop(target), signal);
      store.log.warn(
        { schema: at.schema, type: entityType, tables: histories.length, limit: sql.mostTables },
        "an entity type has too many tables for a view; data_model = dm-by-entity-type stores it in one",
      );
      return;
    }
    const columns = await columnsOf([...histories, ...last, target.all], this.#parts, signal);
    const { columnKey } = store.dialect;
    const isSame = (one: string, other: string) => columnKey(one) === columnKey(other);
    const tables = (names: readonly TableName[]) =>
      names.flatMap((name): readonly ViewedTable[] => {
        const found = columns.get(keyOf(name)) ?? [];
        return found.some((column) => isSame(column.name, this.#names.type)) ? [{ name, columns: found }] : [];
      });
    const viewed = { histories: tables(histories), lastData: last.length < histories.length ? [] : tables(last) };
    if (viewed.histories.length === 0) return;
    const existing = columns.get(keyOf(target.all)) ?? [];
    const typed = await this.#columns.of(target.all, existing, viewed.histories, signal);
    const views = { ...target, ...viewed, names: this.#names, columns: typed.columns };
    if (typed.kept !== undefined && (await this.#remake(views, signal))) return;
    const kept = { ...views, columns: typed.kept ?? typed.columns };
    const source = sourceOf(kept);
    // Somebody may have dropped it.
    if (this.#isMade(target, source) && columns.has(keyOf(target.all))) return;
    this.#made.delete(tableKey(target.all));
    for (const statements of sql.define(kept)) await store.driver.write(statements, signal);
    this.#made.set(tableKey(target.all), source);
  }

  /** Makes views whose columns have changed their types; false if that failed, which another view over them may cause. */
  async #remake(views: EntityViews, signal: AbortSignal): Promise<boolean> {
    const { store, sql } = this.#parts;
    const fields = { schema: views.at.schema, view: views.all.table };
    try {
      const rights = sql.rights === undefined ? [] : await store.driver.read([sql.rights(views)], signal);
      const steps = sql.remake === undefined ? sql.define(views) : [sql.remake(views, rights)];
      for (const statements of steps) await store.driver.write(statements, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const { message: reason } = databaseErrorOf(error);
      store.log.warn(
        { ...fields, reason },
        "a column of a view keeps a type that its latest values do not fit: NULL is shown for them",
      );
      return false;
    }
    this.#made.set(tableKey(views.all), sourceOf(views));
    store.log.info(fields, "a column of a view is text now, because its latest values do not fit its type");
    return true;
  }

  #isMade({ all }: Target, source: string): boolean {
    const same = this.#made.get(tableKey(all)) === source;
    this.#made.set(tableKey(all), source);
    return same;
  }
}

/** The views of a sink; undefined where its database does not offer them. */
export function viewsOf(store: KnownStore, context: Context, facts: Pick<TableFacts, "flush">): Views | undefined {
  const sql = store.dialect.views;
  return sql === undefined
    ? undefined
    : new Views({ store, sql, context, flushFacts: (signal) => facts.flush(signal) });
}

const byName = ({ name: { table: a } }: ListedType, { name: { table: b } }: ListedType) => (a < b ? -1 : 1);

type Target = Pick<EntityViews, "at" | "entityType" | "all" | "latest" | "tidy">;

/** Tells what views are made from: a hash, because they may be over hundreds of tables each. */
function sourceOf({ columns, histories, lastData }: EntityViews): string {
  return createHash("sha256")
    .update(JSON.stringify([columns, histories, lastData]))
    .digest("base64");
}

function keyOf({ schema, table }: TableName): string {
  return `${schema}\0${table}`;
}

async function columnsOf(
  tables: readonly TableName[],
  { store, sql }: Pick<ViewsParts, "store" | "sql">,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly TypedColumn[]>> {
  const found = new Map<string, TypedColumn[]>();
  for (const [schema = "", table = "", name = "", type = ""] of await store.driver.read(sql.columns(tables), signal)) {
    const key = keyOf({ database: "", schema, table });
    const columns = found.get(key) ?? [];
    found.set(key, columns);
    columns.push({ name, type });
  }
  return found;
}
