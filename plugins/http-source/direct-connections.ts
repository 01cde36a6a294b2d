import type { Socket } from "node:net";
import { AgentError, type Logger } from "deneb/sdk";
import type { HttpConfig } from "./config.js";
import { DirectConnection, type DirectParts } from "./direct-connection.js";
import { answerMalformed } from "./malformed-request.js";

export interface DirectPartners extends Pick<DirectParts, "admits" | "serve"> {
  readonly log: Logger;
  /** What Node does with a new connection. */
  readonly handOver: (socket: Socket) => void;
  /** Milliseconds between two looks for connections that are late. */
  readonly lookEvery: number;
}

/** The connections that are read without Node's HTTP parser, see {@link DirectConnection}. */
export class DirectConnections {
  readonly #config: HttpConfig;
  readonly #partners: DirectPartners;
  readonly #parts: DirectParts;
  readonly #open = new Set<DirectConnection>();
  readonly #timer: NodeJS.Timeout;

  constructor(config: HttpConfig, partners: DirectPartners) {
    this.#config = config;
    this.#partners = partners;
    this.#parts = {
      limits: { head: config.max_header_size, body: config.max_body_size },
      keepAlive: keepAliveLines(config.keep_alive_timeout),
      admits: partners.admits,
      serve: partners.serve,
      handOver: (connection, bytes) => this.#handOver(connection, bytes),
      closed: (connection) => this.#closed(connection),
      now: () => performance.now(),
    };
    this.#timer = setInterval(() => this.#endLate(), partners.lookEvery).unref();
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
      if (connection.activity === "idle") connection.destroy();
      else answerMalformed(tooLate(), connection.socket, this.#partners.log);
    }
  }

  /** Milliseconds that a connection may do what it does; 0 for ever. */
  #limitOf({ activity }: DirectConnection): number {
    const { headers_timeout, request_timeout, keep_alive_timeout } = this.#config;
    if (activity === "answering") return 0;
    if (activity === "idle") return keep_alive_timeout;
    return activity === "receiving" ? request_timeout : headers_timeout || request_timeout;
  }
}

function tooLate(): AgentError {
  return new AgentError("ERR_HTTP_REQUEST_TIMEOUT", "the request did not arrive in time");
}

/** As Node writes them. */
function keepAliveLines(millis: number): string {
  const hint = millis === 0 ? "" : `Keep-Alive: timeout=${Math.floor(millis / 1000)}\r\n`;
  return `Connection: keep-alive\r\n${hint}`;
}
