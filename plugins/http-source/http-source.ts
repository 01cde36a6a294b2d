import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { reasonOf, type Source } from "deneb/sdk";
import type { HttpConfig } from "./config.js";
import { DirectConnections } from "./direct-connections.js";
import type { Exchange } from "./exchange.js";
import { Intake, type IntakeContext } from "./intake.js";
import { listenFailure } from "./listen-failure.js";
import { answerMalformed } from "./malformed-request.js";
import { NodeExchange } from "./node-exchange.js";
import { readTls } from "./tls.js";

export class HttpSource implements Source {
  readonly #config: HttpConfig;
  readonly #context: IntakeContext;
  readonly #intake: Intake;
  #server: Server | undefined;
  #direct: DirectConnections | undefined;
  #unanswered = 0;
  #stopped: Promise<void> | undefined;

  constructor(config: HttpConfig, context: IntakeContext) {
    this.#config = config;
    this.#context = context;
    this.#intake = new Intake(config, context);
  }

  /** The port it listens on; undefined while it does not. */
  get port(): number | undefined {
    const address = this.#server?.address();
    return typeof address === "object" ? address?.port : undefined;
  }

  async start(): Promise<void> {
    const { port, bind: host } = this.#config;
    const { log, name } = this.#context;
    const tls = await readTls(this.#config, name);
    const options = serverOptions(this.#config);
    const server =
      tls === undefined ? createServer(options, this.#serve) : createTlsServer({ ...options, ...tls }, this.#serve);
    try {
      server.listen(port, host);
      await once(server, "listening");
    } catch (cause) {
      throw listenFailure({ source: name, port, host }, cause);
    }
    this.#direct = this.#takeConnections(server, tls === undefined ? "connection" : "secureConnection");
    server.on("clientError", (error, socket) => answerMalformed(error, socket, log));
    server.on("error", (error) => log.error({ reason: reasonOf(error) }, "accepting a connection failed"));
    this.#server = server;
    log.info({ host, port: this.port }, "listening");
  }

  stop(signal: AbortSignal): Promise<void> {
    this.#stopped ??= this.#close(signal);
    return this.#stopped;
  }

  /** New connections are read directly; Node's own way stays for those that are handed over. */
  #takeConnections(server: Server, event: "connection" | "secureConnection"): DirectConnections {
    const listeners = server.listeners(event);
    const direct = new DirectConnections(this.#config, {
      log: this.#context.log,
      admits: (headers) => this.#intake.admits(headers),
      serve: this.#exchange,
      handOver: (socket) => {
        for (const listener of listeners) listener.call(server, socket);
      },
      lookEvery: lookEvery(this.#config),
    });
    server.removeAllListeners(event);
    server.on(event, (socket: Socket) => direct.add(socket));
    return direct;
  }

  /** A handler from elsewhere may refuse with a status or a header that HTTP does not know. */
  readonly #exchange = (exchange: Exchange): Promise<void> =>
    this.#intake.serve(exchange).catch((error: unknown) => this.#intake.failed(exchange, error));

  readonly #serve = (request: IncomingMessage, response: ServerResponse): void => {
    this.#unanswered += 1;
    response.on("close", this.#answered);
    if (this.#stopped !== undefined) response.shouldKeepAlive = false;
    void this.#exchange(new NodeExchange(request, response));
  };

  // Closing the server leaves open the connections that were busy or had not sent anything at that moment.
  readonly #answered = (): void => {
    this.#unanswered -= 1;
    if (this.#unanswered === 0 && this.#stopped !== undefined) this.#server?.closeAllConnections();
  };

  async #close(signal: AbortSignal): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = once(server, "close");
    const closeConnections = () => {
      server.closeAllConnections();
      if (signal.aborted) this.#direct?.destroy();
    };
    server.close();
    this.#direct?.close();
    if (this.#unanswered === 0 || signal.aborted) closeConnections();
    signal.addEventListener("abort", closeConnections, { once: true });
    await closed;
    signal.removeEventListener("abort", closeConnections);
    this.#context.log.info({}, "stopped listening");
  }
}

function serverOptions(config: HttpConfig): ServerOptions {
  const { request_timeout, headers_timeout } = config;
  return {
    maxHeaderSize: config.max_header_size,
    keepAliveTimeout: config.keep_alive_timeout,
    requestTimeout: request_timeout,
    headersTimeout: headers_timeout,
    connectionsCheckingInterval: lookEvery(config),
  };
}

/** Milliseconds between two looks for stalled requests; Node's default, 30 s, would be far later than the time-outs promise. */
function lookEvery({ request_timeout, headers_timeout }: HttpConfig): number {
  return Math.min(1000, request_timeout || 1000, headers_timeout || 1000);
}
