import { type Batch, type BatchPosition, codeOf, type Event, letterHeader } from "../sdk/index.js";
import { databaseErrorOf } from "./contract/database-error.js";
import { isUnexpectedChanges } from "./contract/driver.js";
import { schemaKey, tableKey } from "./contract/statement.js";
import type { RowBuilder } from "./row-builder.js";
import type { TableBatch } from "./rows/grouping.js";
import type { StepWriter } from "./step-writer.js";
import { type KnownStore, lookUp } from "./tables/known-store.js";

const MOST_REMEMBERED = 16;
const MOST_OF_A_BATCH = 16;

export interface OtherTablesParts {
  readonly store: KnownStore;
  readonly rowBuilder: Pick<RowBuilder, "tables">;
  readonly writer: Pick<StepWriter, "takes">;
}

/**
 * Tells an error of one table, schema or file from one of the whole store: rows of other events, some that were stored lately and
 * some of the batch that failed, are written and rolled back until the store takes one of them.
 */
export class OtherTables {
  readonly #parts: OtherTablesParts;
  /** An event of each of the tables that took rows last. */
  readonly #stored = new Map<string, Event>();
  #failed: Batch | undefined;

  constructor(parts: OtherTablesParts) {
    this.#parts = parts;
  }

  /** Of a batch that is stored the first and the last table: they are in order, so those are often of two schemas. */
  stored(tables: readonly TableBatch[]): void {
    this.#failed = undefined;
    for (const table of new Set([tables[0], tables.at(-1)])) {
      const event = table?.placed.at(-1)?.event;
      if (table === undefined || event === undefined || event.headers[letterHeader] !== undefined) continue;
      const key = tableKey(table.name);
      this.#stored.delete(key);
      this.#stored.set(key, event);
      const [oldest] = this.#stored.keys();
      if (this.#stored.size > MOST_REMEMBERED && oldest !== undefined) this.#stored.delete(oldest);
    }
  }

  failed(batch: Batch): void {
    this.#failed = batch;
  }

  /** Whether the store takes rows of any other table now. */
  async takes(signal: AbortSignal): Promise<boolean> {
    const { position, events } = this.#failed ?? { position: undefined, events: [] };
    for (const event of [...this.#stored.values()].reverse()) {
      const taken = await this.#isTaken(event, { position, known: true }, signal);
      if (taken !== undefined) return taken;
    }
    for (const event of this.#ofEachTable(events)) {
      const taken = await this.#isTaken(event, { position, known: false }, signal);
      if (taken !== undefined) return taken;
    }
    return false;
  }

  /** Undefined if it says nothing about others; false for an error of the whole store. */
  async #isTaken(event: Event, { position, known }: Trial, signal: AbortSignal): Promise<boolean | undefined> {
    const { store, writer } = this.#parts;
    const tables = this.#tables([event]);
    if (tables.length === 0) return undefined;
    const names = tables.map(({ name }) => name);
    try {
      if (known) await lookUp(names, store, signal);
      // One that was dropped is not made again for this.
      if (known && names.some((name) => store.tables.columns(name) === undefined)) return undefined;
      return (await writer.takes({ position, tables, later: [], all: tables }, signal)) || undefined;
    } catch (error) {
      // Its position is not known.
      if (isUnexpectedChanges(error)) return undefined;
      const { errors } = store.dialect;
      const reason = databaseErrorOf(error);
      const isOfAll = codeOf(error) !== undefined && errors.retryable(reason) && errors.ofOnePlace?.(reason) !== true;
      return isOfAll ? false : undefined;
    }
  }

  /** One event of each of some tables, of different schemas first. */
  #ofEachTable(events: readonly Event[]): readonly Event[] {
    const tables = this.#tables(events);
    const firsts = new Map(tables.map((table) => [schemaKey(table.name), table] as const));
    const ordered = new Set([...firsts.values(), ...tables]);
    return [...ordered].slice(0, MOST_OF_A_BATCH).flatMap(({ placed }) => placed.at(-1)?.event ?? []);
  }

  #tables(events: readonly Event[]): readonly TableBatch[] {
    try {
      return this.#parts.rowBuilder.tables(events);
    } catch {
      // An event that can have no rows; it is refused by itself.
      return [];
    }
  }
}

interface Trial {
  readonly position: BatchPosition | undefined;
  /** Whether its tables have to be there. */
  readonly known: boolean;
}
