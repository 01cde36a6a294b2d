import { detached, type Field, FirstHeaders, KnownFields } from "../headers.js";

/** The head of a plain request, and where its body begins and ends in the bytes it was read from. */
export interface PlainHead {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyFrom: number;
  readonly bodyTo: number;
  /** Whether the connection is to be closed after the answer. */
  readonly isLast: boolean;
}

export interface HeadLimits {
  /** Most bytes of the head. */
  readonly head: number;
  /** Most bytes of the body. */
  readonly body: number;
}

const LINE = "\r\n";
const END = LINE + LINE;
const METHOD = "POST ";
const VERSION = " HTTP/1.1";
const PATH = /^\/[\x21-\x7e]*$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Anything but control characters. A tab is one: behind a Content-Length or a Connection, Node's parser does not take it for a blank. */
const VALUE = /^[\x20-\x7e\x80-\xff]*$/;
const LENGTH = /^\d{1,15}$/;
/** Headers that change how the connection or the body is read; Node's parser obeys Proxy-Connection as it does Connection. */
const SPECIAL = new Set([
  "transfer-encoding",
  "expect",
  "upgrade",
  "trailer",
  "te",
  "http2-settings",
  "proxy-connection",
]);
/** The lower-case form of names of plain requests. Senders use the same few names in every request. */
const knownNames = new Map<string, string>();
const MOST_KNOWN_NAMES = 500;

/**
 * Reads the head of a plain request: a POST of HTTP/1.1 with one Content-Length within the limit, that asks for nothing
 * but a response. Undefined for every other request, and for one whose head is not complete: the form read here is far
 * narrower than HTTP allows, so that no other reader can understand it differently.
 */
export function plainHead(bytes: Buffer, limits: HeadLimits): PlainHead | undefined {
  const end = bytes.indexOf(END);
  if (end === -1 || end + END.length > limits.head) return undefined;
  const text = bytes.toString("latin1", 0, end);
  const firstLine = lineEnd(text, 0);
  const path = pathIn(text.slice(0, firstLine));
  if (path === undefined) return undefined;

  const headers = headersIn(text, firstLine + LINE.length);
  const length = headers === undefined ? undefined : bodyLength(headers, limits.body);
  if (headers === undefined || length === undefined) return undefined;
  const bodyFrom = end + END.length;
  return { path, headers, bodyFrom, bodyTo: bodyFrom + length, isLast: isLast(headers) === true };
}

function pathIn(line: string): string | undefined {
  if (!line.startsWith(METHOD) || !line.endsWith(VERSION)) return undefined;
  const path = line.slice(METHOD.length, -VERSION.length);
  return PATH.test(path) ? path : undefined;
}

/** The headers in the lines from a place on. */
function headersIn(text: string, from: number): Readonly<Record<string, string>> | undefined {
  const headers = new FirstHeaders();
  for (let at = from; at <= text.length; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    const field = knownFields.get(line) ?? fieldIn(line);
    // Which of two values counts is decided by the parser of Node.
    if (field === undefined || !headers.add(field.name, field.value)) return undefined;
    at = end + LINE.length;
  }
  return headers.all;
}

const knownFields = new KnownFields();

function fieldIn(line: string): Field | undefined {
  const colon = line.indexOf(":");
  if (colon === -1) return undefined;
  const name = plainName(line.slice(0, colon));
  const value = withoutBlanks(line, colon + 1, line.length);
  if (name === undefined || !VALUE.test(value)) return undefined;
  return knownFields.noted(line, { name, value });
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf(LINE, from);
  return end === -1 ? text.length : end;
}

/** The name in lower case; undefined when it is not a name, or one that a plain request does not have. */
function plainName(name: string): string | undefined {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (!NAME.test(name) || SPECIAL.has(lower)) return undefined;
  if (knownNames.size < MOST_KNOWN_NAMES) knownNames.set(detached(name), detached(lower));
  return lower;
}

/** Without the blanks around it; other white space belongs to the value, or is half a character of it. */
function withoutBlanks(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && text.charCodeAt(from) === BLANK) from += 1;
  while (to > from && text.charCodeAt(to - 1) === BLANK) to -= 1;
  // Other parts keep some of these, such as the service.
  return detached(text.slice(from, to));
}

const BLANK = 0x20;

/** Undefined for a request that is not plain. */
function bodyLength(headers: Readonly<Record<string, string>>, most: number): number | undefined {
  const { host, "content-length": length = "" } = headers;
  if (host === undefined || isLast(headers) === undefined || !LENGTH.test(length)) return undefined;
  return Number(length) <= most ? Number(length) : undefined;
}

/** Undefined where the header Connection asks for something else. */
function isLast({ connection = "keep-alive" }: Readonly<Record<string, string>>): boolean | undefined {
  const wish = connection.toLowerCase();
  if (wish === "close") return true;
  return wish === "keep-alive" ? false : undefined;
}
