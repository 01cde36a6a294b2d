import type { IncomingMessage } from "node:http";
import type { Delivery } from "deneb/sdk";

export function deliveryOf(request: IncomingMessage, body: Uint8Array, receivedAt: Date): Delivery {
  const { method = "", url = "", rawHeaders } = request;
  return { method, path: url, headers: firstHeaders(rawHeaders), body, receivedAt };
}

const MOST_REMEMBERED = 500;
/** Senders use the same few names in every request. */
const lowerCase = new Map<string, string>();

/**
 * Node joins the values of most repeated headers; here the first value wins. A plain object, because one without
 * prototype is slow to make: names that it inherits are left out, and no header of use has one of those.
 */
function firstHeaders(raw: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < raw.length; index += 2) {
    headers[lowered(raw[index] ?? "")] ??= raw[index + 1] ?? "";
  }
  return headers;
}

function lowered(name: string): string {
  const known = lowerCase.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (lowerCase.size < MOST_REMEMBERED) lowerCase.set(name, lower);
  return lower;
}
