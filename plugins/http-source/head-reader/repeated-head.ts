import { secretHeaders } from "../headers.js";
import { type HeadLimits, type PlainHead, plainHead } from "./plain-head.js";

/** Heads that differ in more than the length, one after the other, before a connection is taken for one that never repeats any. */
const MOST_MISSES = 8;
const LONGEST_KEPT = 2048;
/** Lengths of which a connection keeps what its head says: the bodies of a sender have a few lengths, in any order. */
const MOST_LENGTHS = 8;
const MOST_DIGITS = 15;
const LENGTH_LINE = /\r\ncontent-length: *(\d+) *\r\n/i;

/** A head in two pieces, around the digits of its Content-Length. */
interface KeptHead {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly head: PlainHead;
  /** What it says with each length that was read. */
  readonly byLength: Map<number, PlainHead>;
}

/**
 * Reads the heads of one connection. Most senders repeat theirs, but for the length: then two comparisons of bytes say what the
 * last head said. One that sends a new correlator each time is soon not compared any longer. Heads with secrets are not kept.
 */
export class RepeatedHead {
  #kept: KeptHead | undefined;
  #misses = 0;

  /** What {@link plainHead} returns. */
  read(bytes: Buffer, limits: HeadLimits): PlainHead | undefined {
    const again = this.#kept === undefined ? undefined : sameAs(this.#kept, bytes, limits);
    if (again !== undefined) {
      this.#misses = 0;
      return again;
    }
    const head = plainHead(bytes, limits);
    if (this.#misses < MOST_MISSES) {
      this.#misses += 1;
      this.#kept = head === undefined || this.#misses === MOST_MISSES ? undefined : keptOf(head, bytes);
    }
    return head;
  }
}

function sameAs(kept: KeptHead, bytes: Buffer, limits: HeadLimits): PlainHead | undefined {
  const { before, after } = kept;
  const from = before.length;
  if (from >= bytes.length || before.compare(bytes, 0, from) !== 0) return undefined;
  const digits = digitsAt(bytes, from);
  const bodyFrom = from + digits + after.length;
  // A length with a leading zero is another text of the same number.
  if (digits === 0 || digits > MOST_DIGITS || (digits > 1 && bytes[from] === ZERO)) return undefined;
  if (bodyFrom > bytes.length || after.compare(bytes, from + digits, bodyFrom) !== 0) return undefined;
  const length = numberAt(bytes, from, digits);
  if (bodyFrom > limits.head || length > limits.body) return undefined;
  return kept.byLength.get(length) ?? withLength(kept, length, bodyFrom);
}

function withLength({ head, byLength }: KeptHead, length: number, bodyFrom: number): PlainHead {
  const headers = { ...head.headers, "content-length": String(length) };
  const other = { ...head, headers, bodyFrom, bodyTo: bodyFrom + length };
  if (byLength.size < MOST_LENGTHS) byLength.set(length, other);
  return other;
}

/** Undefined for a head that is not kept. */
function keptOf(head: PlainHead, bytes: Buffer): KeptHead | undefined {
  const { headers, bodyFrom, bodyTo } = head;
  if (bodyFrom > LONGEST_KEPT || Object.keys(headers).some((name) => secretHeaders.has(name))) return undefined;
  const line = LENGTH_LINE.exec(bytes.toString("latin1", 0, bodyFrom));
  const digits = line?.[1] ?? "";
  if (line === null || String(bodyTo - bodyFrom) !== digits) return undefined;
  const from = line.index + line[0].indexOf(digits);
  // Copies: a part of what was read would keep all of it.
  const before = Buffer.from(bytes.subarray(0, from));
  return {
    before,
    after: Buffer.from(bytes.subarray(from + digits.length, bodyFrom)),
    head,
    byLength: new Map([[bodyTo - bodyFrom, head]]),
  };
}

const ZERO = 0x30;
const NINE = 0x39;

function digitsAt(bytes: Buffer, from: number): number {
  let at = from;
  for (let code = bytes[at] ?? 0; code >= ZERO && code <= NINE; code = bytes[at] ?? 0) at += 1;
  return at - from;
}

function numberAt(bytes: Buffer, from: number, digits: number): number {
  let number = 0;
  for (let at = from; at < from + digits; at += 1) number = number * 10 + (bytes[at] ?? ZERO) - ZERO;
  return number;
}
