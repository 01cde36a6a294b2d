import type { LeftData } from "../../../sdk/index.js";
import { databaseErrorOf } from "../../contract/database-error.js";
import type { KeptRowsSql } from "../../contract/matching.js";
import { tableKey } from "../../contract/statement.js";
import type { KnownStore } from "../../tables/known-store.js";
import type { DoomedRows } from "./erased-errors.js";

interface Asking {
  readonly store: KnownStore;
  readonly signal: AbortSignal;
}

/**
 * The tables that keep rows of an erasure although these are deleted, each once. Before it the present rows count, too: they will be kept.
 */
export async function keptRows(all: readonly DoomedRows[], { store, signal }: Asking): Promise<readonly LeftData[]> {
  const { keptRows: sql } = store.dialect;
  if (sql === undefined || all.length === 0) return [];
  const names = new Map(all.map(({ name }) => [tableKey(name), name]));
  const keeping = new Set<string>();
  for (const [database = "", schema = "", table = ""] of await store.driver.read(
    sql.keeping([...names.values()]),
    signal,
  ))
    keeping.add(tableKey({ database, schema, table }));
  const left = new Map<string, LeftData>();
  for (const rows of all) {
    if (!keeping.has(tableKey(rows.name)) || left.has(rows.printed)) continue;
    const reason = await reasonFor(rows, sql, { store, signal });
    if (reason !== undefined) left.set(rows.printed, { name: rows.printed, reason });
  }
  return [...left.values()];
}

async function reasonFor(
  rows: DoomedRows,
  sql: KeptRowsSql,
  { store: { dialect, driver, server }, signal }: Asking,
): Promise<string | undefined> {
  try {
    const [[found] = []] = await driver.read([sql.countEver(rows, 1)], signal);
    return Number(found ?? 0) > 0 ? sql.remedy(rows.name) : undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = databaseErrorOf(error);
    return dialect.errors.missing(reason) ? undefined : dialect.errors.explain(reason, server);
  }
}
