import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer, Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import {
  AgentError,
  addressText,
  FailureLog,
  type Followed,
  followFiles,
  type Lifecycle,
  type Logger,
  onAbort,
  reasonOf,
} from "../sdk/index.js";
import { InTurn } from "./in-turn.js";
import { answerConnect, answerMalformed } from "./raw-answers.js";
import type { TlsMaterial } from "./security/read-security.js";

interface ManagementAddress {
  readonly host: string;
  /** 0: the operating system chooses a free port. */
  readonly port: number;
  /** Absent for plain HTTP. */
  readonly tls?: TlsMaterial | undefined;
  /** Reads the files of TLS again, which may be replaced while it listens. */
  readonly readTls?: () => Promise<TlsMaterial | undefined>;
  /** Milliseconds between two of these readings; ten seconds when absent. */
  readonly lookMillis?: number;
  /** Path of a socket to listen on, in place of host and port. */
  readonly socket?: string | undefined;
}

/** Serves the management interface. */
export class ManagementServer implements Lifecycle {
  readonly #server: Server;
  readonly #address: ManagementAddress;
  readonly #log: Logger;
  readonly #stopping: (() => void)[] = [];
  readonly #sockets = new Set<Socket>();
  #isStopped = false;
  #endFollowing = () => {};

  constructor(listener: RequestListener, address: ManagementAddress, log: Logger) {
    const calls = new InTurn(withHost(listener));
    const app = calls.answer;
    this.#server = serverFor(app, address.tls);
    this.#server.on("connection", (socket: Socket) => this.#keep(socket));
    this.#server.on("clientError", (error, socket) => calls.last(socket, () => answerMalformed(error, socket)));
    this.#server.on("connect", ({ url = "" }, socket) => {
      // Node has left the connection.
      socket.on("error", () => socket.destroy());
      calls.last(socket, () => answerConnect(url, socket));
    });
    this.#server.on("checkExpectation", app);
    this.#address = address;
    this.#log = log;
  }

  /** The listener is called when the server begins to stop: answers that would never end are to end then. */
  whenStopping(listener: () => void): void {
    this.#stopping.push(listener);
  }

  /** The port it listens on; the configured one before start. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : this.#address.port;
  }

  async start(): Promise<void> {
    await this.#listen();
    this.#server.on("error", (error) => this.#log.error({ reason: reasonOf(error) }, "accepting a connection failed"));
    const { tls, readTls } = this.#address;
    if (tls !== undefined && readTls !== undefined) this.#follow(tls, readTls);
  }

  /** Listens again where the file of its socket was removed: nobody reaches the one that is open. Connections go on. */
  async listenAgain(): Promise<void> {
    if (this.#isStopped) return;
    if (this.#server.listening) this.#server.close();
    await this.#listen();
  }

  async #listen(): Promise<void> {
    const { host, port, socket } = this.#address;
    if (socket === undefined) this.#server.listen(port, host);
    // Not by a supervisor, which would take the connections.
    else this.#server.listen({ path: socket, exclusive: true });
    try {
      await once(this.#server, "listening");
    } catch (cause) {
      const remedy = "choose another one with --management-port or --management-host";
      const where = socket ?? addressText(host, port);
      throw new AgentError("MANAGEMENT_PORT_UNUSABLE", `listening on ${where} for management (${remedy})`, {
        cause,
        retryable: false,
      });
    }
    const scheme = this.#address.tls === undefined ? "http" : "https";
    const place = socket === undefined ? { host, port: this.port, scheme } : { socket };
    this.#log.info(place, "management interface listening");
  }

  async stop(signal: AbortSignal): Promise<void> {
    this.#isStopped = true;
    this.#endFollowing();
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const listener of this.#stopping) listener();
    this.#server.closeIdleConnections();
    const stopListening = onAbort(signal, () => this.#closeAll());
    await closed;
    stopListening();
  }

  /** Files that were replaced count for the connections that come then. */
  #follow(first: TlsMaterial, read: () => Promise<TlsMaterial | undefined>): void {
    const failures = new FailureLog(this.#log, "the files of TLS can be used again");
    const followed: Followed<TlsMaterial | undefined> = {
      read,
      first,
      use: (tls) => {
        if (tls !== undefined && this.#server instanceof TlsServer) this.#server.setSecureContext(contextOf(tls));
        this.#log.info({}, "the files of TLS were replaced, and are in use");
      },
      looked: (error) => {
        if (error === undefined) failures.works();
        else failures.failed("error", error, { message: "the files of TLS that were read before stay in use" });
      },
    };
    this.#endFollowing = followFiles(followed, this.#address.lookMillis);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** Node's server does not close those in a TLS handshake, which are no connections of HTTP yet. */
  #closeAll(): void {
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** HTTP/1.1 requires one header Host: of several, two readers may each take another one. Node would answer without a reason. */
function withHost(app: RequestListener): RequestListener {
  return (request, response) => {
    const { rawHeaders, httpVersion } = request;
    const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
    if (hosts === 1 || (hosts === 0 && httpVersion !== "1.1")) return app(request, response);
    const number = hosts === 0 ? "no header" : `${hosts} headers`;
    const content = JSON.stringify({ success: "false", error: `The request has ${number} Host; send one` });
    const headers = { "Content-Type": "application/json; charset=utf-8", Connection: "close" };
    response.writeHead(400, { ...headers, "Content-Length": Buffer.byteLength(content) }).end(content);
  };
}

/** Milliseconds within which a request must arrive; a slower one is answered with 408. */
const limits = { headersTimeout: 15_000, requestTimeout: 30_000, requireHostHeader: false } as const;

function serverFor(app: RequestListener, tls: TlsMaterial | undefined): Server {
  if (tls === undefined) return createServer(limits, app);
  const handshakeTimeout = limits.headersTimeout;
  const requestCert = tls.ca !== undefined;
  return createTlsServer({ ...limits, handshakeTimeout, requestCert, ...contextOf(tls) }, app);
}

function contextOf({ key, cert, ca }: TlsMaterial) {
  return { key, cert, ...(ca === undefined ? {} : { ca }) };
}
