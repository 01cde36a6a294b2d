import { isRecord } from "../sdk/event.js";
import { AgentError, type Event, originHeader } from "../sdk/index.js";

export { originHeader };

/** The version of the records that this agent writes; it reads them up to this one. */
const VERSION = 1;

/** An event on its way into a record. */
export interface PackedEvent {
  readonly event: Event;
  /** One line of JSON. */
  readonly line: string;
  readonly bytes: number;
}

/** An event of a record. */
export interface UnpackedEvent {
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
export interface RecordHead {
  /** Milliseconds since 1970 at which it was made, by the clock of the agent that made it. */
  readonly at: number;
  /** Who appends to the part; another one after each append of which the outcome is not known. */
  readonly writer: string;
  /** The events that the writer has appended to the part before this record. */
  readonly before: number;
}

/** What a record holds. */
export interface Unpacked extends RecordHead {
  readonly events: readonly UnpackedEvent[];
}

/** Encodes an event once; the record is made of such lines. */
export function packed(event: Event): PackedEvent {
  const line = JSON.stringify([event.headers, event.body]);
  return { event, line, bytes: Buffer.byteLength(line) + 1 };
}

/** The most bytes that a record takes besides its events. */
export const recordOverhead = 256;

/** A record: a line about itself, then a line for each event. */
export function packedRecord(events: readonly PackedEvent[], about: RecordHead): Uint8Array {
  const head = JSON.stringify({ deneb: VERSION, events: events.length, ...about });
  return Buffer.from([head, ...events.map(({ line }) => line)].join("\n"));
}

/**
 * Reads a record. Throws `RECORD_UNREADABLE` for what no agent wrote, and `RECORD_NEWER` for one of a later version.
 */
export function unpackedRecord(value: Uint8Array): Unpacked {
  const [head = "", ...lines] = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString().split("\n");
  const facts = headOf(head);
  if (facts.events !== lines.length) throw unreadable(`it says ${facts.events} events and has ${lines.length}`);
  const { events: _, ...about } = facts;
  return { ...about, events: lines.map(unpackedLine) };
}

/** The event without the header of its origin, and that origin. */
export function unpackedEvent(event: Event): UnpackedEvent {
  const text = event.headers[originHeader];
  if (text === undefined) return { event, origin: undefined };
  const { [originHeader]: _, ...headers } = event.headers;
  return { event: { headers, body: event.body }, origin: originOf(text) };
}

/** The text of an origin as the header has it. */
export function originText({ of, offset, index }: Origin): string {
  return `${of}:${offset}+${index}`;
}

/** Undefined for a text that is none. */
export function originOf(text: string): Origin | undefined {
  const found = /^([^:,=]+):(\d+)\+(\d+)$/.exec(text);
  return found === null ? undefined : { of: found[1] ?? "", offset: Number(found[2]), index: Number(found[3]) };
}

function headOf(line: string): RecordHead & { readonly events: number } {
  const head = parsed(line);
  if (!isRecord(head) || typeof head["deneb"] !== "number")
    throw unreadable("it does not begin with a line of an agent");
  if (head["deneb"] > VERSION) {
    const message = `reading a record of version ${head["deneb"]}: this agent reads up to ${VERSION}; start a later version of it`;
    throw new AgentError("RECORD_NEWER", message, { retryable: true });
  }
  const { events, at, writer, before } = head;
  const isWhole = typeof events === "number" && typeof at === "number" && typeof before === "number";
  if (!isWhole || typeof writer !== "string") throw unreadable("its first line is incomplete");
  return { events, at, writer, before };
}

function unpackedLine(line: string): UnpackedEvent {
  const value = parsed(line);
  if (!Array.isArray(value) || value.length !== 2) throw unreadable("a line of it is no event");
  const [headers, body]: readonly unknown[] = value;
  if (!isHeaders(headers)) throw unreadable("the headers of an event are no texts");
  return unpackedEvent({ headers, body });
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
