import { AgentError, type Batch, type BatchPosition, type Event } from "../../../sdk/index.js";
import { unexpectedChanges } from "../../contract/driver.js";
import { RecentMap } from "../../contract/recent-map.js";
import type { Statement, TableName } from "../../contract/statement.js";
import type { PlacedRows, Step } from "../../rows/grouping.js";
import type { KnownStore } from "../../tables/known-store.js";
import { CommitUnits, channelOf, coveredBy, DEFAULT_SCHEMA, partOf, rowKey, withoutPart } from "./commit-units.js";
import { SharedTraces } from "./gone-back.js";
import { PART, type PositionRow, PositionRows, type Standing } from "./position-rows.js";
import type { Moves, PositionsOf } from "./positions.js";

const NOTHING: Standing = { position: undefined, owner: undefined };
const MOST_REMEMBERED = 10_000;

/** Rows of a batch that are stored, and the run of the agent that moved the position which says so. */
export interface CoveredRows extends PlacedRows {
  readonly movedBy?: string | undefined;
}

/**
 * The positions of channels that several agents take from. A row moves in the transaction of the rows, from the value with
 * which the rows that are written were chosen: if another agent has moved it meanwhile, nothing is written, and after
 * `forget` it is read again. So an event that a position covers is never written again, and since what is written begins
 * behind the position, no row moves back.
 *
 * Where a batch may have several commit units, each transaction moves the row of its unit, also the last one: two agents
 * may divide the same events into batches with other units.
 */
export class SharedPositions {
  readonly #of: PositionsOf;
  readonly #store: KnownStore;
  readonly #rows: PositionRows;
  readonly #units: CommitUnits;
  /** What was read or written last, by channel and commit unit. */
  readonly #known: RecentMap<ReadonlyMap<string, Found>>;
  readonly #traces: SharedTraces;
  /** By what the rows of a batch were chosen, in each commit unit. */
  readonly #chosenBy = new WeakMap<BatchPosition, ReadonlyMap<string, Found>>();

  constructor(of: PositionsOf, store: KnownStore) {
    this.#of = of;
    this.#store = store;
    this.#rows = new PositionRows(store);
    this.#units = new CommitUnits(store, this.#rows);
    const most = of.mostRemembered ?? MOST_REMEMBERED;
    this.#known = new RecentMap(most);
    this.#traces = new SharedTraces(of.run, store.log, most);
  }

  /** The rows of a batch that are stored, by whoever. */
  async covered(batch: Batch, tables: readonly PlacedRows[], signal: AbortSignal): Promise<readonly CoveredRows[]> {
    const { position } = batch;
    if (position === undefined) return [];
    const chosenBy = new Map<string, Found>();
    const stored = new Map<string, ReadonlyMap<Event, string | undefined>>();
    for (const [unit, name] of this.#units.lastTables(tables)) {
      const found = await this.#found({ unit, name, channel: channelOf(position.text) }, signal);
      chosenBy.set(unit, found);
      const events = storedEvents(found, batch);
      if (events.size > 0) stored.set(unit, events);
    }
    this.#chosenBy.set(position, chosenBy);
    return tables.flatMap(({ name, placed }) => {
      const events = stored.get(this.#units.keyOf(name));
      if (events === undefined) return [];
      const own = placed.filter(({ event }) => events.has(event));
      return own.length === 0
        ? []
        : [{ name, placed: own, movedBy: lastOf(own.map(({ event }) => events.get(event))) }];
    });
  }

  /** As in `Positions`; throws the error of a row that has moved where `covered` was not asked for these tables. */
  async statements(position: BatchPosition, { tables, later, all }: Step, signal: AbortSignal): Promise<Moves> {
    const last = this.#units.lastTables(tables);
    for (const { name } of later) last.delete(this.#units.keyOf(name));
    const channel = channelOf(position.text);
    const statements: Statement[] = [];
    const written: (() => void)[] = [];
    for (const [index, [unit, name]] of [...last].entries()) {
      const found = this.#chosenBy.get(position)?.get(unit);
      if (found === undefined) throw unexpectedChanges();
      // What is held back may be of another unit: then nothing is said of the channel as a whole.
      const isLast = position.partial !== true && later.length === 0 && index === last.size - 1;
      const moves = { part: this.#isOneOfSeveral(unit) || !isLast, whole: isLast };
      const events = this.#units.eventsAt(unit, all);
      const move = { name, channel, position: position.text, found, moves, events };
      const { statements: ofUnit, left } = await this.#move(move, signal);
      statements.push(...ofUnit);
      const next = { position: position.text, owner: this.#of.run };
      const part = { ...next, position: PART + next.position };
      written.push(() => {
        for (const { key, known, standing } of left) this.#traces.written(key, known, standing);
        this.#note(channel, unit, {
          ...found,
          ...(moves.part ? { part } : {}),
          ...(moves.whole ? { whole: next } : {}),
        });
      });
    }
    return {
      statements,
      written: () => {
        for (const note of written) note();
      },
    };
  }

  /** After a failed write the rows of its channel are read again. */
  forget({ position }: Batch): void {
    if (position !== undefined) this.#known.delete(channelOf(position.text));
  }

  #note(channel: string, unit: string, found: Found): void {
    this.#known.set(channel, new Map([...(this.#known.get(channel) ?? []), [unit, found]]));
  }

  async #move({ name: of, channel, position, found, moves, events }: Move, signal: AbortSignal): Promise<Moved> {
    const { sink, run, now, settingsHash } = this.#of;
    await this.#units.list(of, sink, signal);
    const name = this.#store.dialect.positionsTable(of);
    const whole = { channel, position };
    // In this order everywhere, so that two agents do not deadlock.
    const rows = [
      ...(moves.part ? [{ ...partOf(whole, settingsHash), known: found.part, events }] : []),
      ...(moves.whole ? [{ ...whole, known: found.whole, events: moves.part ? 0 : events }] : []),
    ];
    const statements: Statement[] = [];
    const left: Left[] = [];
    for (const row of rows) {
      const next = { position: row.position, owner: run };
      const moved = now();
      const move = { sink, channel: row.channel, known: row.known, next, moved, events: row.events };
      statements.push(...(await this.#rows.move(name, move, signal)));
      const standing = { ...next, moved: moved.toISOString() };
      left.push({ key: rowKey(name, row.channel), known: row.known, standing });
    }
    return { statements, left };
  }

  #isOneOfSeveral(unit: string): boolean {
    return unit !== this.#units.keyOf(DEFAULT_SCHEMA);
  }

  async #found({ unit, name: of, channel }: Place, signal: AbortSignal): Promise<Found> {
    const known = this.#known.get(channel)?.get(unit);
    if (known !== undefined) return known;
    const name = this.#store.dialect.positionsTable(of);
    const part = partOf({ channel, position: "" }, this.#of.settingsHash).channel;
    const rows = await this.#rows.read(name, [{ channel }, { channel: part }], signal);
    const own = (wanted: string) => rows.find((row) => row.sink === this.#of.sink && row.channel === wanted);
    const others = rows.filter(({ sink }) => sink !== this.#of.sink);
    for (const one of [channel, part]) this.#traces.read({ key: rowKey(name, one), name, found: own(one) });
    const found = { whole: standingOf(own(channel)), part: standingOf(own(part)), others };
    this.#note(channel, unit, found);
    return found;
  }
}

interface Place {
  readonly unit: string;
  readonly name: TableName;
  readonly channel: string;
}

/** What the rows of a channel in one commit unit say. */
interface Found {
  readonly whole: Standing;
  /** Of the commit unit alone. */
  readonly part: Standing;
  /** Of other sinks. */
  readonly others: readonly Standing[];
}

interface Move {
  readonly name: TableName;
  readonly channel: string;
  readonly position: string;
  readonly found: Found;
  readonly moves: { readonly part: boolean; readonly whole: boolean };
  readonly events: number;
}

/** A row as this run leaves it, and as it was before. */
interface Left {
  readonly key: string;
  readonly known: Standing;
  readonly standing: Standing;
}

interface Moved {
  readonly statements: readonly Statement[];
  readonly left: readonly Left[];
}

function standingOf(row: PositionRow | undefined): Standing {
  return row === undefined ? NOTHING : { position: row.position, owner: row.owner, moved: row.moved };
}

/** The events of a batch that are stored in a commit unit, each with the run that moved the position. */
function storedEvents({ whole, part, others }: Found, batch: Batch): ReadonlyMap<Event, string | undefined> {
  const stored = new Map<Event, string | undefined>();
  for (const { position, owner } of [part, whole, ...others]) {
    if (position === undefined) continue;
    for (const event of coveredBy(withoutPart(position), batch)) if (!stored.has(event)) stored.set(event, owner);
  }
  const last = batch.events.at(-1);
  if (last !== undefined && stored.has(last) && batch.events.some((event) => !stored.has(event))) {
    throw unordered(batch.position?.text);
  }
  return stored;
}

function lastOf(runs: readonly (string | undefined)[]): string | undefined {
  return runs.findLast((run) => run !== undefined);
}

function unordered(position = ""): AgentError {
  const message =
    `storing up to "${position}": the stored position covers the last event of the batch and not all before it; positions ` +
    "of a channel that agents share must cover all events up to a place. Nothing is written";
  return new AgentError("POSITION_UNORDERED", message, { retryable: true });
}
