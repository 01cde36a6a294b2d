import type { Socket } from "node:net";
import { AgentError, type Logger } from "deneb/sdk";
import type { HttpConfig } from "./config.js";
import { DirectConnection, type DirectParts } from "./direct-connection.js";
import { answerMalformed } from "./malformed-request.js";
import type { HeadLimits } from "./plain-head.js";
import type { Refusal } from "./refusal.js";

/** How long a sender may go on sending a body that was refused, before the connection is cut. */
const LINGER_MILLIS = 2000;

export interface DirectPartners extends Pick<DirectParts, "admits" | "serve" | "turnAway" | "budget"> {
  readonly log: Logger;
  /** Counts what was refused without being a request. */
  readonly refused: (refusal: Refusal) => void;
  /** What Node does with a new connection. */
  readonly handOver: (socket: Socket) => void;
  /** Milliseconds between two looks for connections that are late. */
  readonly lookEvery: number;
}

/** The connections that are read without Node's HTTP parser, see {@link DirectConnection}. */
export class DirectConnections {
  #config: HttpConfig;
  readonly #partners: DirectPartners;
  readonly #parts: Mutable<DirectParts>;
  readonly #open = new Set<DirectConnection>();
  readonly #timer: NodeJS.Timeout;

  constructor(config: HttpConfig, partners: DirectPartners) {
    this.#config = config;
    this.#partners = partners;
    this.#parts = {
      limits: limitsOf(config),
      keepAlive: keepAliveLines(config.keep_alive_timeout),
      retryAfter: config.retry_after,
      ...partners,
      handOver: (connection, bytes) => this.#handOver(connection, bytes),
      closed: (connection) => this.#closed(connection),
      now: () => performance.now(),
    };
    this.#timer = setInterval(() => this.#endLate(), partners.lookEvery).unref();
  }

  /** From now on these are the limits, for connections that are open as well. */
  set config(config: HttpConfig) {
    this.#config = config;
    this.#parts.limits = limitsOf(config);
    this.#parts.retryAfter = config.retry_after;
    this.#parts.keepAlive = keepAliveLines(config.keep_alive_timeout);
  }

  add(socket: Socket): void {
    this.#open.add(new DirectConnection(socket, this.#parts));
  }

  /** Closes every connection, those with a request that has begun after its answer. */
  close(): void {
    clearInterval(this.#timer);
    for (const connection of this.#open) connection.close();
  }

  destroy(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #handOver(connection: DirectConnection, bytes: Buffer): void {
    const { socket } = connection;
    this.#open.delete(connection);
    connection.leave();
    socket.unshift(bytes);
    this.#partners.handOver(socket);
    // It was paused so that nothing comes before what it begins with.
    process.nextTick(() => socket.resume());
  }

  #closed(connection: DirectConnection): void {
    this.#open.delete(connection);
    if (connection.activity === "receiving") this.#partners.log.debug({}, "request abandoned by its sender");
  }

  #endLate(): void {
    const now = this.#parts.now();
    for (const connection of this.#open) {
      const limit = this.#limitOf(connection);
      if (limit === 0 || now - connection.since < limit) continue;
      if (connection.activity === "idle" || connection.activity === "refused") connection.destroy();
      else this.#answerLate(connection);
    }
  }

  /** One that never sent anything has no request that could be refused. */
  #answerLate({ socket, activity }: DirectConnection): void {
    const refusal = answerMalformed(tooLate(), socket, this.#partners.log);
    if (refusal !== undefined && activity !== "silent") this.#partners.refused(refusal);
  }

  /** Milliseconds that a connection may do what it does; 0 for ever. */
  #limitOf({ activity }: DirectConnection): number {
    const { headers_timeout, request_timeout, keep_alive_timeout } = this.#config;
    if (activity === "answering") return 0;
    if (activity === "refused") return LINGER_MILLIS;
    if (activity === "idle") return keep_alive_timeout;
    return activity === "receiving" ? request_timeout : headers_timeout || request_timeout;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function limitsOf({ max_header_size, max_body_size }: HttpConfig): HeadLimits {
  return { head: max_header_size, body: max_body_size };
}

function tooLate(): AgentError {
  return new AgentError("ERR_HTTP_REQUEST_TIMEOUT", "the request did not arrive in time", { retryable: false });
}

/** As Node writes them. */
function keepAliveLines(millis: number): string {
  const hint = millis === 0 ? "" : `Keep-Alive: timeout=${Math.floor(millis / 1000)}\r\n`;
  return `Connection: keep-alive\r\n${hint}`;
}
