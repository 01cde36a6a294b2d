import { detached, FirstHeaders } from "../http-request.js";

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

const END = "\r\n\r\n";
const METHOD = "POST ";
const VERSION = " HTTP/1.1";
const PATH = /^\/[\x21-\x7e]*$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Anything but a line break or another control character. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LENGTH = /^\d{1,15}$/;
/** Headers that change how the connection or the body is read. */
const SPECIAL: readonly string[] = ["transfer-encoding", "expect", "upgrade", "trailer", "te", "http2-settings"];
const KNOWN_NAMES = new Set<string>();
const MOST_KNOWN_NAMES = 500;

/**
 * Reads the head of a plain request: a POST of HTTP/1.1 with one Content-Length within the limit, that asks for nothing
 * but an answer. Undefined for every other request, and for one whose head is not complete: what is read here is far less
 * than HTTP allows, so that there are no two ways to read it.
 */
export function plainHead(bytes: Buffer, limits: HeadLimits): PlainHead | undefined {
  const end = bytes.indexOf(END);
  if (end === -1 || end + END.length > limits.head) return undefined;
  const lines = bytes.toString("latin1", 0, end).split("\r\n");
  const path = pathIn(lines[0] ?? "");
  if (path === undefined) return undefined;

  const headers = headersIn(lines);
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

function headersIn(lines: readonly string[]): Readonly<Record<string, string>> | undefined {
  const headers = new FirstHeaders();
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    const value = withoutBlanks(line.slice(colon + 1));
    if (!isName(name) || !VALUE.test(value)) return undefined;
    // Which of two counts is for the parser of Node to say.
    if (!headers.add(name, value)) return undefined;
  }
  return headers.all;
}

/** Without the blanks and tabs around it; other white space belongs to the value, or is half a character of it. */
function withoutBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  // Others remember some of these, such as the service.
  return detached(text.slice(from, to));
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Senders use the same few names in every request. */
function isName(name: string): boolean {
  if (KNOWN_NAMES.has(name)) return true;
  if (!NAME.test(name)) return false;
  if (KNOWN_NAMES.size < MOST_KNOWN_NAMES) KNOWN_NAMES.add(detached(name));
  return true;
}

/** Undefined for a request that is not plain. */
function bodyLength(headers: Readonly<Record<string, string>>, most: number): number | undefined {
  const { host, "content-length": length = "" } = headers;
  if (host === undefined || isLast(headers) === undefined || !LENGTH.test(length)) return undefined;
  if (SPECIAL.some((name) => headers[name] !== undefined)) return undefined;
  return Number(length) <= most ? Number(length) : undefined;
}

/** Undefined where the connection is asked for something else. */
function isLast({ connection = "keep-alive" }: Readonly<Record<string, string>>): boolean | undefined {
  const wish = connection.toLowerCase();
  if (wish === "close") return true;
  return wish === "keep-alive" ? false : undefined;
}
