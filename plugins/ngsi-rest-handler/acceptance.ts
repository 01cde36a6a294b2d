import { isUtf8 } from "node:buffer";
import { eventHeaders, serviceOf, servicePathsOf } from "deneb/ngsi";
import type { InboundRequest } from "deneb/sdk";
import { type HandlerConfig, isPath, PATH_LENGTH, SERVICE_LENGTH } from "./config.js";
import { refused } from "./refused.js";

/** Throws for a request that is not one of a context broker with a notification, whatever its body is. */
export function checkRequest({ method, path, headers }: InboundRequest, target: string): void {
  checkMethod(method);
  checkPath(path, target);
  checkContentType(headers["content-type"]);
  checkContentEncoding(headers["content-encoding"]);
}

/** Throws for a header that would travel with each event and is longer than the limit. */
export function checkHeaders({ headers }: InboundRequest, limit: number): void {
  checkLength(eventHeaders.link, headers[eventHeaders.link], limit);
  checkLength(eventHeaders.correlator, headers[eventHeaders.correlator], limit);
}

function checkLength(name: string, value: string | undefined, limit: number): void {
  if (value === undefined || value.length <= limit) return;
  throw refused("limit", `'${name}' header has ${value.length} characters, the limit is ${limit} (max_header_length)`);
}

/** What is wrong with the headers whatever the body is, by their names. */
export function refusedHeaders(
  { ngsi_version, default_service, default_service_path }: HandlerConfig,
  headers: InboundRequest["headers"],
): Readonly<Record<string, string>> {
  const hasPaths = ngsi_version !== "ld";
  const paths = servicePathsOf(headers, default_service_path);
  return {
    ...(isAcceptedType(headers["content-type"] ?? "")
      ? {}
      : { "content-type": "must be application/json, application/ld+json or application/geo+json, in UTF-8" }),
    ...(isPlain(headers["content-encoding"]) ? {} : { "content-encoding": "must be identity" }),
    ...(serviceOf(headers, default_service).length <= SERVICE_LENGTH
      ? {}
      : { [eventHeaders.service]: `must be of ${SERVICE_LENGTH} characters at the most` }),
    ...(!hasPaths || paths.every(isPath)
      ? {}
      : { [eventHeaders.servicePath]: `must start with / and be of ${PATH_LENGTH} characters at the most` }),
  };
}

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
  if (contentType !== undefined && accepted.has(contentType)) return;
  if (contentType === undefined || contentType.trim() === "") {
    throw refused("content-type", "Missing content type. Required 'application/json; charset=utf-8'");
  }
  if (!isAcceptedType(contentType)) throw refused("content-type", `${contentType} content type not supported`);
  if (accepted.size < MOST_REMEMBERED) accepted.add(contentType);
}

/** Otherwise a compressed body would be refused as one that is not UTF-8. */
function checkContentEncoding(encoding: string | undefined): void {
  if (isPlain(encoding)) return;
  const headers = { "Accept-Encoding": "identity" };
  throw refused("content-encoding", `${encoding} content encoding not supported`, { status: 415, headers });
}

function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === "" || encoding.trim().toLowerCase() === "identity";
}

/** Whether it is one of the types of notifications, in UTF-8. */
function isAcceptedType(contentType: string): boolean {
  const [mediaType = "", ...parameters] = contentType.toLowerCase().split(";");
  return mediaTypes.has(mediaType.trim()) && parameters.every(isUtf8OrNoCharset);
}

/** Content types as brokers write them: each broker writes the same every time. */
const accepted = new Set<string>();
const MOST_REMEMBERED = 100;

const mediaTypes: ReadonlySet<string> = new Set(["application/json", "application/ld+json", "application/geo+json"]);

function isUtf8OrNoCharset(parameter: string): boolean {
  const [name = "", value = ""] = parameter.split("=");
  return name.trim() !== "charset" || /^\s*"?utf-?8"?\s*$/.test(value);
}
