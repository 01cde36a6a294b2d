import type { IncomingMessage, ServerResponse } from "node:http";
import { answerRefused } from "./answer.js";
import type { Exchange } from "./exchange.js";
import { firstHeaders } from "./raw-headers.js";
import type { Refusal } from "./refusal.js";
import { readBody } from "./request-body.js";

// Context brokers look for this letter case and take neither 204 nor chunked for success.
const noContent = { "Content-Length": 0 } as const;

/** A request that Node's HTTP parser has read. */
export class NodeExchange implements Exchange {
  readonly headers: Readonly<Record<string, string>>;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

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

  body(most: number): Promise<Uint8Array | undefined> {
    return readBody(this.#request, most);
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
