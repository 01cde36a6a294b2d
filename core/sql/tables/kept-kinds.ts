import { RecentMap } from "../contract/recent-map.js";
import { tableKey } from "../contract/statement.js";
import type { TableBatch } from "../rows/grouping.js";
import type { KnownColumns, Tables } from "./known-tables.js";
import { otherKind } from "./ownership.js";
import type { RegisterRow, TableKind } from "./register-rows.js";

type Keyed = Pick<TableBatch, "name" | "key">;

/**
 * Which tables keep history and which last data: the name of one may be that of the other of another entity, and neither may
 * change the rows of the other.
 */
export class KeptKinds {
  readonly #tables: Tables;
  readonly #kinds: RecentMap<TableKind>;
  /** Whether some table keeps last data, so that not every table takes what comes for it. */
  hasLastData = false;

  constructor(tables: Tables, most: number) {
    this.#tables = tables;
    this.#kinds = new RecentMap(most);
  }

  /** Remembers what a table keeps; as long as none keeps last data, there is nothing to tell apart. */
  keeps({ name, key }: Keyed, kind = kindOf({ key })): void {
    if (kind === "last data") this.hasLastData = true;
    if (this.hasLastData) this.#kinds.set(tableKey(name), kind);
  }

  /** Decides what a table keeps that was looked up: what the sinks say that listed it, else what came first. */
  learn(table: Keyed, rows: readonly RegisterRow[]): TableKind {
    const listed = listedKind(rows, this.#tables.columns(table.name));
    const kind = listed ?? this.#kinds.get(tableKey(table.name)) ?? kindOf(table);
    this.keeps(table, kind);
    return kind;
  }

  /** Throws code `TABLE_NOT_OURS` for rows of one kind and a table of the other. */
  refuseOther({ name, key }: Keyed): void {
    const kept = this.hasLastData ? this.#kinds.get(tableKey(name)) : undefined;
    if (kept === undefined || kept === kindOf({ key })) return;
    // Nothing is made yet: the next event decides.
    if (this.#tables.columns(name) === undefined) this.#kinds.delete(tableKey(name));
    // Looked up again: the operator may have dropped it.
    if (kept === "history") this.#tables.forget(name);
    throw otherKind(name, kept);
  }
}

export function kindOf({ key }: Pick<TableBatch, "key">): TableKind {
  return key.length === 0 ? "history" : "last data";
}

/** A table of history that was dropped may become one of last data, and so may one that an operator adopted: it has no subject. */
function listedKind(rows: readonly RegisterRow[], columns: KnownColumns | undefined): TableKind | undefined {
  if (rows.some(({ kind }) => kind === "last data")) return "last data";
  return columns !== undefined && rows.some(({ subject }) => subject !== "") ? "history" : undefined;
}
