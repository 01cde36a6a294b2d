import type { BodyBudget } from "../body-budget.js";
import { detached, type Field, FirstHeaders, KnownFields } from "../headers.js";
import type { HttpRequest } from "../http-request.js";
import { errorContent, headerLines, type Refusal, statusLine } from "../responses.js";

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
/** Anything but a line break or another control character. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LENGTH = /^\d{1,15}$/;
/** Headers that change how the connection or the body is read. */
const SPECIAL = new Set(["transfer-encoding", "expect", "upgrade", "trailer", "te", "http2-settings"]);
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

/** Without the blanks and tabs around it; other white space belongs to the value, or is half a character of it. */
function withoutBlanks(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  // Other parts keep some of these, such as the service.
  return detached(text.slice(from, to));
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

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

/** The connection of a request, as far as its response needs it. */
export interface ResponseWriter {
  readonly isGone: boolean;
  /** Writes a response; adds the last lines of its head, which say whether the connection stays open. */
  respond(request: PlainRequest, head: string, content: string): void;
  /** The connection is to be closed after the response. */
  closeAfterResponse(): void;
  destroy(): void;
}

/** One plain request: its head, the part of the body that has arrived, and its share of the budget for bodies. */
export class PlainRequest implements HttpRequest {
  readonly method = "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #writer: ResponseWriter;
  readonly #budget: BodyBudget;
  #body: Buffer = nothing;
  #pieces: Buffer[] | undefined;
  #missing: number;
  #granted = 0;

  constructor({ path, headers, bodyFrom, bodyTo }: PlainHead, writer: ResponseWriter, budget: BodyBudget) {
    this.path = path;
    this.headers = headers;
    this.#missing = bodyTo - bodyFrom;
    this.#writer = writer;
    this.#budget = budget;
  }

  get body(): Buffer {
    return this.#body;
  }

  /** Bytes of the body that have not arrived. */
  get missing(): number {
    return this.#missing;
  }

  get isGone(): boolean {
    return this.#writer.isGone;
  }

  /** The whole body, which came together with the head. */
  complete(body: Buffer): void {
    this.#body = body;
    this.#missing = 0;
  }

  /** Adds a piece of the body. False when the budget has no room for it; then what was read before is dropped. */
  add(piece: Buffer): boolean {
    const granted = this.#budget.grant(piece.length, this.#granted);
    if (granted === 0) {
      this.release();
      return false;
    }
    this.#granted += granted;
    this.#missing -= piece.length;
    this.#pieces ??= [];
    this.#pieces.push(piece);
    if (this.#missing === 0) {
      this.#body = Buffer.concat(this.#pieces);
      this.#pieces = undefined;
    }
    return true;
  }

  accept(): void {
    this.#writer.respond(this, acceptedHead(), "");
  }

  refuse({ status, headers, reason }: Refusal): number {
    const { type, content } = errorContent(reason, this.headers["accept"]);
    const length = Buffer.byteLength(content);
    const { Connection: connection, ...others } = headers;
    if (connection === "close") this.#writer.closeAfterResponse();
    const fields = { "Content-Type": type, "Content-Length": String(length), ...others, Date: dateText() };
    this.#writer.respond(this, `${statusLine(status)}${headerLines(fields)}`, content);
    return length;
  }

  destroy(): void {
    this.#writer.destroy();
  }

  /** Gives back the memory and the budget of the body. */
  release(): void {
    this.#body = nothing;
    this.#pieces = undefined;
    if (this.#granted > 0) this.#budget.release(this.#granted);
    this.#granted = 0;
  }
}

const nothing = Buffer.alloc(0);

let date = { second: Number.NaN, text: "" };

/** The value of the header Date. All responses of a second share it. */
function dateText(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== date.second) date = { second, text: new Date(second * 1000).toUTCString() };
  return date.text;
}

let accepted = { date: "", head: "" };

/** The first lines of the response to an accepted request, the same text for all responses of a second. */
function acceptedHead(): string {
  const text = dateText();
  if (text !== accepted.date)
    accepted = { date: text, head: `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nDate: ${text}\r\n` };
  return accepted.head;
}
