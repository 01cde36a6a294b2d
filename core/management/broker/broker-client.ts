import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { AgentError } from "../../sdk/index.js";
import { addressOf, type BrokerEndpoint } from "./broker-endpoint.js";
import type { BrokerTargets } from "./broker-targets.js";

/** No list of subscriptions is this large; a broker that sends more is not one. */
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

/** Calls context brokers. Follows no redirects and keeps no connections. */
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
      if (timeout.aborted) throw this.#overdue(endpoint, cause);
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

  #overdue(endpoint: BrokerEndpoint, cause: unknown): AgentError {
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
