import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { type Handover, type Logger, onAbort, reasonOf } from "deneb/sdk";
import { BodyBudget } from "./body-budget.js";
import type { HttpConfig } from "./config.js";
import { ConnectionLimit } from "./connection-limit.js";
import { DirectConnections } from "./direct-connections.js";
import type { Exchange } from "./exchange.js";
import { HeldRequests } from "./held-requests.js";
import type { Intake } from "./intake.js";
import { type ListenAddress, listenFailure } from "./listen-failure.js";
import { answerMalformed } from "./malformed-request.js";
import { NodeExchange } from "./node-exchange.js";
import { type Refusal, reloading } from "./refusal.js";
import { lookEvery, serverOptions } from "./server-options.js";
import { type TlsOptions, tlsServer } from "./tls.js";

/** What is behind a listening socket: the settings and the intake of one source. */
export interface Behind {
  readonly config: HttpConfig;
  readonly intake: Intake;
  /** Undefined for plain HTTP. */
  readonly tls: TlsOptions | undefined;
  readonly log: Logger;
}

/**
 * A listening socket and its connections. What is behind it can be exchanged while it is open: requests that arrive in
 * between wait, and connections go on.
 */
export class Inlet implements Handover {
  readonly address: ListenAddress;
  readonly #server: Server;
  readonly #budget: BodyBudget;
  readonly #limit: ConnectionLimit;
  readonly #direct: DirectConnections;
  #behind: Behind;
  #tls: TlsServer | undefined;
  #held: HeldRequests | undefined;
  #unanswered = 0;
  #closed: Promise<void> | undefined;

  private constructor(address: ListenAddress, behind: Behind) {
    const { config, log } = behind;
    this.address = address;
    this.#behind = behind;
    this.#budget = new BodyBudget(config);
    this.#server = createServer(serverOptions(config), this.#read);
    const [handOver] = this.#server.listeners("connection");
    this.#server.removeAllListeners("connection");
    this.#limit = new ConnectionLimit(config, (refusal) => this.#count(refusal));
    this.#direct = new DirectConnections(config, {
      log,
      budget: this.#budget,
      admits: (headers) => this.#behind.intake.admits(headers),
      serve: (exchange) => this.#serve(exchange),
      turnAway: (exchange, refusal) => this.#behind.intake.refuse(exchange, refusal),
      refused: (refusal) => this.#count(refusal),
      // New connections are read directly; Node's own way stays for those that are handed over.
      handOver: (socket) => handOver?.call(this.#server, socket),
      lookEvery: lookEvery(config),
    });
    this.#server.on("connection", (socket) => this.#connected(socket));
    this.#server.on("clientError", this.#answerMalformed);
    this.#server.on("error", (error) =>
      this.#behind.log.error({ reason: reasonOf(error) }, "accepting a connection failed"),
    );
  }

  static async open(address: ListenAddress, behind: Behind): Promise<Inlet> {
    const { port, host } = address;
    const inlet = new Inlet(address, behind);
    try {
      inlet.#server.listen(port, host);
      await once(inlet.#server, "listening");
    } catch (cause) {
      await inlet.close();
      throw listenFailure(address, cause);
    }
    return inlet;
  }

  /** The port it listens on; undefined once it was closed. */
  get port(): number | undefined {
    const address = this.#closed === undefined ? this.#server.address() : undefined;
    return typeof address === "object" ? address?.port : undefined;
  }

  /** From now on requests wait for the next `lead`. */
  hold(): void {
    const { intake, config } = this.#behind;
    this.#held ??= new HeldRequests((exchange) => intake.refuse(exchange, reloading(config.retry_after)));
  }

  /** Exchanges what is behind the socket, and serves those who waited. Settings count for open connections, too. */
  lead(behind: Behind): void {
    const { config, tls } = behind;
    this.#behind = behind;
    this.#budget.limits = config;
    this.#limit.config = config;
    this.#direct.config = config;
    Object.assign(this.#server, serverOptions(config));
    this.#tls = tls === undefined ? undefined : tlsServer(tls, config);
    this.#tls?.on("secureConnection", (socket) => this.#direct.add(socket));
    this.#tls?.on("tlsClientError", this.#answerMalformed);
    const held = this.#held;
    this.#held = undefined;
    for (const exchange of held?.released() ?? []) this.#serve(exchange);
  }

  /** Ends listening, lets what has begun end, until the signal aborts, and closes every connection. */
  close(signal: AbortSignal = AbortSignal.abort()): Promise<void> {
    this.#closed ??= this.#close(signal);
    return this.#closed;
  }

  #connected(socket: Socket): void {
    if (!this.#limit.admits(socket, this.#tls === undefined)) return;
    if (this.#tls === undefined) this.#direct.add(socket);
    else {
      // Node's HTTP server leaves sockets half open; a sender that goes away in the handshake would not be noticed.
      socket.allowHalfOpen = false;
      this.#tls.emit("connection", socket);
    }
  }

  #serve(exchange: Exchange): void {
    if (this.#held === undefined) void this.#behind.intake.serve(exchange);
    else this.#held.add(exchange);
  }

  readonly #read = (request: IncomingMessage, response: ServerResponse): void => {
    this.#unanswered += 1;
    response.on("close", this.#answered);
    if (this.#closed !== undefined) response.shouldKeepAlive = false;
    void this.#readBody(new NodeExchange(request, response));
  };

  async #readBody(exchange: NodeExchange): Promise<void> {
    const { config, log } = this.#behind;
    const wanted = exchange.method === "POST" && this.#behind.intake.admits(exchange.headers);
    const limits = { most: config.max_body_size, budget: this.#budget, retryAfter: config.retry_after };
    const read = wanted ? await exchange.read(limits) : "read";
    if (read === "gone") log.debug({}, "request abandoned by its sender");
    else if (read === "read") this.#serve(exchange);
    else this.#behind.intake.refuse(exchange, read);
  }

  // Closing the server leaves open the connections that were busy or had not sent anything at that moment.
  readonly #answered = (): void => {
    this.#unanswered -= 1;
    if (this.#unanswered === 0 && this.#closed !== undefined) this.#server.closeAllConnections();
  };

  readonly #answerMalformed = (error: Error, socket: Socket): void => {
    const refusal = answerMalformed(error, socket, this.#behind.log);
    if (refusal !== undefined) this.#count(refusal);
  };

  #count(refusal: Refusal): void {
    this.#behind.intake.count(refusal);
  }

  async #close(signal: AbortSignal): Promise<void> {
    const server = this.#server;
    const closed = server.listening ? once(server, "close") : undefined;
    const closeConnections = () => {
      server.closeAllConnections();
      if (signal.aborted) this.#direct.destroy();
    };
    this.#held?.end();
    server.close();
    this.#direct.close();
    if (this.#unanswered === 0) closeConnections();
    const stopListening = onAbort(signal, closeConnections);
    await closed;
    stopListening();
  }
}
