import type { Batch, BatchPosition, Event } from "../../../sdk/index.js";
import { RecentMap } from "../../contract/recent-map.js";
import type { Statement, TableName } from "../../contract/statement.js";
import type { PlacedRows, Step } from "../../rows/grouping.js";
import type { KnownStore } from "../../tables/known-store.js";
import { CommitUnits, channelOf, coveredBy, partOf, rowKey, withoutPart } from "./commit-units.js";
import { reportGoneBack, type Suspicion } from "./gone-back.js";
import { positionConflict } from "./position-errors.js";
import { DATABASE, PART, type PositionRow, PositionRows, type Standing } from "./position-rows.js";
import { ownPositions } from "./stored-summary.js";

const MOST_REMEMBERED = 10_000;
const NOTHING: Standing = { position: undefined, owner: undefined };

export interface PositionsOf {
  /** Name of the sink. */
  readonly sink: string;
  /**
   * The hash of the settings that determine tables and rows: the position of a single commit unit is valid for these
   * settings only.
   */
  readonly settingsHash: string;
  /** The run of the agent, which owns the rows it writes. */
  readonly run: string;
  /** How many commit units, and how many rows, are remembered. */
  readonly mostRemembered?: number;
  now(): Date;
}

/** Statements that move positions; call `written` after their commit. */
export interface Moves {
  readonly statements: readonly Statement[];
  written(): void;
}

/**
 * Records how far the channel of a sink is stored, in the transaction of the rows. A commit unit that is not the last
 * one of a batch records the position for itself; the last one records it for the whole batch, so that no position
 * covers more than is stored. There is one row for each sink and channel, and one more where a batch has several commit
 * units. A batch beside which events of other commit units are held back records its position for its own units only.
 *
 * A row moves only from the value that this process read or wrote last: of two agents with the same identity the later
 * one stores nothing.
 */
export class Positions {
  readonly #of: PositionsOf;
  readonly #store: KnownStore;
  readonly #rows: PositionRows;
  readonly #units: CommitUnits;
  /**
   * Positions by commit unit and channel, as first read. They hold while the rows of this sink are known: these move from
   * the known values only.
   */
  #kept: RecentMap<readonly string[]>;
  /** The rows of this sink, as first read or last written. */
  readonly #known: RecentMap<Standing>;
  /** The positions that rows were last moved to, whatever became of that. */
  readonly #tried: RecentMap<string>;
  /** The rows that were read last as this run did not leave them, and that no write has moved since. */
  readonly #suspicions = new Map<string, Suspicion>();
  /** What other runs moved before that they had moved when a row was read first. */
  readonly #since: string;

  constructor(of: PositionsOf, store: KnownStore) {
    this.#of = of;
    this.#store = store;
    this.#rows = new PositionRows(store);
    this.#units = new CommitUnits(store, this.#rows);
    this.#known = new RecentMap(this.#most);
    this.#tried = new RecentMap(this.#most);
    this.#kept = new RecentMap(this.#most);
    this.#since = of.now().toISOString();
  }

  /**
   * The statements that record the position with the rows of these tables; none without tables. Creates their tables
   * first.
   */
  async statements(
    { text: position, partial = false }: Pick<BatchPosition, "text" | "partial">,
    { tables, later, all }: Step,
    signal: AbortSignal,
  ): Promise<Moves> {
    const last = this.#units.lastTables(tables);
    for (const { name } of later) last.delete(this.#units.keyOf(name));
    const channel = channelOf(position);
    const moves: Move[] = [];
    for (const [index, [key, name]] of [...last].entries()) {
      // Commit units are committed in the order of their first statement.
      const whole = !partial && later.length === 0 && index === last.size - 1;
      const row = whole ? { channel, position } : this.#part(channel, position);
      moves.push(await this.#move(name, { ...row, events: this.#units.eventsAt(key, all) }, signal));
    }
    return {
      statements: moves.flatMap(({ statements }) => statements),
      written: () => {
        for (const { key, next } of moves) {
          this.#known.set(key, next);
          const suspicion = this.#suspicions.get(key);
          if (suspicion === undefined) continue;
          this.#suspicions.delete(key);
          reportGoneBack(this.#store.log, suspicion);
        }
      },
    };
  }

  /**
   * The rows of a batch that are stored: in each commit unit those that its positions cover. Throws `POSITION_CONFLICT`
   * if another agent has moved a position of this sink.
   */
  async covered(batch: Batch, tables: readonly PlacedRows[], signal: AbortSignal): Promise<readonly PlacedRows[]> {
    const position = batch.position?.text;
    if (position === undefined) return [];
    const stored = new Map<string, ReadonlySet<Event>>();
    for (const [key, name] of this.#units.lastTables(tables)) {
      const positions = await this.#positionsAt(name, channelOf(position), signal);
      const events = new Set(positions.flatMap((kept) => coveredBy(kept, batch)));
      if (events.size > 0) stored.set(key, events);
    }
    if (stored.size === 0) return [];
    return tables.map(({ name, placed }) => {
      const events = stored.get(this.#units.keyOf(name));
      return { name, placed: events === undefined ? [] : placed.filter(({ event }) => events.has(event)) };
    });
  }

  /** Discards what is cached: a write whose outcome is unknown may have changed it. */
  forget(): void {
    this.#kept = new RecentMap(this.#most);
  }

  /** All positions that this sink has recorded for whole batches. From now on they move from these values. */
  async stored(signal: AbortSignal): Promise<readonly string[]> {
    const found = await ownPositions(this.#of.sink, { rows: this.#rows, store: this.#store, mayMiss: true }, signal);
    for (const { name, row } of found) {
      this.#known.set(rowKey(name, row.channel), standingOf(row));
    }
    return found.flatMap(({ row }) => (isWhole(row) ? row.position : []));
  }

  get #most(): number {
    return this.#of.mostRemembered ?? MOST_REMEMBERED;
  }

  #part(channel: string, position: string): { readonly channel: string; readonly position: string } {
    return partOf({ channel, position }, this.#of.settingsHash);
  }

  async #move(table: TableName, { channel, position, events }: Row, signal: AbortSignal): Promise<Move> {
    const { dialect } = this.#store;
    const { sink, run, now } = this.#of;
    await this.#units.list(table, sink, signal);
    const name = dialect.positionsTable(table);
    const key = rowKey(name, channel);
    if (this.#known.get(key) === undefined) {
      // What is read now may be of another agent and say more than what was kept.
      this.forget();
      await this.#read(name, [channel], signal);
    }
    const known = this.#known.get(key) ?? NOTHING;
    const moved = now();
    const next = { position, owner: run, moved: moved.toISOString() };
    const move = { sink, channel, known, next, moved, events };
    this.#tried.set(key, position);
    return { key, next, statements: await this.#rows.move(name, move, signal) };
  }

  /** The positions of all sinks of the channel: another one may have stored these events before. */
  async #positionsAt(table: TableName, channel: string, signal: AbortSignal): Promise<readonly string[]> {
    const key = `${this.#units.keyOf(table)}\0${channel}`;
    const name = this.#store.dialect.positionsTable(table);
    const own = [channel, this.#part(channel, "").channel];
    const remembered = this.#kept.get(key);
    const areKnown = own.map((one) => this.#known.get(rowKey(name, one)) !== undefined);
    if (remembered !== undefined && areKnown.every(Boolean)) return remembered;

    const rows = await this.#read(name, own, signal);
    const positions = rows.map(({ position }) => withoutPart(position));
    this.#kept.set(key, positions);
    return positions;
  }

  /** Reads the rows of channels. Those of this sink must have the known values, or be absent. */
  async #read(name: TableName, channels: readonly string[], signal: AbortSignal): Promise<readonly PositionRow[]> {
    const wanted = channels.map((channel) => ({ channel }));
    const rows = await this.#rows.read(name, wanted, signal);
    for (const channel of channels) {
      this.#checkKnown(
        name,
        channel,
        rows.find((row) => row.sink === this.#of.sink && row.channel === channel),
      );
    }
    return rows;
  }

  #checkKnown(name: TableName, channel: string, found: PositionRow | undefined): void {
    const { sink, run } = this.#of;
    const key = rowKey(name, channel);
    const known = this.#known.get(key);
    const same = found?.position === known?.position && found?.owner === known?.owner;
    if (known !== undefined && found !== undefined && found.owner !== run && !same && !this.#wasLate(known, found)) {
      const table = [...new Set([name.database, name.schema]), name.table].filter((part) => part !== "").join(".");
      const deletion = this.#rows.deletion(name, sink, channel);
      throw positionConflict({ sink, channel, table, owner: found.owner, moved: found.moved, deletion });
    }
    const isStrange = known?.owner === run && !same && found?.position !== this.#tried.get(key);
    if (isStrange) this.#suspicions.set(key, { name, known, found });
    else this.#suspicions.delete(key);
    this.#known.set(key, found === undefined ? NOTHING : standingOf(found));
  }

  /**
   * Whether the row was read first from a server that lagged behind, as one of a cluster does: it is of the same earlier run, which
   * moved it before this one began.
   */
  #wasLate(known: Standing, { owner, moved = "" }: PositionRow): boolean {
    const isOfOneRun = known.position === undefined || known.owner === owner;
    return isOfOneRun && known.owner !== this.#of.run && (known.moved ?? "") < moved && moved < this.#since;
  }
}

function standingOf({ position, owner, moved }: PositionRow): Standing {
  return { position, owner, moved };
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

function isWhole({ channel }: PositionRow): boolean {
  return !channel.startsWith(PART) && !channel.startsWith(DATABASE);
}
