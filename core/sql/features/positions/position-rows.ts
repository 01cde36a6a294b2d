import type { Column } from "../../contract/column.js";
import { databaseErrorOf } from "../../contract/database-error.js";
import type { Cell, Statement, TableName } from "../../contract/statement.js";
import { findOwnTable, type KnownStore, makeOwnTable, type OwnTable } from "../../tables/known-store.js";

export const SINK = "deneb_sink";
export const CHANNEL = "deneb_channel";
const POSITION = "deneb_position";
const OWNER = "deneb_owner";
export const MOVED = "deneb_moved";
export const EVENTS = "deneb_events";
const KEY = [SINK, CHANNEL];
const TEXTS = [SINK, CHANNEL, POSITION, OWNER, MOVED];
const COLUMNS: readonly Column[] = [
  ...TEXTS.map((name): Column => ({ name, kind: "text" })),
  { name: EVENTS, kind: "integer" },
];
/** Bounds for what is read, whoever wrote it. */
const MOST_ROWS = 10_000;
const MOST_CHARACTERS = 65_536;

/** Prefix of the position of a single commit unit. */
export const PART = "part:";
/** Prefix of the name of a database that keeps its own positions. */
export const DATABASE = "database:";

/** How far a channel is stored, and who wrote it last; both undefined if there is no row. */
export interface Standing {
  readonly position: string | undefined;
  /** The run of the agent; undefined in rows of earlier versions. */
  readonly owner: string | undefined;
  /** The time of the last move, where it is remembered. */
  readonly moved?: string | undefined;
}

export interface PositionRow extends Standing {
  readonly sink: string;
  /** The name of a channel, of a part of it, or of a database. */
  readonly channel: string;
  readonly position: string;
  readonly moved: string | undefined;
}

/** The rows of this sink, or of this channel. */
type Wanted = { readonly sink: string } | { readonly channel: string };

interface Move {
  readonly sink: string;
  readonly channel: string;
  readonly known: Standing;
  readonly next: { readonly position: string; readonly owner: string };
  readonly moved: Date;
  /** The number of events with rows in the same transaction. */
  readonly events: number;
}

/** The rows of the tables that keep positions. */
export class PositionRows {
  readonly #store: KnownStore;
  #strangeToReport = true;

  constructor(store: KnownStore) {
    this.#store = store;
  }

  /** Empty if the table does not exist. Tries once more if the table is dropped meanwhile. */
  async read(name: TableName, wanted: readonly Wanted[], signal: AbortSignal): Promise<readonly PositionRow[]> {
    try {
      return await this.#readNow(name, wanted, signal);
    } catch (error) {
      const { dialect, tables } = this.#store;
      if (!dialect.errors.missing(databaseErrorOf(error))) throw error;
      tables.forget(name);
      return await this.#readNow(name, wanted, signal);
    }
  }

  /**
   * Moves a position by compare-and-set: another position or owner in the row ends the transaction. Creates the table
   * first.
   */
  async move(name: TableName, move: Move, signal: AbortSignal): Promise<readonly Statement[]> {
    const { dialect } = this.#store;
    await makeOwnTable(positionTableAt(name), this.#store, signal);
    const { sink, channel, known, next, events } = move;
    const moved = move.moved.toISOString();
    if (known.position === undefined) {
      const row = [sink, channel, next.position, next.owner, moved, String(events)];
      return dialect.insertNew({ name, columns: COLUMNS, rows: [row] });
    }
    const change = dialect.changeKnown({
      name,
      key: [
        [SINK, sink],
        [CHANNEL, channel],
      ],
      known: [
        [POSITION, known.position],
        [OWNER, known.owner],
      ],
      next: [
        [POSITION, next.position],
        [OWNER, next.owner],
        [MOVED, moved],
      ],
      counter: { column: EVENTS, by: events },
    });
    return [change];
  }

  /** Writes a row without concurrent writers. */
  async list(name: TableName, sink: string, text: string, signal: AbortSignal): Promise<void> {
    const { dialect, driver } = this.#store;
    await makeOwnTable(positionTableAt(name), this.#store, signal);
    const columns = COLUMNS.slice(0, 3);
    const statements = [
      dialect.remove({ name, key: KEY, cells: [sink, text] }),
      ...dialect.insert({ name, columns, rows: [[sink, text, text]] }),
    ];
    await driver.write(statements, signal);
  }

  /** The statement that deletes the row, for a message. */
  deletion(name: TableName, sink: string, channel: string): string {
    const cells = [sink, channel];
    const { text } = this.#store.dialect.remove({ name, key: KEY, cells });
    let next = 0;
    return text.replace(/\$\d+|\?/g, () => `'${(cells[next++] ?? "").replaceAll("'", "''")}'`);
  }

  /**
   * Waits for pending writes: a server may still be committing one after its connection broke or its client was killed.
   */
  async #readNow(name: TableName, wanted: readonly Wanted[], signal: AbortSignal): Promise<readonly PositionRow[]> {
    const { driver, dialect } = this.#store;
    if (!(await findOwnTable(positionTableAt(name), this.#store, signal))) return [];
    const bounds = {
      columns: TEXTS,
      primaryKey: KEY,
      latestBy: MOVED,
      mostRows: MOST_ROWS,
      mostCharacters: MOST_CHARACTERS + 1,
    };
    const questions = wanted.flatMap((one) => {
      const [key, cell] = "sink" in one ? [SINK, one.sink] : [CHANNEL, one.channel];
      return dialect.selectSettled({ name, key: [key], cells: [cell], ...bounds });
    });
    const answers = await driver.read(questions, signal);
    const rows = answers.flatMap((cells) => rowOf(cells) ?? []);
    this.#warn(name, answers.length - rows.length);
    return rows;
  }

  #warn(name: TableName, strange: number): void {
    if (strange === 0 || !this.#strangeToReport) return;
    this.#strangeToReport = false;
    const fields = { rows: strange, schema: name.schema, table: name.table };
    this.#store.log.warn(fields, "rows of the table of positions that no agent wrote are ignored");
  }
}

export function positionTableAt(name: TableName): OwnTable {
  return { name, columns: COLUMNS, key: KEY };
}

/** Undefined for a row that no agent wrote. */
function rowOf([sink, channel, position, owner, moved]: readonly Cell[]): PositionRow | undefined {
  if (sink === undefined || channel === undefined || position === undefined) return undefined;
  if (position.length > MOST_CHARACTERS || !fits(channel, position)) return undefined;
  return { sink, channel, position, owner, moved };
}

function fits(channel: string, position: string): boolean {
  if (channel.startsWith(DATABASE)) return position === channel && channel.length > DATABASE.length;
  if (channel.startsWith(PART)) {
    const [, id = ""] = channel.split(":");
    return id !== "" && position.startsWith(`${PART}${id}:`);
  }
  return channel !== "" && position.startsWith(`${channel}:`);
}
