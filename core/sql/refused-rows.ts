import { type Event, retryableOf } from "../sdk/index.js";
import { databaseErrorOf, storeError } from "./contract/database-error.js";
import type { Store } from "./contract/driver.js";
import { schemaKey, type TableName, tableKey } from "./contract/statement.js";
import type { RowBuilder } from "./row-builder.js";
import type { TableBatch } from "./rows/grouping.js";
import type { StepWriter } from "./step-writer.js";

/** Transactions for one failed write. What they do not find is found after the next one. */
const MOST_TESTS = 64;
/** A refusal may take seconds, as that of a foreign table whose server is away: then they would outlast the limit of the write. */
const MOST_MILLIS = 10_000;

interface RefusedRowsParts {
  readonly store: Pick<Store, "dialect" | "server">;
  readonly rowBuilder: Pick<RowBuilder, "tables">;
  readonly writer: Pick<StepWriter, "takes" | "refusedTable">;
  readonly now: () => Date;
}

interface Refusal {
  readonly table: TableBatch;
  readonly error: unknown;
}

/** What is known of a batch while its refused events are looked for. */
interface Search {
  readonly batch: readonly Event[];
  readonly name: TableName;
  readonly code: string | undefined;
  readonly found: Map<Event, unknown>;
  /** Other tables that refuse rows, too. */
  readonly refusing: Set<string>;
  /** False when there was time, or there were transactions, for no more. */
  mayTest(): boolean;
}

/**
 * Finds the events whose rows a table refuses: its rows alone are written and rolled back, first all of them, then halves of what is
 * refused. An event that is refused alone is written once more behind those before it: a foreign key or a trigger may need their rows.
 */
export class RefusedRows {
  readonly #parts: RefusedRowsParts;
  /** Those that were found. Where a batch has no others, naming all of them again tells nothing. */
  readonly #known = new WeakSet<Event>();

  constructor(parts: RefusedRowsParts) {
    this.#parts = parts;
  }

  /** Those that fail alone with the code of the write, each with its error; none if they are no reason, or are not found. */
  async among(
    batch: readonly Event[],
    { table: { name, placed }, error }: Refusal,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Event, unknown>> {
    const found = new Map<Event, unknown>();
    if (!this.#mayBeOfRows(error)) return found;
    if (batch.every((event) => this.#known.has(event))) return found;
    const { code } = databaseErrorOf(error);
    const search = { batch, name, code, found, refusing: new Set<string>(), mayTest: this.#allowance() };
    try {
      await this.#search([...new Set(placed.map(({ event }) => event))], search, signal);
    } catch {
      // The store is away now; what was found says nothing any more.
      return new Map();
    }
    for (const event of found.keys()) this.#known.add(event);
    return found;
  }

  async #search(rows: readonly Event[], search: Search, signal: AbortSignal): Promise<void> {
    const untested = [rows];
    for (let events = untested.pop(); events !== undefined && search.mayTest(); events = untested.pop()) {
      const refusal = await this.#refusal(this.#ofTable(events, search.name), signal);
      if (refusal === undefined) continue;
      const half = Math.ceil(events.length / 2);
      const [event, ...others] = events;
      if (others.length > 0) untested.push(events.slice(half), events.slice(0, half));
      else if (event !== undefined && databaseErrorOf(refusal).code === search.code) {
        const reason = await this.#reasonBehindOthers(event, search, signal);
        if (reason !== undefined) search.found.set(event, reason);
      }
    }
  }

  #allowance(): Search["mayTest"] {
    const { now } = this.#parts;
    const end = now().getTime() + MOST_MILLIS;
    let left = MOST_TESTS;
    return () => {
      left -= 1;
      return left >= 0 && now().getTime() < end;
    };
  }

  /** Why its rows are refused behind all that is before it; undefined if they are taken then, or if that is not known. */
  async #reasonBehindOthers(event: Event, search: Search, signal: AbortSignal): Promise<unknown> {
    const { batch, name, code, found, refusing } = search;
    const { dialect, server } = this.#parts.store;
    const key = tableKey(name);
    const before = batch.slice(0, batch.indexOf(event)).filter((one) => !found.has(one));
    const own = this.#parts.rowBuilder.tables([event]);
    const others = [...this.#parts.rowBuilder.tables(before), ...own.filter((table) => tableKey(table.name) !== key)];
    const last = this.#ofTable([event], name);
    const unit = schemaKey(dialect.commitUnit(name));
    // What is of another transaction cannot be rolled back with it, and is not seen by it.
    const inUnit = others.filter((table) => schemaKey(dialect.commitUnit(table.name)) === unit);
    while (search.mayTest()) {
      const context = inUnit.filter((table) => !refusing.has(tableKey(table.name)));
      const refusal = await this.#refusal([...context, ...last], signal);
      const refused = this.#parts.writer.refusedTable(refusal);
      if (refused === undefined) return undefined;
      if (last.includes(refused))
        return databaseErrorOf(refusal).code === code ? storeError(refusal, dialect.errors, server) : undefined;
      if (tableKey(refused.name) === key) return undefined;
      refusing.add(tableKey(refused.name));
    }
    return undefined;
  }

  #mayBeOfRows(error: unknown): boolean {
    if (retryableOf(error) !== undefined) return false;
    const { errors } = this.#parts.store.dialect;
    const reason = databaseErrorOf(error);
    // Each test may take as long as the write.
    if (reason.opening === true || errors.tooSlow?.(reason) === true) return false;
    return !errors.retryable(reason) || errors.doubtful?.(reason) === true || errors.ofOnePlace?.(reason) === true;
  }

  #ofTable(events: readonly Event[], name: TableName): readonly TableBatch[] {
    return this.#parts.rowBuilder.tables(events).filter((table) => tableKey(table.name) === tableKey(name));
  }

  /** Undefined when the rows are taken; throws for an error of the whole store. */
  async #refusal(tables: readonly TableBatch[], signal: AbortSignal): Promise<unknown> {
    try {
      await this.#parts.writer.takes({ position: undefined, tables, later: [], all: tables }, signal);
      return undefined;
    } catch (error) {
      if (!this.#mayBeOfRows(error)) throw error;
      return error;
    }
  }
}
