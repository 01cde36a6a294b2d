import type { IncomingMessage } from "node:http";
import type { Delivery } from "deneb/sdk";

export function deliveryOf(request: IncomingMessage, body: Uint8Array, receivedAt: Date): Delivery {
  const { method = "", url = "", rawHeaders } = request;
  return { method, path: url, headers: firstHeaders(rawHeaders), body, receivedAt };
}

/** Node joins the values of most repeated headers; here the first value wins. */
function firstHeaders(raw: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? "";
    headers[name] ??= raw[index + 1] ?? "";
  }
  return headers;
}
