import { type Batch, type Event, reasonOf } from "deneb/sdk";
import type { Column } from "./column.js";
import type { KeyedRows } from "./dialects/dialect.js";
import { faultOf } from "./faults.js";
import type { TableBatch } from "./grouping.js";
import type { KnownStore } from "./known-store.js";
import { lookUp } from "./look-up.js";
import { RecentMap } from "./recent-map.js";
import type { Statement } from "./statement.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "./table-name.js";

const SINK = "deneb_sink";
const CHANNEL = "deneb_channel";
const POSITION = "deneb_position";
const KEY = [SINK, CHANNEL];
const MOST_ATTEMPTS = 5;
const COLUMNS: readonly Column[] = [SINK, CHANNEL, POSITION].map((name) => ({ name, kind: "text" }));

/** Stands before the position of a destination that says nothing about the others. */
const PART = "part:";
/** Stands before the name of a database that keeps positions of its own. */
const DATABASE = "database:";
const HOME: SchemaName = { database: "", schema: "" };
const MOST_REMEMBERED = 10_000;

export interface PositionsOf {
  /** Name of the sink. */
  readonly sink: string;
  /** Of what makes rows and chooses their places: a position of one destination holds for these alone. */
  readonly rules: string;
}

/** The tables of one transaction, and those of later ones of the same batch. */
export interface Step {
  readonly tables: readonly Named[];
  readonly later: readonly Named[];
}

type Named = Pick<TableBatch, "name">;
type Wanted = readonly Omit<KeyedRows, "name">[];
type Placed = Pick<TableBatch, "name" | "placed">;

/**
 * How far the channel of a sink is stored, kept in the transaction of the rows. What commits apart from the rest of a
 * batch, a file or a database, keeps the position for itself; the last one keeps it for the whole batch, so neither ever
 * says more than is stored. One row for each sink and channel, and one more where a batch has several destinations.
 */
export class Positions {
  readonly #of: PositionsOf;
  readonly #store: KnownStore;
  /** By destination and channel, as it was when it was first needed: what was written later needs no look. */
  #kept = new RecentMap<readonly string[]>(MOST_REMEMBERED);
  /** The databases that are known to be listed at home. */
  readonly #listed = new Set<string>();

  constructor(of: PositionsOf, store: KnownStore) {
    this.#of = of;
    this.#store = store;
  }

  /** What keeps the position with the rows of these tables; nothing when there are none. Makes its tables first. */
  async statements(position: string, { tables, later }: Step, signal: AbortSignal): Promise<readonly Statement[]> {
    const last = this.#lastTables(tables);
    for (const { name } of later) last.delete(this.#keyOf(name));
    const channel = channelOf(position);
    const kept: Statement[] = [];
    for (const [index, name] of [...last.values()].entries()) {
      // Destinations are committed in the order in which they are named first.
      const whole = later.length === 0 && index === last.size - 1;
      kept.push(...(await this.#keep(name, whole ? [channel, position] : this.#part(channel, position), signal)));
    }
    return kept;
  }

  /** The rows of a batch that are stored: in each destination those that its positions cover. */
  async covered(batch: Batch, tables: readonly TableBatch[], signal: AbortSignal): Promise<readonly Placed[]> {
    const { position } = batch;
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

  /** Every position this sink has kept for whole batches, wherever it is. */
  async stored(signal: AbortSignal): Promise<readonly string[]> {
    const { driver, log } = this.#store;
    const own = { key: [SINK], cells: [this.#of.sink] };
    const places = await driver.places(signal);
    const found = [...(await this.#rows(places, [own], signal))];
    const known = new Set(places.map(({ database }) => database));
    const listed = found.filter((text) => text.startsWith(DATABASE)).map((text) => text.slice(DATABASE.length));
    for (const database of listed.filter((name) => !known.has(name))) {
      try {
        found.push(...(await this.#rows([{ database, schema: "" }], [own], signal)));
      } catch (error) {
        if (signal.aborted) throw error;
        // It is asked again before the first write to it.
        log.warn({ database, reason: reasonOf(error) }, "positions of a database cannot be read now");
      }
    }
    return found.filter((text) => !text.startsWith(PART) && !text.startsWith(DATABASE));
  }

  #part(channel: string, position: string): readonly [string, string] {
    return [`${PART}${channel}:${this.#of.rules}`, `${PART}${position}`];
  }

  async #keep(
    table: TableName,
    [channel, position]: readonly [string, string],
    signal: AbortSignal,
  ): Promise<readonly Statement[]> {
    const { dialect } = this.#store;
    await this.#list(dialect.destination(table), signal);
    const name = dialect.positionsTable(table);
    await this.#make(name, signal);
    return this.#replaced(name, channel, position);
  }

  /** A database that is not the one of the configuration is found again by its row there. */
  async #list({ database }: SchemaName, signal: AbortSignal): Promise<void> {
    if (database === "" || this.#listed.has(database)) return;
    const { dialect, driver } = this.#store;
    const name = dialect.positionsTable(HOME);
    await this.#make(name, signal);
    await driver.write(this.#replaced(name, DATABASE + database, DATABASE + database), signal);
    this.#listed.add(database);
  }

  #replaced(name: TableName, channel: string, position: string): readonly Statement[] {
    const { dialect } = this.#store;
    return [
      dialect.remove({ name, key: KEY, cells: [this.#of.sink, channel] }),
      ...dialect.insert({ name, columns: COLUMNS, rows: [[this.#of.sink, channel, position]] }),
    ];
  }

  /** Those of other sinks of the channel included: they may have had these events before. */
  async #positionsAt(table: TableName, channel: string, signal: AbortSignal): Promise<readonly string[]> {
    const key = `${this.#keyOf(table)}\0${channel}`;
    const remembered = this.#kept.get(key);
    if (remembered !== undefined) return remembered;

    const [part] = this.#part(channel, "");
    const wanted = [channel, part].map((cell) => ({ key: [CHANNEL], cells: [cell] }));
    const texts = await this.#rows([this.#store.dialect.destination(table)], wanted, signal);
    const positions = texts.map((text) => (text.startsWith(PART) ? text.slice(PART.length) : text));
    this.#kept.set(key, positions);
    return positions;
  }

  /** The same once more when somebody drops such a table meanwhile. */
  async #rows(places: readonly SchemaName[], wanted: Wanted, signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await this.#rowsNow(places, wanted, signal);
    } catch (error) {
      if (!this.#store.dialect.faults.missing(faultOf(error))) throw error;
      return await this.#rowsNow(places, wanted, signal);
    }
  }

  /**
   * The positions in these rows of all tables of positions in these places. It waits for writes whose answer nobody waits
   * for any more: a server may still be committing one after its connection broke, or its process was killed.
   */
  async #rowsNow(places: readonly SchemaName[], wanted: Wanted, signal: AbortSignal): Promise<readonly string[]> {
    const { driver, dialect } = this.#store;
    const columns = COLUMNS.map(({ name }) => name);
    const found = new Map<string, { readonly name: TableName; columns: number }>();
    for (const row of await driver.read(dialect.tablesWith(columns, places), signal)) {
      const [database = "", schema = "", table = ""] = row;
      const name = { database, schema, table };
      const known = found.get(tableKey(name)) ?? { name, columns: 0 };
      found.set(tableKey(name), { name, columns: known.columns + 1 });
    }
    const tables = [...found.values()].filter((one) => one.columns === columns.length);
    const questions = tables.flatMap(({ name }) =>
      wanted.flatMap((rows) => dialect.selectSettled(POSITION, { name, ...rows })),
    );
    const answers = await driver.read(questions, signal);
    return answers.flatMap(([position]) => (position === undefined ? [] : [position]));
  }

  async #make(name: TableName, signal: AbortSignal): Promise<void> {
    const { tables, dialect, driver } = this.#store;
    for (let attempt = 1; tables.columns(name) === undefined; attempt++) {
      await lookUp([name], this.#store, signal);
      if (tables.columns(name) !== undefined) return;
      try {
        // Apart from the rows: MySQL commits implicitly at every definition.
        await driver.write(
          [...dialect.createSchema(name), ...dialect.createTable({ name, columns: COLUMNS, key: KEY })],
          signal,
        );
        tables.learn(name, COLUMNS);
      } catch (error) {
        // Every sink of a database shares this table, so others may make it at the same time.
        if (attempt === MOST_ATTEMPTS || !dialect.faults.raced(faultOf(error))) throw error;
      }
    }
  }

  #keyOf(name: SchemaName): string {
    return schemaKey(this.#store.dialect.destination(name));
  }

  /** The last table of each destination; the destinations in the order in which they are named first. */
  #lastTables(tables: readonly Named[]): Map<string, TableName> {
    return new Map(tables.map(({ name }) => [this.#keyOf(name), name]));
  }
}

function channelOf(position: string): string {
  return position.slice(0, Math.max(0, position.indexOf(":")));
}

/** The batch itself, whose answer was lost, is known without its channel. */
function coveredBy(kept: string, batch: Batch): readonly Event[] {
  return kept === batch.position ? batch.events : (batch.coveredBy?.(kept) ?? []);
}
