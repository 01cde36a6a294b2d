import type { Socket } from "node:net";
import { AgentError, type Logger } from "deneb/sdk";
import type { HttpConfig } from "../config.js";
import { type Refusal, refuseMalformed } from "../responses.js";
import { type ConnectionParts, PlainConnection } from "./plain-connection.js";
import type { HeadLimits } from "./plain-head.js";

/** How long a sender has to read its last response, and to end a body that was refused, before the connection is closed. */
const LINGER_MILLIS = 2000;

interface HeadReaderParts extends Pick<ConnectionParts, "admits" | "serve" | "turnAway" | "budget"> {
  readonly log: Logger;
  /** Counts a refusal where no request could be read. */
  readonly refused: (refusal: Refusal) => void;
  /** Gives a connection to the HTTP server of Node, as a new one. */
  readonly handOver: (socket: Socket) => void;
  /** Milliseconds between two checks for connections that exceed a time-out. */
  readonly checkInterval: number;
}

/**
 * The door of this room: reads plain requests without Node's HTTP parser, which is the greater part of the cost of a small
 * request, and gives every other connection to that parser. See {@link PlainConnection} and `plain-head.ts`.
 */
export class HeadReader {
  #config: HttpConfig;
  readonly #own: Pick<HeadReaderParts, "log" | "refused" | "handOver">;
  readonly #shared: Mutable<ConnectionParts>;
  readonly #open = new Set<PlainConnection>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(config: HttpConfig, parts: HeadReaderParts) {
    this.#config = config;
    this.#own = parts;
    this.#shared = {
      limits: limitsOf(config),
      keepAlive: keepAliveLines(config.keep_alive_timeout),
      retryAfter: config.retry_after,
      ...parts,
      handOver: (connection) => this.#handOver(connection),
      closed: (connection) => this.#closed(connection),
    };
    this.#timer = setInterval(() => this.#closeLate(), parts.checkInterval).unref();
  }

  /** Applies at once, also to open connections. */
  set config(config: HttpConfig) {
    this.#config = config;
    this.#shared.limits = limitsOf(config);
    this.#shared.retryAfter = config.retry_after;
    this.#shared.keepAlive = keepAliveLines(config.keep_alive_timeout);
  }

  add(socket: Socket): void {
    this.#open.add(new PlainConnection(socket, this.#shared));
  }

  /** Closes every connection, those with a request that has begun after its response. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.close();
    this.#restIfEmpty();
  }

  destroy(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #handOver(connection: PlainConnection): void {
    const { socket } = connection;
    this.#open.delete(connection);
    connection.leave();
    this.#own.handOver(socket);
    // It was paused, so that the next reader gets the bytes that were put back.
    process.nextTick(() => socket.resume());
  }

  #closed(connection: PlainConnection): void {
    this.#open.delete(connection);
    if (connection.activity === "receiving") this.#own.log.debug({}, "request abandoned by its sender");
    this.#restIfEmpty();
  }

  /** Until its last connection is closed the time-outs apply. */
  #restIfEmpty(): void {
    if (this.#isClosed && this.#open.size === 0) clearInterval(this.#timer);
  }

  #closeLate(): void {
    const now = performance.now();
    for (const connection of this.#open) {
      const limit = this.#limitOf(connection);
      if (limit === 0 || now - connection.since < limit) continue;
      if (connection.activity === "idle" || connection.activity === "ending") connection.destroy();
      else this.#refuseLate(connection);
    }
  }

  /** A connection that has not sent anything has no request to count as refused. */
  #refuseLate({ socket, activity }: PlainConnection): void {
    const refusal = refuseMalformed(tooLate(), socket, this.#own.log);
    if (refusal !== undefined && activity !== "silent") this.#own.refused(refusal);
  }

  /** Milliseconds that a connection may spend in its activity; 0 is no limit. */
  #limitOf({ activity }: PlainConnection): number {
    const { headers_timeout, request_timeout, keep_alive_timeout } = this.#config;
    if (activity === "responding") return 0;
    if (activity === "ending") return LINGER_MILLIS;
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
