import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { AgentError, type Lifecycle, type Logger } from "../sdk/index.js";

export interface ManagementAddress {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** Serves the management interface. */
export class ManagementServer implements Lifecycle {
  readonly #server: Server;
  readonly #address: ManagementAddress;
  readonly #log: Logger;

  constructor(app: RequestListener, address: ManagementAddress, log: Logger) {
    this.#server = createServer(app);
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
      });
    }
    this.#log.info({ host, port: this.port }, "management interface listening");
  }

  async stop(signal: AbortSignal): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    const end = () => this.#server.closeAllConnections();
    signal.addEventListener("abort", end, { once: true });
    this.#server.close();
    this.#server.closeIdleConnections();
    if (signal.aborted) end();
    await closed;
    signal.removeEventListener("abort", end);
  }
}
