import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { codeOf, type Handover, type Logger, onAbort, reasonOf } from "deneb/sdk";
import { BodyBudget } from "./body-budget.js";
import type { HttpConfig } from "./config.js";
import { ConnectionLimit } from "./connection-limit.js";
import { Handshakes } from "./handshakes.js";
import { HeadReader } from "./head-reader/head-reader.js";
import { HeldRequests } from "./held-requests.js";
import type { HttpRequest } from "./http-request.js";
import { type ListenAddress, listenFailure } from "./listen-failure.js";
import { NodeConnections } from "./node-connections.js";
import { NodeRequest } from "./node-request.js";
import type { Responder } from "./responder.js";
import {
  closingResponse,
  failedHandshake,
  noTunnel,
  oneHost,
  type Refusal,
  refuseMalformed,
  reloading,
  tooManyWaiting,
} from "./responses.js";
import { checkInterval, serverOptions } from "./server-options.js";
import { type TlsOptions, tlsServer } from "./tls.js";

/** How long a sender may read nothing of a response while the source stops. */
const UNREAD_AT_STOP_MILLIS = 1000;

/** Of Node's parser, for a sender that ends its side within a request. */
const ENDED_EARLY = "HPE_INVALID_EOF_STATE";

/** The source that a listener serves at present. */
export interface ListenerOwner {
  readonly config: HttpConfig;
  readonly responder: Responder;
  /** Undefined for plain HTTP. */
  readonly tls: TlsOptions | undefined;
  readonly log: Logger;
}

/**
 * A listening socket and its connections. A reload replaces its owner while it is open: requests that arrive in the
 * meantime wait, and connections stay open.
 */
export class Listener implements Handover {
  readonly address: ListenAddress;
  readonly #server: Server;
  readonly #budget: BodyBudget;
  readonly #limit: ConnectionLimit;
  readonly #plain: HeadReader;
  readonly #handshakes = new Handshakes();
  readonly #byNode = new NodeConnections({
    idle: () => this.#answered(),
    tooMany: () => this.#count(tooManyWaiting),
  });
  #owner: ListenerOwner;
  #tls: TlsServer | undefined;
  #held: HeldRequests | undefined;
  #closed: Promise<void> | undefined;

  private constructor(address: ListenAddress, owner: ListenerOwner) {
    const { config, log } = owner;
    this.address = address;
    this.#owner = owner;
    this.#budget = new BodyBudget(config);
    this.#server = createServer(serverOptions(config), this.#read);
    const [handOver] = this.#server.listeners("connection");
    this.#server.removeAllListeners("connection");
    this.#limit = new ConnectionLimit(config, (refusal) => this.#count(refusal));
    this.#plain = new HeadReader(config, {
      log,
      budget: this.#budget,
      admits: (headers) => this.#owner.responder.admits(headers),
      serve: (request) => this.#serve(request),
      turnAway: (request, refusal) => this.#owner.responder.refuse(request, refusal),
      refused: (refusal) => this.#count(refusal),
      // New connections go to the head reader; those that it hands over go to Node's parser.
      handOver: (socket) => handOver?.call(this.#server, socket),
      checkInterval: checkInterval(config),
    });
    this.#byNode.closeUnread(config.keep_alive_timeout);
    this.#server.on("connection", (socket) => this.#connected(socket));
    // An expectation that is not known does not count, as if there were none.
    this.#server.on("checkExpectation", this.#read);
    this.#server.on("connect", ({ socket }) => this.#refuseTunnel(socket));
    this.#server.on("clientError", this.#refuseMalformed);
  }

  static async open(address: ListenAddress, owner: ListenerOwner): Promise<Listener> {
    const { port, host } = address;
    const listener = new Listener(address, owner);
    try {
      listener.#server.listen(port, host);
      await once(listener.#server, "listening");
    } catch (cause) {
      await listener.close();
      throw listenFailure(address, cause);
    }
    listener.#server.on("error", (error) =>
      listener.#owner.log.error({ reason: reasonOf(error) }, "accepting a connection failed"),
    );
    return listener;
  }

  /** The port it listens on; undefined once it was closed. */
  get port(): number | undefined {
    const address = this.#closed === undefined ? this.#server.address() : undefined;
    return typeof address === "object" ? address?.port : undefined;
  }

  /** The one that it serves, or served last. */
  get owner(): ListenerOwner {
    return this.#owner;
  }

  /** Requests that arrive from now on wait for the next owner. */
  hold(): void {
    const { responder, config } = this.#owner;
    this.#held ??= new HeldRequests((request) => responder.refuse(request, reloading(config.retry_after)));
  }

  /** Replaces the owner, and serves the requests that waited. Its settings apply to open connections, too. */
  serveFor(owner: ListenerOwner): void {
    const { config, tls } = owner;
    this.#owner = owner;
    this.secure(tls);
    this.#budget.limits = config;
    this.#limit.config = config;
    this.#plain.config = config;
    this.#byNode.closeUnread(config.keep_alive_timeout);
    Object.assign(this.#server, serverOptions(config));
    const held = this.#held;
    this.#held = undefined;
    for (const request of held?.released() ?? []) this.#serve(request);
  }

  /** TLS of the connections that come from now on; undefined for plain HTTP. */
  secure(tls: TlsOptions | undefined): void {
    this.#owner = { ...this.#owner, tls };
    this.#tls = tls === undefined ? undefined : tlsServer(tls, this.#owner.config);
    this.#tls?.on("secureConnection", (socket) => {
      this.#handshakes.end(socket);
      socket.allowHalfOpen = true;
      this.#plain.add(socket);
    });
    this.#tls?.on("tlsClientError", (error, socket) => {
      socket.destroy();
      const refusal = failedHandshake(error, socket, this.#owner.log);
      if (refusal !== undefined) this.#count(refusal);
    });
  }

  /** Stops listening, waits for requests that have begun until the signal aborts, and closes every connection. */
  close(signal: AbortSignal = AbortSignal.abort()): Promise<void> {
    this.#closed ??= this.#close(signal);
    return this.#closed;
  }

  #connected(socket: Socket): void {
    if (!this.#limit.admits(socket, this.#tls === undefined)) return;
    if (this.#tls === undefined) this.#plain.add(socket);
    else {
      // Node's HTTP server leaves sockets half open; a sender that disconnects in the handshake would not be noticed.
      socket.allowHalfOpen = false;
      this.#handshakes.begin(socket);
      this.#tls.emit("connection", socket);
    }
  }

  #serve(request: HttpRequest): void {
    if (this.#held === undefined) void this.#owner.responder.serve(request);
    else this.#held.add(request);
  }

  readonly #read = (request: IncomingMessage, response: ServerResponse): void => {
    const read = new NodeRequest(request, response);
    const begin = () => {
      if (this.#closed !== undefined) response.shouldKeepAlive = false;
      if (read.hasOneHost) void this.#readBody(read);
      else this.#owner.responder.refuse(read, oneHost);
    };
    this.#byNode.add(request.socket, { request, response, begin, over: () => read.release() });
  };

  async #readBody(request: NodeRequest): Promise<void> {
    const { config, log } = this.#owner;
    const wanted = request.method === "POST" && this.#owner.responder.admits(request.headers);
    const limits = { most: config.max_body_size, budget: this.#budget, retryAfter: config.retry_after };
    const read = wanted ? await request.read(limits) : "read";
    if (read === "gone") log.debug({}, "request abandoned by its sender");
    else if (read === "read") this.#serve(request);
    else this.#owner.responder.refuse(request, read);
  }

  // server.close() leaves connections open that are busy or have not sent anything at that moment.
  #answered(): void {
    if (this.#closed !== undefined) this.#server.closeAllConnections();
  }

  /** After the responses to what was sent before it: the sender takes the first one for that to its first request. */
  readonly #refuseMalformed = (error: Error, socket: Socket): void => {
    this.#byNode.last(socket, (inBody) => {
      if (inBody && codeOf(error) === ENDED_EARLY) {
        this.#owner.log.debug({}, "request abandoned by its sender");
        socket.destroySoon();
        return;
      }
      const refusal = refuseMalformed(error, socket, this.#owner.log);
      if (refusal !== undefined) this.#count(refusal);
    });
  };

  /** Node has left the connection to this listener. */
  #refuseTunnel(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    this.#byNode.last(socket, () => {
      socket.end(closingResponse(noTunnel), () => socket.destroy());
      this.#count(noTunnel);
    });
  }

  #count(refusal: Refusal): void {
    this.#owner.responder.count(refusal);
  }

  async #close(signal: AbortSignal): Promise<void> {
    const server = this.#server;
    const closed = server.listening ? once(server, "close") : undefined;
    const closeConnections = () => {
      server.closeAllConnections();
      if (!signal.aborted) return;
      this.#plain.destroy();
      this.#byNode.destroy();
    };
    this.#held?.end();
    server.close();
    this.#plain.close();
    this.#handshakes.destroy();
    if (this.#byNode.unanswered === 0) closeConnections();
    const stopListening = onAbort(signal, closeConnections);
    this.#byNode.closeUnread(UNREAD_AT_STOP_MILLIS);
    await closed;
    stopListening();
    this.#byNode.closeUnread(0);
  }
}
