import { type Event, letterHeader, reasonOf } from "../../../sdk/index.js";
import type { Column } from "../../contract/column.js";
import { databaseErrorOf } from "../../contract/database-error.js";
import { type SchemaName, type Statement, schemaKey, type TableName } from "../../contract/statement.js";
import type { PlacedRows, TableBatch } from "../../rows/grouping.js";
import { findOwnTable, hasPassed, type KnownStore, makeOwnTable, type OwnTable } from "../../tables/known-store.js";

const LETTER = "deneb_letter";
const SINK = "deneb_sink";
const STORED: Column = { name: "deneb_stored", kind: "text" };
const COLUMNS: readonly Column[] = [{ name: LETTER, kind: "text" }, { name: SINK, kind: "text" }, STORED];
const KEY = [LETTER, SINK];

const DAY_MILLIS = 24 * 60 * 60 * 1000;
const KEPT_DAYS = 90;
const MOST_DELETED = 5000;
/** Ids of dead letters are shorter; longer ones are ignored. */
const LONGEST_ID = 200;

interface StoredDeadLettersOf {
  /** Name of the sink. */
  readonly sink: string;
  now(): Date;
}

/**
 * Records which replayed dead letters are stored, in the transaction of their rows: a dead letter that is replayed
 * again, because the process ended before it was marked, causes no second row. Other batches cause no query.
 */
export class StoredDeadLetters {
  readonly #of: StoredDeadLettersOf;
  readonly #store: KnownStore;
  #cleanedAt: number | undefined;

  constructor(of: StoredDeadLettersOf, store: KnownStore) {
    this.#of = of;
    this.#store = store;
  }

  /** The rows of a batch whose dead letters are stored, by any sink. */
  async covered(tables: readonly TableBatch[], signal: AbortSignal): Promise<readonly PlacedRows[]> {
    const deadLetters = tables.filter(({ placed }) => placed.some(({ event }) => idOf(event) !== undefined));
    if (deadLetters.length === 0) return [];
    const known = new Set<string>();
    for (const [unit, { name, ids }] of this.#byCommitUnit(deadLetters)) {
      for (const id of await this.#read(name, ids, signal)) known.add(`${unit}\0${id}`);
    }
    const isKnown = (name: SchemaName, event: Event) => known.has(`${this.#keyOf(name)}\0${idOf(event)}`);
    return deadLetters.map(({ name, placed }) => ({
      name,
      placed: placed.filter(({ event }) => isKnown(name, event)),
    }));
  }

  /**
   * The statements that record the dead letters of these tables; those with rows in later transactions are recorded
   * there.
   */
  async statements(
    tables: readonly TableBatch[],
    later: readonly TableBatch[],
    signal: AbortSignal,
  ): Promise<readonly Statement[]> {
    const unfinished = new Set(later.flatMap(({ placed }) => placed.flatMap(({ event }) => idOf(event) ?? [])));
    const statements: Statement[] = [];
    for (const { name, ids } of this.#byCommitUnit(tables).values()) {
      const { dialect } = this.#store;
      const table = this.#tableFor(name);
      const stored = this.#of.now().toISOString();
      const rows = ids.filter((id) => !unfinished.has(id)).map((id) => [id, this.#of.sink, stored]);
      if (rows.length === 0) continue;
      await makeOwnTable(table, this.#store, signal);
      statements.push(...dialect.insertNew({ name: table.name, columns: COLUMNS, rows }));
    }
    return statements;
  }

  /** Deletes old rows that no replay needs, in the commit units of these tables; at most once a day. */
  async clean(tables: readonly TableBatch[], signal: AbortSignal): Promise<void> {
    const now = this.#of.now().getTime();
    if (!hasPassed(DAY_MILLIS, this.#cleanedAt, now)) return;
    const { dialect, driver, log } = this.#store;
    for (const { name } of this.#byCommitUnit(tables).values()) {
      this.#cleanedAt = now;
      const before = new Date(now - KEPT_DAYS * DAY_MILLIS).toISOString().replace("T", " ");
      const history = { name: this.#tableFor(name).name, time: STORED };
      try {
        await driver.write([dialect.deleteOlder(history, before, MOST_DELETED)], signal);
      } catch (error) {
        log.warn(
          { reason: reasonOf(error) },
          "old rows of replayed dead letters not deleted, will be tried again in a day",
        );
      }
    }
  }

  async #read(name: TableName, ids: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const { dialect, driver, tables } = this.#store;
    const table = this.#tableFor(name);
    const bounds = {
      columns: [LETTER],
      primaryKey: KEY,
      latestBy: STORED.name,
      mostRows: 1,
      mostCharacters: LONGEST_ID,
    };
    const read = async () => {
      if (!(await findOwnTable(table, this.#store, signal))) return [];
      const questions = ids.flatMap((id) =>
        dialect.selectSettled({ name: table.name, key: [LETTER], cells: [id], ...bounds }),
      );
      return (await driver.read(questions, signal)).flatMap(([id]) => id ?? []);
    };
    try {
      return await read();
    } catch (error) {
      if (!dialect.errors.missing(databaseErrorOf(error))) throw error;
      tables.forget(table.name);
      return await read();
    }
  }

  /** One table of each commit unit, and the ids of the dead letters with rows there. */
  #byCommitUnit(
    tables: readonly PlacedRows[],
  ): Map<string, { readonly name: TableName; readonly ids: readonly string[] }> {
    const found = new Map<string, { readonly name: TableName; readonly ids: Set<string> }>();
    for (const { name, placed } of tables) {
      const key = this.#keyOf(name);
      for (const { event } of placed) {
        const id = idOf(event);
        if (id === undefined) continue;
        const one = found.get(key) ?? { name, ids: new Set() };
        one.ids.add(id);
        found.set(key, one);
      }
    }
    // In one order everywhere: two agents may replay the same ones.
    return new Map([...found].map(([key, { name, ids }]) => [key, { name, ids: [...ids].sort() }]));
  }

  #tableFor(name: SchemaName): OwnTable {
    return { name: this.#store.dialect.deadLettersTable(name), columns: COLUMNS, key: KEY };
  }

  #keyOf(name: SchemaName): string {
    return schemaKey(this.#store.dialect.commitUnit(name));
  }
}

function idOf({ headers }: Event): string | undefined {
  const id = headers[letterHeader];
  return id === undefined || id === "" || id.length >= LONGEST_ID ? undefined : id;
}
