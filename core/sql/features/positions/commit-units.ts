import type { Batch, Event } from "../../../sdk/index.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "../../contract/statement.js";
import type { PlacedRows, TableBatch } from "../../rows/grouping.js";
import type { KnownStore } from "../../tables/known-store.js";
import { DATABASE, PART, type PositionRows } from "./position-rows.js";

export const DEFAULT_SCHEMA: SchemaName = { database: "", schema: "" };

/** What commits by itself: the databases of a store, or the schemas where each is a file. */
export class CommitUnits {
  readonly #store: KnownStore;
  readonly #rows: PositionRows;
  /** The databases that are known to be listed in the default one. */
  readonly #listed = new Set<string>();

  constructor(store: KnownStore, rows: PositionRows) {
    this.#store = store;
    this.#rows = rows;
  }

  keyOf(name: SchemaName): string {
    return schemaKey(this.#store.dialect.commitUnit(name));
  }

  /** The last table of each commit unit; the units in the order of their first table. */
  lastTables(tables: readonly Pick<TableBatch, "name">[]): Map<string, TableName> {
    return new Map(tables.map(({ name }) => [this.keyOf(name), name]));
  }

  /** The number of events with rows in a unit. */
  eventsAt(unit: string, all: readonly PlacedRows[]): number {
    const events = new Set<Event>();
    for (const { name, placed } of all) {
      if (this.keyOf(name) === unit) for (const { event } of placed) events.add(event);
    }
    return events.size;
  }

  /** Lists a database other than that of the configuration in the latter, so that it is found again. */
  async list(table: TableName, sink: string, signal: AbortSignal): Promise<void> {
    const { dialect } = this.#store;
    const { database } = dialect.commitUnit(table);
    if (database === "" || this.#listed.has(database)) return;
    await this.#rows.list(dialect.positionsTable(DEFAULT_SCHEMA), sink, DATABASE + database, signal);
    this.#listed.add(database);
  }
}

/** The row of a single commit unit; it holds for these settings only. */
export function partOf(
  { channel, position }: { readonly channel: string; readonly position: string },
  settingsHash: string,
): { readonly channel: string; readonly position: string } {
  return { channel: `${PART}${channel}:${settingsHash}`, position: `${PART}${position}` };
}

export function withoutPart(position: string): string {
  return position.startsWith(PART) ? position.slice(PART.length) : position;
}

export function rowKey(name: TableName, channel: string): string {
  return `${tableKey(name)}\0${channel}`;
}

export function channelOf(position: string): string {
  return position.slice(0, Math.max(0, position.indexOf(":")));
}

/** A batch whose response was lost is recognized without its channel. */
export function coveredBy(kept: string, batch: Batch): readonly Event[] {
  return kept === batch.position?.text ? batch.events : (batch.position?.coveredBy(kept) ?? []);
}
