import type { Column } from "./column.js";
import { faultOf } from "./faults.js";
import type { KnownStore } from "./known-store.js";
import { findOwnTable, makeOwnTable, type OwnTable } from "./own-table.js";
import type { Cell, Statement } from "./statement.js";
import type { TableName } from "./table-name.js";

export const SINK = "deneb_sink";
export const CHANNEL = "deneb_channel";
const POSITION = "deneb_position";
const OWNER = "deneb_owner";
const MOVED = "deneb_moved";
export const EVENTS = "deneb_events";
const KEY = [SINK, CHANNEL];
const TEXTS = [SINK, CHANNEL, POSITION, OWNER, MOVED];
const COLUMNS: readonly Column[] = [
  ...TEXTS.map((name): Column => ({ name, kind: "text" })),
  { name: EVENTS, kind: "integer" },
];
/** Bounds of what is read, whoever wrote it. */
const MOST_ROWS = 1000;
const MOST_CHARACTERS = 65_536;

/** Stands before the position of a destination that says nothing about the others. */
export const PART = "part:";
/** Stands before the name of a database that keeps positions of its own. */
export const DATABASE = "database:";

/** How far a channel is stored and who wrote it last; both undefined when there is no row. */
export interface Standing {
  readonly position: string | undefined;
  /** The run of the agent; undefined in rows of earlier versions. */
  readonly owner: string | undefined;
}

export interface PositionRow extends Standing {
  readonly sink: string;
  /** The name of a channel, of a part of it, or of a database. */
  readonly channel: string;
  readonly position: string;
  /** When it was moved the last time. */
  readonly moved: string | undefined;
}

/** Of this sink or of this channel. */
export type Wanted = { readonly sink: string } | { readonly channel: string };

export interface Move {
  readonly sink: string;
  readonly channel: string;
  readonly known: Standing;
  readonly next: { readonly position: string; readonly owner: string };
  readonly moved: Date;
  /** How many events have rows in the same transaction. */
  readonly events: number;
}

/** The rows of the tables that keep positions. */
export class PositionRows {
  readonly #store: KnownStore;
  #strangeToTell = true;

  constructor(store: KnownStore) {
    this.#store = store;
  }

  /** Nothing when the table is not there. The same once more when somebody drops it meanwhile. */
  async read(name: TableName, wanted: readonly Wanted[], signal: AbortSignal): Promise<readonly PositionRow[]> {
    try {
      return await this.#readNow(name, wanted, signal);
    } catch (error) {
      const { dialect, tables } = this.#store;
      if (!dialect.faults.missing(faultOf(error))) throw error;
      tables.forget(name);
      return await this.#readNow(name, wanted, signal);
    }
  }

  /** Moves a position from where it is known to be: another place or owner ends the transaction. Makes the table first. */
  async move(name: TableName, move: Move, signal: AbortSignal): Promise<readonly Statement[]> {
    const { dialect } = this.#store;
    await makeOwnTable(tableAt(name), this.#store, signal);
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

  /** Writes a row that nobody competes for. */
  async list(name: TableName, sink: string, text: string, signal: AbortSignal): Promise<void> {
    const { dialect, driver } = this.#store;
    await makeOwnTable(tableAt(name), this.#store, signal);
    const columns = COLUMNS.slice(0, 3);
    const statements = [
      dialect.remove({ name, key: KEY, cells: [sink, text] }),
      ...dialect.insert({ name, columns, rows: [[sink, text, text]] }),
    ];
    await driver.write(statements, signal);
  }

  /** What deletes the row, as text for people. */
  deletion(name: TableName, sink: string, channel: string): string {
    const cells = [sink, channel];
    const { text } = this.#store.dialect.remove({ name, key: KEY, cells });
    let next = 0;
    return text.replace(/\$\d+|\?/g, () => `'${(cells[next++] ?? "").replaceAll("'", "''")}'`);
  }

  /**
   * Waits for writes whose answer nobody waits for any more: a server may still be committing one after its connection
   * broke, or its process was killed.
   */
  async #readNow(name: TableName, wanted: readonly Wanted[], signal: AbortSignal): Promise<readonly PositionRow[]> {
    const { driver, dialect } = this.#store;
    if (!(await findOwnTable(tableAt(name), this.#store, signal))) return [];
    const bounds = { columns: TEXTS, latestBy: MOVED, mostRows: MOST_ROWS, mostCharacters: MOST_CHARACTERS + 1 };
    const questions = wanted.flatMap((one) => {
      const [key, cell] = "sink" in one ? [SINK, one.sink] : [CHANNEL, one.channel];
      return dialect.selectSettled({ name, key: [key], cells: [cell], ...bounds });
    });
    const answers = await driver.read(questions, signal);
    const rows = answers.flatMap((cells) => rowOf(cells) ?? []);
    this.#tell(name, answers.length - rows.length);
    return rows;
  }

  #tell(name: TableName, strange: number): void {
    if (strange === 0 || !this.#strangeToTell) return;
    this.#strangeToTell = false;
    const fields = { rows: strange, schema: name.schema, table: name.table };
    this.#store.log.warn(fields, "rows of the table of positions that Deneb did not write are ignored");
  }
}

function tableAt(name: TableName): OwnTable {
  return { name, columns: COLUMNS, key: KEY };
}

/** Undefined for a row that is not one of ours. */
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
