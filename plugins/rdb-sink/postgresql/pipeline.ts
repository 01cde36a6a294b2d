import { type Cell, type Statement, unexpectedChanges } from "deneb/sql";
import type { Connection, Submittable } from "pg";

export interface PipelineResult {
  readonly rows: readonly (readonly Cell[])[];
  /** The size of the messages of the server in bytes. */
  readonly bytes: number;
}

interface ServerMessage {
  readonly length: number;
}

interface CommandComplete extends ServerMessage {
  /** Such as `UPDATE 1`. */
  readonly text: string;
}

interface DataRow extends ServerMessage {
  readonly fields: readonly (string | null)[];
}

/**
 * All statements in one round trip: every Parse, Bind and Execute, then a single Sync. After an error the server skips
 * the rest. https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 *
 * `pg` calls the `handle...` methods of what is submitted to a client.
 */
export class PostgresqlPipeline implements Submittable {
  readonly done: Promise<PipelineResult>;
  readonly #statements: readonly Statement[];
  readonly #rows: (readonly Cell[])[] = [];
  /** For each run the number of rows that it must change, if given. */
  readonly #changes: readonly (number | undefined)[];
  #completed = 0;
  #unexpected = false;
  #bytes = 0;
  #resolve: (result: PipelineResult) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(statements: readonly Statement[]) {
    this.#statements = statements;
    this.#changes = statements.some(({ changes }) => changes !== undefined)
      ? statements.flatMap(({ runs, changes }) => runs.map(() => changes))
      : [];
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: Connection): void {
    // `pg` reports a broken connection to whoever waits for it.
    const { stream } = connection;
    if (!stream.writable) return;
    // Made before: an error in between would leave the connection corked.
    const pieces = pipelineMessages(this.#statements);
    stream.cork();
    for (const piece of pieces) stream.write(piece);
    stream.uncork();
  }

  handleDataRow(message: DataRow): void {
    this.#bytes += message.length;
    this.#rows.push(message.fields.map((field) => field ?? undefined));
  }

  handleCommandComplete(message: CommandComplete): void {
    this.#bytes += message.length;
    const wanted = this.#changes[this.#completed++];
    if (wanted !== undefined && Number(message.text.split(" ").at(-1)) !== wanted) this.#unexpected = true;
  }

  handleError(error: unknown): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    if (this.#unexpected) this.#reject(unexpectedChanges());
    this.#resolve({ rows: this.#rows, bytes: this.#bytes });
  }
}

// The first byte of each message; https://www.postgresql.org/docs/current/protocol-message-formats.html
const PARSE = code("P");
const BIND = code("B");
const EXECUTE = code("E");
const SYNC = code("S");

const FIRST_PIECE_BYTES = 2048;
const LARGEST_PIECE_BYTES = 65_536;
const NULL_LENGTH = -1;
/** Up to this length a loop is faster than `Buffer.write`: 48 instead of 91 ns for 16 characters. */
const SHORT_TEXT = 32;
const LAST_OF_ASCII = 0x7f;
/** The maximum of bytes in UTF-8 for one code unit of a string. */
const MOST_BYTES_PER_UNIT = 3;

/**
 * The messages that run the statements in one round trip, with a Sync at the end, in few buffers. The serializer of
 * `pg` needs 2.7 times as long and returns a buffer for each message: docs/decisions/0116.
 */
export function pipelineMessages(statements: readonly Statement[]): readonly Buffer[] {
  const writer = new MessageWriter();
  for (const { text, runs } of statements) {
    writer.parse(text);
    for (const run of runs) {
      writer.bind(run);
      writer.execute();
    }
  }
  writer.sync();
  return writer.finish();
}

class MessageWriter {
  readonly #full: Buffer[] = [];
  #buffer = Buffer.allocUnsafe(FIRST_PIECE_BYTES);
  #offset = 0;

  parse(text: string): void {
    const start = this.#begin(PARSE, 8 + text.length * MOST_BYTES_PER_UNIT);
    this.#byte(0);
    this.#offset += this.#buffer.write(text, this.#offset);
    this.#byte(0);
    this.#int16(0);
    this.#end(start);
  }

  /** All parameters and all results as text. */
  bind(cells: readonly Cell[]): void {
    const start = this.#begin(BIND, mostBytesOf(cells));
    this.#byte(0);
    this.#byte(0);
    this.#int16(0);
    this.#int16(cells.length);
    this.#offset = putCells(this.#buffer, cells, this.#offset);
    this.#int16(0);
    this.#end(start);
  }

  execute(): void {
    const start = this.#begin(EXECUTE, 5);
    this.#byte(0);
    this.#int32(0);
    this.#end(start);
  }

  sync(): void {
    this.#end(this.#begin(SYNC, 0));
  }

  finish(): readonly Buffer[] {
    return [...this.#full, this.#buffer.subarray(0, this.#offset)];
  }

  /** Reserves space for the message, and for its length, which is known at its end. */
  #begin(code: number, mostBytes: number): number {
    this.#makeRoom(1 + 4 + mostBytes);
    this.#byte(code);
    const start = this.#offset;
    this.#offset += 4;
    return start;
  }

  #end(start: number): void {
    putInt32(this.#buffer, this.#offset - start, start);
  }

  #byte(value: number): void {
    this.#buffer[this.#offset] = value;
    this.#offset += 1;
  }

  #int16(value: number): void {
    this.#buffer[this.#offset] = value >>> 8;
    this.#buffer[this.#offset + 1] = value;
    this.#offset += 2;
  }

  #int32(value: number): void {
    putInt32(this.#buffer, value, this.#offset);
    this.#offset += 4;
  }

  #makeRoom(bytes: number): void {
    if (this.#offset + bytes <= this.#buffer.length) return;
    this.#full.push(this.#buffer.subarray(0, this.#offset));
    const usual = Math.min(LARGEST_PIECE_BYTES, this.#buffer.length * 4);
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(usual, bytes));
    this.#offset = 0;
  }
}

/**
 * Of strings of many kinds (one or two bytes, part of another one, put together) V8 looks up every property by name again:
 * `text.charCodeAt` for each character took 3 to 6 µs for a row. This call is compiled to a read, and so is the length of what `+` returns.
 */
const { charCodeAt } = String.prototype;

/** Each value behind its length; returns where the last one ends. */
function putCells(buffer: Buffer, cells: readonly Cell[], from: number): number {
  let end = from;
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at];
    const start = end + 4;
    const size = cell === undefined ? NULL_LENGTH : putText(buffer, cell, start);
    putInt32(buffer, size, end);
    end = cell === undefined ? start : start + size;
  }
  return end;
}

/** Returns its size in bytes. */
function putText(buffer: Buffer, text: string, start: number): number {
  const length = lengthOf(text);
  if (length > SHORT_TEXT) return buffer.write(text, start);
  for (let at = 0; at < length; at += 1) {
    const code = charCodeAt.call(text, at);
    if (code > LAST_OF_ASCII) return buffer.write(text, start);
    buffer[start + at] = code;
  }
  return length;
}

function lengthOf(text: string): number {
  // biome-ignore lint/style/useTemplate: a template takes ten times as long.
  return (text + "").length;
}

function putInt32(buffer: Buffer, value: number, at: number): void {
  buffer[at] = value >>> 24;
  buffer[at + 1] = value >>> 16;
  buffer[at + 2] = value >>> 8;
  buffer[at + 3] = value;
}

function mostBytesOf(cells: readonly Cell[]): number {
  let bytes = 8;
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at];
    bytes += 4 + (cell === undefined ? 0 : lengthOf(cell) * MOST_BYTES_PER_UNIT);
  }
  return bytes;
}

function code(text: string): number {
  return text.charCodeAt(0);
}
