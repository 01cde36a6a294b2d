import { RecentMap } from "../contract/recent-map.js";
import { type TableName, tableKey } from "../contract/statement.js";
import { type KnownStore, lookUp } from "./known-store.js";

/** Milliseconds for which a table that was looked up is not looked up again: each of many values may be refused. */
const BETWEEN_LOOKS = 1000;
const MOST_REMEMBERED = 10_000;

/** Finds out whether somebody changed the columns of tables by hand. */
export class ChangedTables {
  readonly #store: KnownStore;
  readonly #now: () => number;
  readonly #looked = new RecentMap<number>(MOST_REMEMBERED);

  /** `now` is a steady clock in milliseconds. */
  constructor(store: KnownStore, now: () => number = () => performance.now()) {
    this.#store = store;
    this.#now = now;
  }

  /** Whether the columns of known tables are not those that the database has now. */
  async areAmong(names: readonly TableName[], signal: AbortSignal): Promise<boolean> {
    const { tables } = this.#store;
    const now = this.#now();
    const due = names.filter(
      (name) => now - (this.#looked.get(tableKey(name)) ?? Number.NEGATIVE_INFINITY) > BETWEEN_LOOKS,
    );
    const known = due.map((name) => tables.columns(name));
    for (const name of due) tables.forget(name);
    await lookUp(due, this.#store, signal);
    for (const name of due) this.#looked.set(tableKey(name), now);
    // Equal lists are one.
    return due.some((name, index) => tables.columns(name) !== known[index]);
  }
}
