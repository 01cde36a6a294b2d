import type { IncomingMessage, ServerResponse } from "node:http";
import { answerRefused } from "./answer.js";
import type { Exchange } from "./exchange.js";
import { firstHeaders } from "./raw-headers.js";
import type { Refusal } from "./refusal.js";
import { type BodyLimits, readBody } from "./request-body.js";

// Context brokers look for this letter case and take neither 204 nor chunked for success.
const noContent = { "Content-Length": 0 } as const;

/** A request that Node's HTTP parser has read. */
export class NodeExchange implements Exchange {
  readonly headers: Readonly<Record<string, string>>;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #body: Uint8Array = nothing;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.headers = firstHeaders(request.rawHeaders);
    this.#request = request;
    this.#response = response;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get path(): string {
    return this.#request.url ?? "";
  }

  get body(): Uint8Array {
    return this.#body;
  }

  get isGone(): boolean {
    return this.#response.destroyed;
  }

  /** Reads the body. A refusal when it may not be as large, "gone" when the sender went away. */
  async read(limits: BodyLimits): Promise<Refusal | "read" | "gone"> {
    const read = await readBody(this.#request, limits);
    if (read === undefined) return "gone";
    if ("status" in read) return read;
    this.#body = read.body;
    this.#response.once("close", () => limits.budget.release(read.granted));
    return "read";
  }

  accept(): void {
    if (!this.#response.destroyed) this.#response.writeHead(200, noContent).end();
  }

  refuse(refusal: Refusal): number {
    return answerRefused(this.#request, this.#response, refusal);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

const nothing = new Uint8Array(0);
