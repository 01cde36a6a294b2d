import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyBudget } from "./body-budget.js";
import { firstHeaders } from "./headers.js";
import type { HttpRequest } from "./http-request.js";
import { errorContent, noRoomForBody, type Refusal, tooLarge } from "./responses.js";

// Context brokers look for this letter case, and accept neither 204 nor chunked as success.
const noContent = { "Content-Length": 0 } as const;

/** A request that Node's HTTP parser has read. */
export class NodeRequest implements HttpRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #body: Uint8Array = nothing;
  #release: (() => void) | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.headers = firstHeaders(request.rawHeaders);
    this.#request = request;
    this.#response = response;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  /** Of an address with scheme and host, which HTTP allows as well, what is behind them. */
  get path(): string {
    return (this.#request.url ?? "").replace(ORIGIN, "");
  }

  /** Whether it names one host, as HTTP/1.1 wants; earlier versions need not name any. */
  get hasOneHost(): boolean {
    const { rawHeaders, httpVersion } = this.#request;
    const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
    return hosts === 1 || (hosts === 0 && httpVersion !== "1.1");
  }

  get body(): Uint8Array {
    return this.#body;
  }

  get isGone(): boolean {
    return this.#response.destroyed || this.#request.socket.destroyed;
  }

  /** Reads the body. A refusal when it is too large or has no room, "gone" when the sender closed the connection. */
  async read(limits: BodyLimits): Promise<Refusal | "read" | "gone"> {
    const read = await readBody(this.#request, limits);
    if (read === undefined) return "gone";
    if ("status" in read) return read;
    this.#body = read.body;
    this.#release = () => limits.budget.release(read.granted);
    return "read";
  }

  /** Gives back the memory of the body, and its share of the budget. */
  release(): void {
    this.#body = nothing;
    this.#release?.();
    this.#release = undefined;
  }

  accept(): void {
    if (!this.#response.destroyed) this.#response.writeHead(200, noContent).end();
  }

  refuse(refusal: Refusal): number {
    return respondRefused(this.#request, this.#response, refusal);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

const ORIGIN = /^https?:\/\/[^/?#]*/i;

const nothing = new Uint8Array(0);

interface BodyLimits {
  /** Most bytes of one body. */
  readonly most: number;
  readonly budget: BodyBudget;
  /** Value of Retry-After, in seconds, when there is no room. */
  readonly retryAfter: number;
}

/** A body that was read, and its share of the budget. */
interface ReadBody {
  readonly body: Uint8Array;
  readonly granted: number;
}

/**
 * Reads the body; undefined when the sender closed the connection. A refusal as soon as it is known to be too large, or
 * when there is no room for it.
 */
function readBody(request: IncomingMessage, limits: BodyLimits): Promise<ReadBody | Refusal | undefined> {
  const { most, budget, retryAfter } = limits;
  if (announcedBytes(request) > most) return Promise.resolve(tooLarge(most));
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let granted = 0;
    const end = (result: Refusal | undefined): void => {
      request.off("data", collect);
      chunks.length = 0;
      budget.release(granted);
      granted = 0;
      resolve(result);
    };
    const collect = (chunk: Buffer): void => {
      size += chunk.length;
      const cost = size > most ? 0 : budget.grant(chunk.length, granted);
      if (size > most) end(tooLarge(most));
      else if (cost === 0) end(noRoomForBody(retryAfter));
      else {
        granted += cost;
        chunks.push(chunk);
      }
    };
    request.on("data", collect);
    request.on("end", () => resolve({ body: joined(chunks, size), granted }));
    request.on("error", () => end(undefined));
  });
}

/** Searched in the raw headers: creating the object of all headers is a large part of the cost of a small request. */
function announcedBytes({ rawHeaders }: IncomingMessage): number {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === CONTENT_LENGTH.length && name.toLowerCase() === CONTENT_LENGTH) {
      return Number(rawHeaders[index + 1]);
    }
  }
  return 0;
}

const CONTENT_LENGTH = "content-length";

function joined(chunks: readonly Buffer[], size: number): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
}

/** How long a sender may go on sending a body that was refused before the connection is closed. */
const LINGER_MILLIS = 2000;

/** Writes a refusal. Returns the bytes of the content. */
function respondRefused(request: IncomingMessage, response: ServerResponse, refusal: Refusal): number {
  if (response.destroyed) return 0;
  const { type, content } = errorContent(refusal.reason, request.headers.accept);
  const length = Buffer.byteLength(content);
  response.writeHead(refusal.status, { "Content-Type": type, "Content-Length": length, ...refusal.headers });
  if (request.complete || refusal.headers["Connection"] !== "close") response.end(content);
  else endAfterBody(request, response, content);
  return length;
}

/** Closing while the sender still sends would reset the connection, and the response might be lost. */
function endAfterBody(request: IncomingMessage, response: ServerResponse, content: string): void {
  response.write(content);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MILLIS);
  request.once("end", end);
  response.once("close", () => clearTimeout(timer));
  request.resume();
}
