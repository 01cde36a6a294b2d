import { once } from "node:events";
import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import { createServer as createTlsServer, Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  AgentError,
  addressText,
  codeOf,
  FailureLog,
  type Followed,
  followFiles,
  type Lifecycle,
  type Logger,
  onAbort,
  reasonOf,
} from "../sdk/index.js";
import { inTurn } from "./in-turn.js";
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
    const app = inTurn(listener);
    this.#server = serverFor(app, address.tls);
    this.#server.on("connection", (socket: Socket) => this.#keep(socket));
    this.#server.on("clientError", answerMalformed);
    this.#server.on("connect", (request, socket) => answerConnect(request.url ?? "", socket));
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

/** Milliseconds within which a request must arrive; a slower one is answered with 408. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 30_000 } as const;

function serverFor(app: RequestListener, tls: TlsMaterial | undefined): Server {
  if (tls === undefined) return createServer(timeouts, app);
  const handshakeTimeout = timeouts.headersTimeout;
  const requestCert = tls.ca !== undefined;
  return createTlsServer({ ...timeouts, handshakeTimeout, requestCert, ...contextOf(tls) }, app);
}

function contextOf({ key, cert, ca }: TlsMaterial) {
  return { key, cert, ...(ca === undefined ? {} : { ca }) };
}

/** Answers, in the envelope, bytes that do not become a request: not HTTP, too large, or too slow. */
function answerMalformed(error: Error, socket: Duplex): void {
  const code = codeOf(error);
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, reason } = parserErrors.get(code) ?? { status: 400, reason: "The request is not valid HTTP" };
  endWith(socket, status, reason);
}

/** CONNECT requests a tunnel, which is not supported. */
function answerConnect(path: string, socket: Duplex): void {
  socket.on("error", () => socket.destroy());
  endWith(socket, 404, `CONNECT ${path} not found`);
}

function endWith(socket: Duplex, status: number, error: string): void {
  const content = JSON.stringify({ success: "false", error });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(content)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${content}`, () => socket.destroy());
}

/** By the error codes of Node's HTTP parser. */
const parserErrors: ReadonlyMap<string | undefined, { readonly status: number; readonly reason: string }> = new Map([
  ["HPE_HEADER_OVERFLOW", { status: 431, reason: "The headers are too large" }],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", { status: 413, reason: "The chunk extensions are too large" }],
  ["ERR_HTTP_REQUEST_TIMEOUT", { status: 408, reason: "The request did not arrive in time" }],
]);
