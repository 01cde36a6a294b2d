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
export type PackedEvent = {
  readonly event: Event;
  /** The most bytes that it adds to a record. */
  readonly bytes: number;
} & ({ readonly line: string; readonly kept?: undefined } | PackedText);

interface PackedText {
  /** JSON. */
  readonly headers: string;
  readonly kept: KeptText;
  readonly textBytes: number;
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
    return { event, line, bytes: Buffer.byteLength(line) + 1 };
  }
  const headers = JSON.stringify(event.headers);
  const textBytes = Buffer.byteLength(kept.text);
  const reader = Buffer.byteLength(kept.codec) + Buffer.byteLength(kept.options);
  return { event, headers, kept, textBytes, bytes: Buffer.byteLength(headers) + textBytes + reader + TEXT_OVERHEAD };
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
  const readerOf = events.map(({ kept }) => (kept === undefined ? -1 : indexIn(readers, kept)));
  const texts = readers.length === 0 ? "" : `,"texts":[${readers.join(",")}]`;
  const name = JSON.stringify(writer);
  const place = follows === undefined ? "" : `,"follows":${follows}`;
  const head = `{"deneb":${VERSION},"events":${events.length},"at":${at},"writer":${name},"before":${before}${place}${texts}}`;
  const most = events.reduce((sum, { bytes }) => sum + bytes, Buffer.byteLength(head));
  // Written one after another: as one text, all of it would be made once more.
  const record = Buffer.allocUnsafe(most);
  let end = record.write(head);
  for (const [index, event] of events.entries()) {
    end = record.writeUInt8(LINE_BREAK, end);
    if (event.kept === undefined) end += record.write(event.line, end);
    else {
      end += record.write(`[${event.headers},${readerOf[index]},${event.textBytes}]\n`, end);
      const isAscii = event.textBytes === event.kept.text.length;
      end += record.write(event.kept.text, end, isAscii ? "latin1" : "utf8");
    }
  }
  return record.subarray(0, end);
}

/** Few of them: brokers send the same headers with each notification. */
function indexIn(readers: string[], { codec, options }: KeptText): number {
  const reader = `["${codec}",${options}]`;
  const known = readers.indexOf(reader);
  return known === -1 ? readers.push(reader) - 1 : known;
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
  if (count !== events.length) throw unreadable(`it says ${count} events and has ${events.length}`);
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
