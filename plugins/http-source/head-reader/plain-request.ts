import type { BodyBudget } from "../body-budget.js";
import type { HttpRequest } from "../http-request.js";
import { errorContent, headerLines, type Refusal, statusLine } from "../responses.js";
import type { PlainHead } from "./plain-head.js";

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
