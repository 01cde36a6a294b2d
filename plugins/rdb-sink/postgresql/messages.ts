import type { Cell, Statement } from "deneb/sql";
import { MOST_BYTES_PER_UNIT, mostBytesOf, putCells, putInt32, putRow } from "./cell-bytes.js";

// The first byte of each message; https://www.postgresql.org/docs/current/protocol-message-formats.html
const PARSE = code("P");
const BIND = code("B");
const EXECUTE = code("E");
const COPY_DATA = code("d");
const COPY_DONE = code("c");
const CLOSE = code("C");
const SYNC = code("S");
/** What is closed. */
const STATEMENT = code("S");

const NO_CELLS: readonly Cell[] = [];
const FIRST_PIECE_BYTES = 2048;
const LARGEST_PIECE_BYTES = 65_536;

/** The name that the text of a statement has on the server, and whether the server gets the text with it. */
export type NameOf = (statement: Statement) => { readonly name: string; readonly isNew: boolean } | undefined;

/** What the server does with statements beside reading and running each of them. */
export interface Ways {
  readonly copyOf: CopyOf;
  readonly nameOf: NameOf;
}

/** The COPY that puts the rows of a statement into their table; undefined for one that runs unchanged. */
export type CopyOf = (statement: Statement) => string | undefined;

/**
 * The messages that run the statements in one round trip, with a Sync at the end, in few buffers. The serializer of
 * `pg` needs 2.7 times as long and returns a buffer for each message: docs/decisions/0116.
 *
 * The server reads the rows of a COPY when it has come to it, so they need not wait for its answer.
 */
export function pipelineMessages(
  statements: readonly Statement[],
  { copyOf, nameOf }: Ways = plainly,
): readonly Buffer[] {
  const writer = new MessageWriter();
  for (const statement of statements) {
    const copy = copyOf(statement);
    if (copy === undefined) run(writer, statement, nameOf);
    else {
      writer.parse("", copy);
      writer.bind("", NO_CELLS);
      writer.execute();
      writer.copied(statement.runs);
      writer.copyDone();
    }
  }
  writer.sync();
  return writer.finish();
}

function run(writer: MessageWriter, statement: Statement, nameOf: NameOf): void {
  const { text, runs } = statement;
  const { name, isNew } = nameOf(statement) ?? { name: "", isNew: true };
  // The server may know another statement by the name.
  if (isNew && name !== "") writer.close(name);
  if (isNew) writer.parse(name, text);
  for (const cells of runs) {
    writer.bind(name, cells);
    writer.execute();
  }
}

function none(): undefined {}

/** Each statement is read and run. */
export const plainly: Ways = { copyOf: none, nameOf: none };

class MessageWriter {
  readonly #full: Buffer[] = [];
  #buffer = Buffer.allocUnsafe(FIRST_PIECE_BYTES);
  #offset = 0;

  close(name: string): void {
    const start = this.#begin(CLOSE, 2 + name.length);
    this.#byte(STATEMENT);
    this.#name(name);
    this.#end(start);
  }

  parse(name: string, text: string): void {
    const start = this.#begin(PARSE, 8 + name.length + text.length * MOST_BYTES_PER_UNIT);
    this.#name(name);
    this.#offset += this.#buffer.write(text, this.#offset);
    this.#byte(0);
    this.#int16(0);
    this.#end(start);
  }

  /** All parameters and all results as text. */
  bind(name: string, cells: readonly Cell[]): void {
    const start = this.#begin(BIND, name.length + mostBytesOf(cells));
    this.#byte(0);
    this.#name(name);
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

  /**
   * Rows in the text format: https://www.postgresql.org/docs/current/sql-copy.html. An escaped character takes two bytes, fewer than
   * are reserved.
   */
  copied(rows: readonly (readonly Cell[])[]): void {
    let start: number | undefined;
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] ?? NO_CELLS;
      const mostBytes = mostBytesOf(row);
      if (start === undefined || this.#offset + mostBytes > this.#buffer.length) {
        if (start !== undefined) this.#end(start);
        start = this.#begin(COPY_DATA, mostBytes);
      }
      this.#offset = putRow(this.#buffer, row, this.#offset);
    }
    if (start !== undefined) this.#end(start);
  }

  copyDone(): void {
    this.#end(this.#begin(COPY_DONE, 0));
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

  /** Of ASCII. */
  #name(name: string): void {
    for (let at = 0; at < name.length; at += 1) this.#byte(name.charCodeAt(at));
    this.#byte(0);
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

function code(text: string): number {
  return text.charCodeAt(0);
}
