import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { AgentError, type Lifecycle, type Logger, onAbort, reasonOf } from "../sdk/index.js";
import { answerConnect, answerMalformed } from "./raw-answers.js";
import type { TlsMaterial } from "./security/read-security.js";

export interface ManagementAddress {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Without it plain HTTP is spoken. */
  readonly tls?: TlsMaterial | undefined;
}

/** Serves the management interface. */
export class ManagementServer implements Lifecycle {
  readonly #server: Server;
  readonly #address: ManagementAddress;
  readonly #log: Logger;

  constructor(app: RequestListener, address: ManagementAddress, log: Logger) {
    this.#server = serverFor(app, address.tls);
    this.#server.on("clientError", answerMalformed);
    this.#server.on("connect", (request, socket) => answerConnect(request.url ?? "", socket));
    this.#server.on("checkExpectation", app);
    this.#address = address;
    this.#log = log;
  }

  /** The port it listens on; the configured one before start. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : this.#address.port;
  }

  async start(): Promise<void> {
    const { host, port } = this.#address;
    this.#server.listen(port, host);
    try {
      await once(this.#server, "listening");
    } catch (cause) {
      const remedy = "choose another one with --management-port or --management-host";
      throw new AgentError("MANAGEMENT_PORT_UNUSABLE", `listening on ${host}:${port} for management (${remedy})`, {
        cause,
        retryable: false,
      });
    }
    this.#server.on("error", (error) => this.#log.error({ reason: reasonOf(error) }, "accepting a connection failed"));
    const scheme = this.#address.tls === undefined ? "http" : "https";
    this.#log.info({ host, port: this.port, scheme }, "management interface listening");
  }

  async stop(signal: AbortSignal): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeIdleConnections();
    const stopListening = onAbort(signal, () => this.#server.closeAllConnections());
    await closed;
    stopListening();
  }
}

/** Milliseconds within which a request must arrive; a slow one is answered 408. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 30_000 } as const;

function serverFor(app: RequestListener, tls: TlsMaterial | undefined): Server {
  if (tls === undefined) return createServer(timeouts, app);
  const { key, cert, ca } = tls;
  return createTlsServer({ ...timeouts, key, cert, ...(ca === undefined ? {} : { ca, requestCert: true }) }, app);
}
