import type { Context, StoredProgress, StoredTable, TableResult } from "../../../sdk/index.js";
import { namingOf, type SqlConfig } from "../../contract/schema.js";
import { type TableName, tableKey } from "../../contract/statement.js";
import { catalogued } from "../../tables/catalogue.js";
import { type KnownStore, lookUp } from "../../tables/known-store.js";
import { type Lister, listerOf, UNCLEAR } from "../../tables/lister.js";
import { partitionedTables } from "../../tables/make-partitions.js";
import { TableLife } from "../../tables/table-life.js";
import { belongingTables, nameOf } from "./chosen-tables.js";
import { type Seen, TablePartitioning } from "./partition-table.js";

const TABLES_AT_ONCE = 1000;
/** Changed, or refused, by one call. */
const MOST_CHANGED = 10_000;
const LATER = `not looked at: a call changes ${MOST_CHANGED} tables; repeat it with --yes, or name tables`;

/** What the partitioning of tables needs. */
interface PartitionTablesParts {
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
  readonly #each: TablePartitioning;

  constructor({ config, context, store }: PartitionTablesParts) {
    this.#store = store;
    this.#lister = listerOf(context);
    this.#life = new TableLife(config, {
      naming: namingOf(config, store.dialect.database),
      dialect: store.dialect,
      context,
    });
    this.#each = new TablePartitioning(store, this.#life);
  }

  /**
   * Of the tables of history that this sink has listed: these, or all if none is given. There may be 100,000, so they are
   * looked up in pages, and a call changes a bounded number.
   */
  async convert(
    names: readonly string[],
    dryRun: boolean,
    { signal, progress }: PartitionCall,
  ): Promise<readonly TableResult[]> {
    const all = belongingTables(await catalogued({}, this.#store, signal), this.#lister);
    const own = byName(all.own);
    const open = byName(all.unclear);
    const wanted = names.length === 0 ? [...own.keys(), ...open.keys()] : [...new Set(names)];
    const results: TableResult[] = [];
    let changed = 0;
    for (let start = 0; start < wanted.length; start += TABLES_AT_ONCE) {
      const page = wanted.slice(start, start + TABLES_AT_ONCE);
      const tables = page.flatMap((name) => own.get(name) ?? []);
      const seen = changed < MOST_CHANGED ? await this.#seen(tables, signal) : undefined;
      for (const name of page) {
        const table = own.get(name);
        if (table === undefined) results.push(unlisted(name, open.has(name)));
        else if (changed >= MOST_CHANGED) results.push({ name, outcome: "unchanged", reason: LATER });
        else {
          const outcome = await this.#each.convert(table, { dryRun, signal, seen: usable(seen, table, dryRun) });
          results.push({ name, ...outcome });
          changed += Number(outcome.outcome !== "unchanged");
        }
      }
      progress?.(start + page.length, wanted.length);
    }
    return results;
  }

  /** The partitioned tables of a page, by key; undefined if that cannot be read for all at once. */
  async #seen(tables: readonly TableName[], signal: AbortSignal): Promise<Seen | undefined> {
    const store = this.#store;
    const names = tables.map(nameOf);
    try {
      for (const name of names) store.tables.forget(name);
      await lookUp(names, store, signal);
      const { partitions: statements } = store.dialect;
      if (statements === undefined) return new Map();
      const found = await partitionedTables(names, { store, life: this.#life, statements }, signal);
      return new Map(found.map((one) => [tableKey(one.name), one]));
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  }
}

function byName(tables: readonly StoredTable[]): ReadonlyMap<string, StoredTable> {
  return new Map(tables.flatMap((table) => (table.kind === "history" ? [[table.name, table] as const] : [])));
}

interface PartitionCall {
  readonly signal: AbortSignal;
  /** Told after each page. */
  readonly progress: StoredProgress | undefined;
}

function unlisted(name: string, isUnclear: boolean): TableResult {
  const reason = isUnclear ? UNCLEAR : "this sink has not listed it as a table of history";
  return { name, outcome: "refused", reason };
}

/** What was read for a page may be old when a plain table is changed. */
function usable(seen: Seen | undefined, table: TableName, dryRun: boolean): Seen | undefined {
  return dryRun || seen?.has(tableKey(table)) === true ? seen : undefined;
}
