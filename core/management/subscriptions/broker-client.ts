import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { isIP } from "node:net";
import { AgentError } from "../../sdk/index.js";

/** Maximum size of an answer; a page of subscriptions is far smaller. */
const MOST_ANSWER_BYTES = 16 * 1024 * 1024;

export interface BrokerRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query, encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface BrokerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The object or list of the body; undefined when it holds neither. */
  readonly body: object | undefined;
}

export interface BrokerSettings {
  readonly targets: BrokerTargets;
  readonly timeoutMillis: number;
  readonly verifyTls: boolean;
}

/** Calls context brokers. Does not follow redirects or reuse connections. */
export class BrokerClient {
  readonly #settings: BrokerSettings;

  constructor(settings: BrokerSettings) {
    this.#settings = settings;
  }

  /** Rejects with code BROKER_NOT_ALLOWED, BROKER_TIMEOUT or BROKER_UNREACHABLE. */
  async call(endpoint: BrokerEndpoint, call: BrokerRequest, signal: AbortSignal): Promise<BrokerAnswer> {
    this.#settings.targets.check(endpoint);
    const timeout = AbortSignal.timeout(this.#settings.timeoutMillis);
    try {
      const response = await this.#send(endpoint, call, AbortSignal.any([timeout, signal]));
      const text = await textOf(response);
      return { status: response.statusCode ?? 0, headers: response.headers, body: jsonOf(text) };
    } catch (cause) {
      if (timeout.aborted) throw this.#timeOut(endpoint, cause);
      const message = `calling broker "${addressOf(endpoint)}", which cannot be reached`;
      throw new AgentError("BROKER_UNREACHABLE", message, { cause, retryable: true });
    }
  }

  #send(endpoint: BrokerEndpoint, { body, ...call }: BrokerRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { host, port, tls } = endpoint;
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const token = endpoint.token === undefined ? {} : { "X-Auth-Token": endpoint.token };
    const headers = { Accept: "application/json", ...token, ...call.headers, ...length };
    const options = { ...call, host, port, headers, signal, agent: false };
    return new Promise((resolve, reject) => {
      const outgoing = tls
        ? requestTls({ ...options, rejectUnauthorized: this.#settings.verifyTls }, resolve)
        : requestPlain(options, resolve);
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  #timeOut(endpoint: BrokerEndpoint, cause: unknown): AgentError {
    const { timeoutMillis } = this.#settings;
    const message = `calling broker "${addressOf(endpoint)}", which did not answer within ${timeoutMillis} milliseconds`;
    return new AgentError("BROKER_TIMEOUT", message, { cause, retryable: true });
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MOST_ANSWER_BYTES) {
      throw new AgentError("BROKER_ANSWER_TOO_LARGE", `reading an answer of more than ${MOST_ANSWER_BYTES} bytes`, {
        retryable: false,
      });
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

function jsonOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The brokers that calls are allowed to. */
export class BrokerTargets {
  readonly #allowed: readonly string[];

  constructor(allowed: readonly string[]) {
    this.#allowed = allowed.map((target) => target.toLowerCase());
  }

  /** Throws when the broker is not allowed. */
  check(endpoint: BrokerEndpoint): void {
    const host = endpoint.host.toLowerCase();
    const address = addressOf({ ...endpoint, host });
    if (this.#allowed.some((target) => target === host || target === address || matches(target, host))) return;
    const remedy = "it is not among the allowed brokers; add it to --broker-targets or DENEB_BROKER_TARGETS";
    throw new AgentError("BROKER_NOT_ALLOWED", `calling broker "${address}": ${remedy}`, { retryable: false });
  }
}

function matches(target: string, host: string): boolean {
  return target === "*" || (target.startsWith("*.") && isIP(host) === 0 && host.endsWith(target.slice(1)));
}

/** The address of a broker, and how to call it. */
export interface BrokerEndpoint {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Sent as `X-Auth-Token` when there is one. */
  readonly token: string | undefined;
}

/** Host and port in the usual notation. */
function addressOf({ host, port }: BrokerEndpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
