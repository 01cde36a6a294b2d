import { isUtf8 } from "node:buffer";
import { eventHeaders } from "deneb/ngsi";
import type { InboundRequest } from "deneb/sdk";
import { refused } from "./refused.js";

/** Throws for a request that is not one of a context broker with a notification, whatever its body is. */
export function checkRequest({ method, path, headers }: InboundRequest, target: string): void {
  checkMethod(method);
  checkPath(path, target);
  checkContentType(headers["content-type"]);
}

/** Throws for a header that would travel with each event and is longer than the limit. */
export function checkHeaders({ headers }: InboundRequest, limit: number): void {
  for (const name of travelling) {
    const length = headers[name]?.length ?? 0;
    if (length <= limit) continue;
    throw refused("limit", `'${name}' header has ${length} characters, the limit is ${limit} (max_header_length)`);
  }
}

const travelling = [eventHeaders.link, eventHeaders.correlator] as const;

/** The body as text; throws when it is empty or not UTF-8. */
export function readText(body: Uint8Array): string {
  if (body.byteLength === 0) throw refused("no-content", "No content in the request");
  if (!isUtf8(body)) throw refused("content", "The content is not valid UTF-8");
  return utf8.decode(body);
}

const utf8 = new TextDecoder();

function checkMethod(method: string): void {
  if (method === "POST") return;
  if (method === "GET" || method === "HEAD") throw refused("method", "GET method not supported");
  throw refused("method", `${method} method not supported`, { status: 405, headers: { Allow: "POST" } });
}

function checkPath(path: string, target: string): void {
  const query = path.indexOf("?");
  const pathname = query === -1 ? path : path.slice(0, query);
  if (pathname !== target) throw refused("target", `${pathname} target not supported`);
}

function checkContentType(contentType: string | undefined): void {
  if (contentType === undefined || contentType.trim() === "") {
    throw refused("content-type", "Missing content type. Required 'application/json; charset=utf-8'");
  }
  if (accepted.has(contentType)) return;
  const [mediaType = "", ...parameters] = contentType.toLowerCase().split(";");
  if (!mediaTypes.has(mediaType.trim()) || !parameters.every(isUtf8OrNoCharset)) {
    throw refused("content-type", `${contentType} content type not supported`);
  }
  if (accepted.size < MOST_REMEMBERED) accepted.add(contentType);
}

/** Content types as brokers write them: each broker writes the same every time. */
const accepted = new Set<string>();
const MOST_REMEMBERED = 100;

const mediaTypes: ReadonlySet<string> = new Set(["application/json", "application/ld+json", "application/geo+json"]);

function isUtf8OrNoCharset(parameter: string): boolean {
  const [name = "", value = ""] = parameter.split("=");
  return name.trim() !== "charset" || /^\s*"?utf-?8"?\s*$/.test(value);
}
