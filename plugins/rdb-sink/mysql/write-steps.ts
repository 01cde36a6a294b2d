import type { Cell, Statement } from "deneb/sql";
import { digitsOf } from "./statements.js";

/** Characters of statements that are sent together: a server may take no more than 1 MiB at once. */
const MOST_CHARACTERS = 250_000;
/** For a server, or what is in front of it, that takes one statement at a time. */
const ONE_AT_A_TIME = 0;
/** Characters of values from which on a statement is sent by itself, with its values apart. */
const LARGE_CHARACTERS = 50_000;

/** A statement and the values of one run. */
interface Run {
  readonly statement: Statement;
  readonly run: readonly Cell[];
}

/** One thing to send, and to wait for: several statements as one text, or one whose outcome is looked at. */
export type WriteStep = string | Run;

/**
 * The steps of a transaction up to its commit. A statement that is sent by itself takes a round trip, and two where the server has to
 * prepare it; a batch for a thousand tables has thousands.
 */
export function* writeSteps(
  statements: readonly Statement[],
  sent: "together" | "one at a time" = "together",
): Generator<WriteStep> {
  const most = sent === "together" ? MOST_CHARACTERS : ONE_AT_A_TIME;
  let together = "START TRANSACTION";
  for (const one of runsOf(statements)) {
    const text = isApart(one) ? "" : withValues(one.statement.text, one.run);
    const fits = text !== "" && together.length + text.length < most;
    if (fits && together !== "") together += `;${text}`;
    else {
      if (together !== "") yield together;
      together = text;
    }
    if (text === "") yield one;
  }
  if (together !== "") yield together;
}

const MOST_BYTES_OF_A_CHARACTER = 3;
/** What a message has besides its values: its head, and for each value its type and length. */
const HEAD_BYTES = 64;
const BYTES_BESIDE_A_VALUE = 12;

/** Whether the server takes a step as one message; it ends the connection of a larger one, which may be all that is seen of it. */
export function fitsInto(packetBytes: number, step: WriteStep): boolean {
  const values = typeof step === "string" ? [step] : step.run;
  let bytes = HEAD_BYTES;
  for (const cell of values) bytes += BYTES_BESIDE_A_VALUE + MOST_BYTES_OF_A_CHARACTER * (cell?.length ?? 0);
  if (bytes <= packetBytes) return true;
  bytes = HEAD_BYTES;
  for (const cell of values) bytes += BYTES_BESIDE_A_VALUE + Buffer.byteLength(cell ?? "");
  return bytes <= packetBytes;
}

function* runsOf(statements: readonly Statement[]): Generator<Run> {
  for (const statement of statements) for (const run of statement.runs) yield { statement, run };
}

function isApart({ statement, run }: Run): boolean {
  if (statement.changes !== undefined) return true;
  let characters = 0;
  for (const cell of run) characters += cell?.length ?? 0;
  return characters > LARGE_CHARACTERS;
}

/** A quoted name, a text of the statement, or the place of a value. */
const PIECES = /`[^`]*`|'(?:[^'\\]|\\.)*'|\?/gs;

/** The statement with its values in place. A question mark in a name is part of the name. */
export function withValues(text: string, run: readonly Cell[]): string {
  let next = 0;
  const filled = text.replace(PIECES, (piece) => {
    if (piece !== "?") return piece;
    next += 1;
    return literal(run[next - 1]);
  });
  if (next !== run.length) throw new Error(`a statement has ${next} places for ${run.length} values`);
  return filled;
}

const SPECIAL = /['\\\0\u0080-\uffff]/;
const BEYOND_ASCII = /[\u0080-\uffff]/;
const EACH_SPECIAL = /['\\\0]/g;

/**
 * A text as the server reads it in a session without NO_BACKSLASH_ESCAPES. In some character sets other characters hold a quote, or take
 * a backslash behind them for a part of theirs, and a session may get another one behind our back: what is not ASCII goes as digits.
 */
function literal(cell: Cell): string {
  if (cell === undefined) return "NULL";
  if (!SPECIAL.test(cell)) return `'${cell}'`;
  if (BEYOND_ASCII.test(cell)) return digitsOf(cell);
  return `'${cell.replace(EACH_SPECIAL, escaped)}'`;
}

function escaped(character: string): string {
  return character === "\0" ? "\\0" : `\\${character}`;
}
