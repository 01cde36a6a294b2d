import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { isNestedDeeperThan, parseJson } from "../../ngsi/values/json.js";
import { AgentError, codeOf, onAbort, reasonOf, type TlsWords, tlsReason } from "../../sdk/index.js";
import { addressOf, type BrokerEndpoint, type BrokerTargets } from "./broker-targets.js";

/** Maximum size of an answer, and of all pages of a list together. */
export const MOST_ANSWER_BYTES = 16 * 1024 * 1024;

/** Maximum nesting of an answer: what is nested deeper cannot be written again. */
const DEEPEST_ANSWER = 200;

export interface BrokerRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query, encoded. The path prefix of the endpoint is put before it. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface BrokerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The object or list of the text, with the digits of numbers as they were sent; undefined when it holds neither. */
  readonly body: object | undefined;
}

interface BrokerSettings {
  readonly targets: BrokerTargets;
  /** Time-out of a call that reads or deletes. */
  readonly timeoutMillis: number;
  /** Time-out of a call that creates a subscription. */
  readonly createTimeoutMillis: number;
  readonly verifyTls: boolean;
}

/** A call whose answer has not arrived. */
export interface OpenCall {
  readonly answer: Promise<BrokerAnswer>;
  /** Whether there was a connection, so that the broker may have acted upon the call. */
  reached(): boolean;
}

/** Calls context brokers. Does not follow redirects or reuse connections. */
export class BrokerClient {
  readonly #settings: BrokerSettings;

  constructor(settings: BrokerSettings) {
    this.#settings = settings;
  }

  /** The brokers that may be called, as they were configured. */
  get targets(): readonly string[] {
    return this.#settings.targets.texts;
  }

  get timeoutMillis(): number {
    return this.#settings.timeoutMillis;
  }

  get createTimeoutMillis(): number {
    return this.#settings.createTimeoutMillis;
  }

  /** Rejects with code BROKER_NOT_ALLOWED, BROKER_TIMEOUT, BROKER_UNREACHABLE, BROKER_HUNG_UP or BROKER_ANSWER_TOO_LARGE. */
  async call(endpoint: BrokerEndpoint, call: BrokerRequest, signal: AbortSignal): Promise<BrokerAnswer> {
    const timeout = AbortSignal.timeout(this.timeoutMillis);
    try {
      return await this.open(endpoint, call, AbortSignal.any([timeout, signal])).answer;
    } catch (cause) {
      // Without the cause, which says of the broker that it ended the connection.
      throw timeout.aborted ? brokerTimeout(endpoint, this.timeoutMillis) : cause;
    }
  }

  /** A call without a time-out of its own: it lasts until the signal aborts. Throws when the broker is not allowed. */
  open(endpoint: BrokerEndpoint, call: BrokerRequest, signal: AbortSignal): OpenCall {
    this.#settings.targets.check(endpoint);
    const progress = { reached: false };
    const answered = async () => {
      try {
        const response = await this.#send(endpoint, call, { signal, progress });
        const text = await textOf(response);
        // A body without a length ends like a complete one when the call is aborted.
        signal.throwIfAborted();
        return { status: response.statusCode ?? 0, headers: response.headers, text, body: jsonOf(text) };
      } catch (cause) {
        throw codeOf(cause) === "BROKER_ANSWER_TOO_LARGE" ? cause : failureOf(endpoint, progress.reached, cause);
      }
    };
    return { answer: answered(), reached: () => progress.reached };
  }

  #send(endpoint: BrokerEndpoint, { body, path, ...call }: BrokerRequest, course: Course): Promise<IncomingMessage> {
    const { host, port, tls, prefix } = endpoint;
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const token = endpoint.token === undefined ? {} : { "X-Auth-Token": endpoint.token };
    const headers = { Accept: "application/json", ...token, ...call.headers, ...length };
    const { signal, progress } = course;
    const options = { ...call, path: `${prefix}${path}`, host, port, headers, signal, agent: false };
    return new Promise((resolve, reject) => {
      onAbort(signal, () => reject(signal.reason));
      const outgoing = tls
        ? requestTls({ ...options, rejectUnauthorized: this.#settings.verifyTls }, resolve)
        : requestPlain(options, resolve);
      outgoing.on("error", reject);
      // Without a listener a change of the protocol would end the connection and leave the call open.
      outgoing.on("upgrade", (_response, socket) => {
        socket.destroy();
        reject(new Error("the broker changes the protocol"));
      });
      outgoing.on("socket", (socket) => {
        // A call that its caller has left does not keep a stopping process.
        socket.unref();
        socket.once(tls ? "secureConnect" : "connect", () => {
          progress.reached = true;
        });
      });
      outgoing.end(body);
    });
  }
}

interface Course {
  readonly signal: AbortSignal;
  readonly progress: { reached: boolean };
}

export function brokerTimeout(endpoint: BrokerEndpoint, millis: number): AgentError {
  const message = `calling broker "${addressOf(endpoint)}", which did not answer within ${millis} milliseconds`;
  return new AgentError("BROKER_TIMEOUT", message, { retryable: true });
}

const words: TlsWords = {
  server: "the broker",
  ca: "the file that NODE_EXTRA_CA_CERTS names at the start of the agent",
  client: "its settings: calls of the agent show no certificate",
  plain: 'call it with "ssl": "false", or at its port for TLS',
  name: "call it by a name of its certificate",
};

function failureOf(endpoint: BrokerEndpoint, reached: boolean, cause: unknown): AgentError {
  const code = reached ? "BROKER_HUNG_UP" : "BROKER_UNREACHABLE";
  const calling = `calling broker "${addressOf(endpoint)}"`;
  const what = reached ? "which ended the connection without a full answer" : "which cannot be reached";
  const ofTls = tlsReason({ code: codeOf(cause) ?? "", message: reasonOf(cause) }, words);
  const message = ofTls === undefined ? `${calling}, ${what}` : `${calling}: ${ofTls}`;
  return new AgentError(code, message, { cause, retryable: true });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MOST_ANSWER_BYTES) throw tooLarge();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

export function tooLarge(): AgentError {
  return new AgentError("BROKER_ANSWER_TOO_LARGE", `reading an answer of more than ${MOST_ANSWER_BYTES} bytes`, {
    retryable: false,
  });
}

function jsonOf(text: string): object | undefined {
  if (isNestedDeeperThan(DEEPEST_ANSWER, text)) return undefined;
  try {
    const value: unknown = parseJson(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
