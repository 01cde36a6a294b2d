import { bodyOfText, type Event, keptTextFor, type TextCodecs } from "deneb/sdk";
import { serviceKey } from "deneb/sdk/channel";
import { type RecordText, recordText } from "./records.js";

const LINE_BREAK = 10;
/** How the text of an event begins, unless its plugin writes the body first. */
const BEGINNING = '{"headers":{';
/** Headers are looked for in the first bytes only; a text with longer ones is decoded. */
const FIRST_BYTES = 512;

const MEMBER = /"((?:[^"\\]|\\.)*)":"((?:[^"\\]|\\.)*)"([,}])/y;

/**
 * The text of a record: the event as JSON, on one line; or three lines, its headers, what reads its body, and the text that
 * its body was read from, as it was sent.
 */
export function textOf(event: Event, codecs: TextCodecs): RecordText {
  const kept = keptTextFor(event, codecs);
  if (kept === undefined) return recordText(JSON.stringify(event));
  return recordText(`{"headers":${JSON.stringify(event.headers)}}\n["${kept.codec}",${kept.options}]\n`, kept.text);
}

/** The same of several. */
export function textsOf(events: readonly Event[], codecs: TextCodecs): readonly RecordText[] {
  return events.map((event) => textOf(event, codecs));
}

/** The event of a record; the checksum says that it is what was written. */
export function eventOf(text: Buffer, codecs: TextCodecs): Event {
  const headersEnd = text.indexOf(LINE_BREAK);
  if (headersEnd === -1) return JSON.parse(text.toString());
  const { headers } = headersOf(text);
  const codecEnd = text.indexOf(LINE_BREAK, headersEnd + 1);
  const [codec, options]: readonly [string, unknown] = JSON.parse(text.toString("utf8", headersEnd + 1, codecEnd));
  const kept = { codec, options: JSON.stringify(options), text: text.toString("utf8", codecEnd + 1) };
  return { headers, body: bodyOfText(kept, codecs) };
}

/** What `serviceKey` says of the event, in a small part of the time that decoding takes. */
export function serviceOfText(text: Buffer): string {
  const first = text.toString("utf8", 0, FIRST_BYTES);
  const headers = first.startsWith(BEGINNING) ? serviceHeader(first) : undefined;
  if (headers === undefined) return serviceKey({ ...headersOf(text), body: undefined });
  return serviceKey({ headers, body: undefined });
}

/** The headers as far as they tell the service; undefined where that is not certain. */
function serviceHeader(text: string): Event["headers"] | undefined {
  MEMBER.lastIndex = BEGINNING.length;
  for (let match = MEMBER.exec(text); match !== null; match = MEMBER.exec(text)) {
    const [, name = "", value = "", next] = match;
    if (name.includes("\\")) return undefined;
    if (name === "fiware-service") return value.includes("\\") ? undefined : { [name]: value };
    if (next === "}") return {};
  }
  return undefined;
}

/** What has the headers of the event; no body where it is kept as text. */
function headersOf(text: Buffer): Pick<Event, "headers"> {
  const end = text.indexOf(LINE_BREAK);
  return JSON.parse(text.toString("utf8", 0, end === -1 ? text.length : end));
}
