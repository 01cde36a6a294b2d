import type { Event } from "deneb/sdk";
import { serviceKey } from "deneb/sdk/channel";
import { headersOf } from "./stored-event.js";

/** How the text of an event begins, unless its plugin writes the body first. */
const BEGINNING = '{"headers":{';
/** Headers are looked for in the first bytes only; a text with longer ones is decoded. */
const FIRST_BYTES = 512;

const MEMBER = /"((?:[^"\\]|\\.)*)":"((?:[^"\\]|\\.)*)"([,}])/y;

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
