import type { Batch, Event } from "deneb/sdk";
import type { Step } from "./bookkeeping.js";
import type { TableBatch } from "./grouping.js";
import type { KnownStore } from "./known-store.js";
import { ownPositions } from "./own-positions.js";
import { positionConflict } from "./position-conflict.js";
import { DATABASE, PART, type PositionRow, PositionRows, type Standing } from "./position-rows.js";
import { RecentMap } from "./recent-map.js";
import type { Statement } from "./statement.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "./table-name.js";

const HOME: SchemaName = { database: "", schema: "" };
const MOST_REMEMBERED = 10_000;
const NOTHING: Standing = { position: undefined, owner: undefined };

export interface PositionsOf {
  /** Name of the sink. */
  readonly sink: string;
  /** Of what makes rows and chooses their places: a position of one destination holds for these alone. */
  readonly rules: string;
  /** The run of the agent, the owner of what it writes. */
  readonly run: string;
  now(): Date;
}

type Named = Pick<TableBatch, "name">;
type Placed = Pick<TableBatch, "name" | "placed">;

/** Statements that move positions; `written` is called when they are committed. */
export interface Moves {
  readonly statements: readonly Statement[];
  written(): void;
}

/**
 * How far the channel of a sink is stored, kept in the transaction of the rows. What commits apart from the rest of a
 * batch, a file or a database, keeps the position for itself; the last one keeps it for the whole batch, so neither ever
 * says more than is stored. One row for each sink and channel, and one more where a batch has several destinations.
 *
 * A row moves only from where this process read it or wrote it last: of two agents that believe to be the same one the
 * later one stores nothing.
 */
export class Positions {
  readonly #of: PositionsOf;
  readonly #store: KnownStore;
  readonly #rows: PositionRows;
  /** By destination and channel, as it was when it was first needed: what was written later needs no look. */
  #kept = new RecentMap<readonly string[]>(MOST_REMEMBERED);
  /** Of the rows of this sink, as they were read first or written last. */
  readonly #known = new RecentMap<Standing>(MOST_REMEMBERED);
  /** The databases that are known to be listed at home. */
  readonly #listed = new Set<string>();

  constructor(of: PositionsOf, store: KnownStore) {
    this.#of = of;
    this.#store = store;
    this.#rows = new PositionRows(store);
  }

  /** What keeps the position with the rows of these tables; nothing when there are none. Makes its tables first. */
  async statements(position: string, { tables, later, all }: Step, signal: AbortSignal): Promise<Moves> {
    const last = this.#lastTables(tables);
    for (const { name } of later) last.delete(this.#keyOf(name));
    const channel = channelOf(position);
    const moves: Move[] = [];
    for (const [index, [key, name]] of [...last].entries()) {
      // Destinations are committed in the order in which they are named first.
      const whole = later.length === 0 && index === last.size - 1;
      const row = whole ? { channel, position } : this.#part(channel, position);
      moves.push(await this.#move(name, { ...row, events: this.#eventsAt(key, all) }, signal));
    }
    return {
      statements: moves.flatMap(({ statements }) => statements),
      written: () => {
        for (const { key, next } of moves) this.#known.set(key, next);
      },
    };
  }

  /**
   * The rows of a batch that are stored: in each destination those that its positions cover. Throws `POSITION_CONFLICT`
   * when another agent has moved one of this sink.
   */
  async covered(batch: Batch, tables: readonly TableBatch[], signal: AbortSignal): Promise<readonly Placed[]> {
    const position = batch.position?.text;
    if (position === undefined) return [];
    const stored = new Map<string, ReadonlySet<Event>>();
    for (const [key, name] of this.#lastTables(tables)) {
      const positions = await this.#positionsAt(name, channelOf(position), signal);
      const events = new Set(positions.flatMap((kept) => coveredBy(kept, batch)));
      if (events.size > 0) stored.set(key, events);
    }
    if (stored.size === 0) return [];
    return tables.map(({ name, placed }) => {
      const events = stored.get(this.#keyOf(name));
      return { name, placed: events === undefined ? [] : placed.filter(({ event }) => events.has(event)) };
    });
  }

  /** Has everything read again: a write whose outcome is unknown may have changed it. */
  forget(): void {
    this.#kept = new RecentMap(MOST_REMEMBERED);
  }

  /** Every position this sink has kept for whole batches, wherever it is. From now on they move from there. */
  async stored(signal: AbortSignal): Promise<readonly string[]> {
    const found = await ownPositions(this.#of.sink, { rows: this.#rows, store: this.#store }, signal);
    for (const { name, row, earlier } of found) {
      if (!earlier) this.#known.set(rowKey(name, row.channel), { position: row.position, owner: row.owner });
    }
    return found.flatMap(({ row }) => (isWhole(row) ? row.position : []));
  }

  #part(channel: string, position: string): { readonly channel: string; readonly position: string } {
    return { channel: `${PART}${channel}:${this.#of.rules}`, position: `${PART}${position}` };
  }

  async #move(table: TableName, { channel, position, events }: Row, signal: AbortSignal): Promise<Move> {
    const { dialect } = this.#store;
    const { sink, run, now } = this.#of;
    await this.#list(dialect.destination(table), signal);
    const name = dialect.positionsTable(table);
    const key = rowKey(name, channel);
    if (this.#known.get(key) === undefined) await this.#look(name, [channel], signal);
    const known = this.#known.get(key) ?? NOTHING;
    const next = { position, owner: run };
    const move = { sink, channel, known, next, moved: now(), events };
    return { key, next, statements: await this.#rows.move(name, move, signal) };
  }

  /** A database that is not the one of the configuration is found again by its row there. */
  async #list({ database }: SchemaName, signal: AbortSignal): Promise<void> {
    if (database === "" || this.#listed.has(database)) return;
    await this.#rows.list(this.#store.dialect.positionsTable(HOME), this.#of.sink, DATABASE + database, signal);
    this.#listed.add(database);
  }

  /** Those of other sinks of the channel included: they may have had these events before. */
  async #positionsAt(table: TableName, channel: string, signal: AbortSignal): Promise<readonly string[]> {
    const key = `${this.#keyOf(table)}\0${channel}`;
    const remembered = this.#kept.get(key);
    if (remembered !== undefined) return remembered;

    const name = this.#store.dialect.positionsTable(table);
    const rows = await this.#look(name, [channel, this.#part(channel, "").channel], signal);
    const positions = rows.map(({ position }) => (position.startsWith(PART) ? position.slice(PART.length) : position));
    this.#kept.set(key, positions);
    return positions;
  }

  /** Reads the rows of channels; those of this sink must be as they are known, or not be there any more. */
  async #look(name: TableName, channels: readonly string[], signal: AbortSignal): Promise<readonly PositionRow[]> {
    const wanted = channels.map((channel) => ({ channel }));
    const rows = await this.#rows.read(name, wanted, signal);
    for (const channel of channels) {
      this.#meet(
        name,
        channel,
        rows.find((row) => row.sink === this.#of.sink && row.channel === channel),
      );
    }
    return rows;
  }

  #meet(name: TableName, channel: string, found: PositionRow | undefined): void {
    const { sink, run } = this.#of;
    const key = rowKey(name, channel);
    const known = this.#known.get(key);
    const same = found?.position === known?.position && found?.owner === known?.owner;
    if (known !== undefined && found !== undefined && found.owner !== run && !same) {
      const table = [...new Set([name.database, name.schema]), name.table].filter((part) => part !== "").join(".");
      const deletion = this.#rows.deletion(name, sink, channel);
      throw positionConflict({ sink, channel, table, owner: found.owner, moved: found.moved, deletion });
    }
    this.#known.set(key, found === undefined ? NOTHING : { position: found.position, owner: found.owner });
  }

  #eventsAt(destination: string, all: readonly Placed[]): number {
    const events = new Set<Event>();
    for (const { name, placed } of all) {
      if (this.#keyOf(name) === destination) for (const { event } of placed) events.add(event);
    }
    return events.size;
  }

  #keyOf(name: SchemaName): string {
    return schemaKey(this.#store.dialect.destination(name));
  }

  /** The last table of each destination; the destinations in the order in which they are named first. */
  #lastTables(tables: readonly Named[]): Map<string, TableName> {
    return new Map(tables.map(({ name }) => [this.#keyOf(name), name]));
  }
}

interface Row {
  readonly channel: string;
  readonly position: string;
  readonly events: number;
}

interface Move {
  readonly key: string;
  readonly next: Standing;
  readonly statements: readonly Statement[];
}

function rowKey(name: TableName, channel: string): string {
  return `${tableKey(name)}\0${channel}`;
}

function isWhole({ channel }: PositionRow): boolean {
  return !channel.startsWith(PART) && !channel.startsWith(DATABASE);
}

function channelOf(position: string): string {
  return position.slice(0, Math.max(0, position.indexOf(":")));
}

/** The batch itself, whose answer was lost, is known without its channel. */
function coveredBy(kept: string, batch: Batch): readonly Event[] {
  return kept === batch.position?.text ? batch.events : (batch.position?.coveredBy(kept) ?? []);
}
