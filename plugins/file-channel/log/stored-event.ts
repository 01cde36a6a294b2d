import { type Event, keptTextOf, type TextCodec } from "deneb/sdk";

/** Codecs by their names. */
export type TextCodecs = ReadonlyMap<string, TextCodec>;

export const noCodecs: TextCodecs = new Map();

const LINE_BREAK = 10;

/**
 * The text of a record: the event as JSON, on one line; or three lines, its headers, what reads its body, and the text that
 * its body was read from, as it was sent.
 */
export function textOf(event: Event, codecs: TextCodecs): string {
  const kept = codecs.size === 0 ? undefined : keptTextOf(event.body);
  if (kept === undefined || !codecs.has(kept.codec)) return JSON.stringify(event);
  return `{"headers":${JSON.stringify(event.headers)}}\n["${kept.codec}",${kept.options}]\n${kept.text}`;
}

/**
 * The event of a record; the checksum says that it is what was written. Where a text can no longer be read, it is the body
 * itself: a sink that does not know what to do with it makes a dead letter, and nothing is lost.
 */
export function eventOf(text: Buffer, codecs: TextCodecs): Event {
  const headersEnd = text.indexOf(LINE_BREAK);
  if (headersEnd === -1) return JSON.parse(text.toString());
  const { headers } = headersOf(text);
  const codecEnd = text.indexOf(LINE_BREAK, headersEnd + 1);
  const [name, options]: readonly [string, unknown] = JSON.parse(text.toString("utf8", headersEnd + 1, codecEnd));
  const kept = text.toString("utf8", codecEnd + 1);
  try {
    return { headers, body: codecs.get(name)?.decode(kept, JSON.stringify(options)) ?? kept };
  } catch {
    return { headers, body: kept };
  }
}

/** What has the headers of the event; no body where it is kept as text. */
export function headersOf(text: Buffer): Pick<Event, "headers"> {
  const end = text.indexOf(LINE_BREAK);
  return JSON.parse(text.toString("utf8", 0, end === -1 ? text.length : end));
}
