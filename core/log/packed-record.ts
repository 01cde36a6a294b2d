import { counted } from "../sdk/counted.js";
import { isRecord } from "../sdk/event.js";
import {
  AgentError,
  bodyOfText,
  type Event,
  type KeptText,
  keptTextFor,
  originHeader,
  type TextCodecs,
} from "../sdk/index.js";

export { originHeader };

/** The version of the records that this agent writes; it reads them up to this one. Version 1 had no texts. */
const VERSION = 2;

const LINE_BREAK = 10;
/** The most bytes that an event with a text takes besides its headers, its text and what reads it: brackets, numbers, line breaks. */
const TEXT_OVERHEAD = 40;

/** An event on its way into a record: its headers and its body as JSON, or its headers and the text its body was read from. */
export interface PackedEvent {
  readonly event: Event;
  /** The most bytes that it adds to a record. */
  readonly bytes: number;
  /** Its line in a record; before a text as if what reads it were the first one there. */
  readonly line: string;
  readonly lineBytes: number;
  readonly kept: PackedText | undefined;
}

interface PackedText {
  readonly text: string;
  readonly bytes: number;
  /** What reads it, as in a record. */
  readonly reader: string;
}

/** An event of a record. */
interface UnpackedEvent {
  readonly event: Event;
  readonly origin: Origin | undefined;
}

/** The place of an event in the log of somebody else. */
export interface Origin {
  /** Names a part of that log. */
  readonly of: string;
  readonly offset: number;
  readonly index: number;
}

/** What a record says of itself. */
interface RecordHead {
  /** Milliseconds since 1970 at which it was made, by the clock of the agent that made it. */
  readonly at: number;
  /** Who appends to the part; another one after each append of which the outcome is not known. */
  readonly writer: string;
  /** The events that the writer has appended to the part before this record. */
  readonly before: number;
  /** The offset of the record that the writer has appended to the part before; undefined for its first one, and in records of earlier versions. */
  readonly follows?: number | undefined;
}

/** What a record holds. */
export interface Unpacked extends RecordHead {
  readonly events: readonly UnpackedEvent[];
}

/** Encodes an event once; the record is made of such parts. */
export function packed(event: Event, codecs: TextCodecs): PackedEvent {
  const kept = keptTextFor(event, codecs);
  if (kept === undefined) {
    const line = JSON.stringify([event.headers, event.body]);
    const lineBytes = Buffer.byteLength(line);
    return { event, bytes: lineBytes + 1, line, lineBytes, kept: undefined };
  }
  const { text } = kept;
  const bytes = Buffer.byteLength(text);
  const line = JSON.stringify([event.headers, 0, bytes]);
  const lineBytes = Buffer.byteLength(line);
  const reader = readerOf(kept);
  const all = lineBytes + bytes + Buffer.byteLength(reader) + TEXT_OVERHEAD;
  return { event, bytes: all, line, lineBytes, kept: { text, bytes, reader } };
}

/** Of the last text: brokers send the same headers with each notification. */
let last = { codec: "", options: "", reader: "" };

function readerOf({ codec, options }: KeptText): string {
  if (codec !== last.codec || options !== last.options) last = { codec, options, reader: `["${codec}",${options}]` };
  return last.reader;
}

/** The most bytes that a record takes besides its events. */
export const recordOverhead = 256;

/**
 * A record: a line about itself, then each event. An event is a line `[headers, body]`, or a line `[headers, reader, bytes]`, then
 * a text of that many bytes and a line break; `reader` is the index in `texts` of the first line of what reads it: a codec and
 * its options.
 */
export function packedRecord(events: readonly PackedEvent[], { at, writer, before, follows }: RecordHead): Uint8Array {
  const readers: string[] = [];
  let bytes = 0;
  for (const event of events) {
    bytes += event.bytes;
    // Few of them.
    if (event.kept !== undefined && !readers.includes(event.kept.reader)) readers.push(event.kept.reader);
  }
  const texts = readers.length === 0 ? "" : `,"texts":[${readers.join(",")}]`;
  const name = JSON.stringify(writer);
  const place = follows === undefined ? "" : `,"follows":${follows}`;
  const head = `{"deneb":${VERSION},"events":${events.length},"at":${at},"writer":${name},"before":${before}${place}${texts}}`;
  // Written one after another: as one text, all of it would be made once more.
  const record = Buffer.allocUnsafe(Buffer.byteLength(head) + bytes);
  let end = record.write(head);
  for (const { line, lineBytes, kept } of events) {
    const reader = kept === undefined ? 0 : readers.indexOf(kept.reader);
    record[end] = LINE_BREAK;
    end += 1 + record.write(reader === 0 ? line : lineWith(line, reader), end + 1, encodingOf(line, lineBytes));
    if (kept === undefined) continue;
    record[end] = LINE_BREAK;
    end += 1 + record.write(kept.text, end + 1, encodingOf(kept.text, kept.bytes));
  }
  return record.subarray(0, end);
}

/** The line of an event whose text is not read by the first reader. */
function lineWith(line: string, reader: number): string {
  const at = line.lastIndexOf(",0,");
  return `${line.slice(0, at)},${reader}${line.slice(at + 2)}`;
}

/** Of a text with that many bytes. */
function encodingOf(text: string, bytes: number): "latin1" | "utf8" {
  return bytes === text.length ? "latin1" : "utf8";
}

/**
 * Reads a record. Throws `RECORD_UNREADABLE` for what no agent wrote, and `RECORD_NEWER` for one of a later version.
 */
export function unpackedRecord(value: Uint8Array, codecs: TextCodecs): Unpacked {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const lines = new Lines(bytes);
  const { events: count, texts, ...about } = headOf(lines.next() ?? "");
  const events: UnpackedEvent[] = [];
  for (let line = lines.next(); line !== undefined; line = lines.next())
    events.push(unpackedLine(line, (reader, length) => bodyOfText(keptOf(texts[reader], lines.text(length)), codecs)));
  if (count !== events.length) throw unreadable(`it says ${counted(count, "event")} and has ${events.length}`);
  return { ...about, events };
}

/** What stands in a record, one after another. */
class Lines {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Undefined behind the last one. */
  next(): string | undefined {
    if (this.#at > this.#bytes.length) return undefined;
    const end = this.#bytes.indexOf(LINE_BREAK, this.#at);
    return this.text((end === -1 ? this.#bytes.length : end) - this.#at);
  }

  /** The next `length` bytes, behind which a line ends. */
  text(length: number): string {
    const end = this.#at + length;
    const isWhole = end === this.#bytes.length || this.#bytes[end] === LINE_BREAK;
    if (!isWhole) throw unreadable("a text of it is not as long as it says");
    const text = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end + 1;
    return text;
  }
}

/** The event without the header of its origin, and that origin. */
export function unpackedEvent(event: Event): UnpackedEvent {
  const text = event.headers[originHeader];
  if (text === undefined) return { event, origin: undefined };
  const { [originHeader]: _, ...headers } = event.headers;
  return { event: { headers, body: event.body }, origin: originOf(text) };
}

/** Undefined for a text that is none. */
function originOf(text: string): Origin | undefined {
  const found = /^([^:,=]+):(\d+)\+(\d+)$/.exec(text);
  return found === null ? undefined : { of: found[1] ?? "", offset: Number(found[2]), index: Number(found[3]) };
}

/** What reads a text: the name of a codec, and what it needs to know. */
type Reader = readonly [codec: string, options: unknown];

function headOf(line: string): RecordHead & { readonly events: number; readonly texts: readonly Reader[] } {
  const head = parsed(line);
  if (!isRecord(head) || typeof head["deneb"] !== "number")
    throw unreadable("it does not begin with a line of an agent");
  if (head["deneb"] > VERSION) {
    const message = `reading a record of version ${head["deneb"]}: this agent reads up to ${VERSION}; start a later version of it`;
    throw new AgentError("RECORD_NEWER", message, { retryable: true });
  }
  const { events, at, writer, before, follows, texts = [] } = head;
  const isWhole = typeof events === "number" && typeof at === "number" && typeof before === "number";
  if (!isWhole || typeof writer !== "string" || !areReaders(texts)) throw unreadable("its first line is incomplete");
  return { events, at, writer, before, follows: isLength(follows) ? follows : undefined, texts };
}

function areReaders(value: unknown): value is readonly Reader[] {
  return Array.isArray(value) && value.every((one) => Array.isArray(one) && typeof one[0] === "string");
}

function keptOf(reader: Reader | undefined, text: string): KeptText {
  if (reader === undefined) throw unreadable("it does not say what reads a text of it");
  return { codec: reader[0], options: JSON.stringify(reader[1]), text };
}

function unpackedLine(line: string, read: (reader: number, length: number) => unknown): UnpackedEvent {
  const value = parsed(line);
  if (!Array.isArray(value) || value.length < 2 || value.length > 3) throw unreadable("a line of it is no event");
  const [headers, body, length]: readonly unknown[] = value;
  if (!isHeaders(headers)) throw unreadable("the headers of an event are no texts");
  if (value.length === 2) return unpackedEvent({ headers, body });
  if (typeof body !== "number" || !isLength(length)) throw unreadable("a line of it is no event");
  return unpackedEvent({ headers, body: read(body, length) });
}

function isLength(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isHeaders(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === "string");
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw unreadable("a line of it is no JSON", error);
  }
}

function unreadable(reason: string, cause?: unknown): AgentError {
  return new AgentError("RECORD_UNREADABLE", `reading a record of the log: ${reason}`, { retryable: false, cause });
}
