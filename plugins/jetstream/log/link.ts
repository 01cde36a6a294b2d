import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { codeOf, onAbort } from "deneb/sdk";
import type { NatsClient } from "../client.js";
import type { JetStreamConfig } from "../config.js";
import { connectedToAny } from "./connecting.js";
import { type ApiError, apiFailure, clientFailure, logUnavailable, NobodyAnswers } from "./errors.js";

const PAUSE_MILLIS = 100;
const LONGEST_TRY_MILLIS = 2000;
const TRIES = 3;

/** What one request carries. */
interface Asking {
  /** What is being done, for messages. */
  readonly doing: string;
  readonly subject: string;
  /** A function makes it anew for each try. */
  readonly payload?: Uint8Array | string | (() => string);
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly within?: number;
  /** True for an answer that comes under the subject of a record, as those of consumers do. */
  readonly record?: boolean;
}

interface ApiCall {
  /** A function makes it anew for each try. */
  readonly body?: object | (() => object);
  /** Milliseconds; absent: request_timeout. */
  readonly within?: number;
}

/** A connection that is made when it is needed, and made again after it was lost. Rejects with codes of a log only. */
export class Link {
  readonly #config: JetStreamConfig;
  readonly #component: string;
  readonly #connected: (connection: NatsConnection, client: NatsClient) => void;
  #client: NatsClient | undefined;
  #connection: NatsConnection | undefined;
  #connecting: Promise<NatsConnection> | undefined;
  /** Of each connection: aborts when it is closed. */
  readonly #ends = new WeakMap<NatsConnection, AbortSignal>();
  #ended = new AbortController();
  #turn: Promise<void> | undefined;

  /** `connected` is called with each new connection. */
  constructor(
    config: JetStreamConfig,
    component: string,
    connected: (connection: NatsConnection, client: NatsClient) => void = () => undefined,
  ) {
    this.#config = config;
    this.#component = component;
    this.#connected = connected;
  }

  /** May be called again after `close`. */
  reopen(): void {
    if (this.#ended.signal.aborted) this.#ended = new AbortController();
  }

  get isClosed(): boolean {
    return this.#ended.signal.aborted;
  }

  async connection(doing: string, within = this.#config.request_timeout): Promise<NatsConnection> {
    if (this.isClosed) throw logUnavailable(doing, "the log is closed");
    if (this.#connection !== undefined && !this.#connection.isClosed()) return this.#connection;
    this.#connecting ??= this.#connect(within).finally(() => {
      this.#connecting = undefined;
    });
    try {
      return await this.#connecting;
    } catch (error) {
      throw clientFailure(doing, error);
    }
  }

  /** Milliseconds after which a request without an answer is worth another one: a cluster without a leader forgets it. */
  get tryMillis(): number {
    return Math.min(LONGEST_TRY_MILLIS, this.#config.request_timeout / TRIES);
  }

  /** Asks once. */
  async request(asking: Asking): Promise<Msg> {
    const { doing, subject, payload = "", within = this.tryMillis } = asking;
    const end = performance.now() + within;
    const connection = await this.connection(doing, within);
    await this.#together();
    const timeout = Math.max(1, Math.ceil(end - performance.now()));
    try {
      const headers = this.#headers(asking.headers);
      const options = { timeout, noMux: asking.record === true, ...(headers === undefined ? {} : { headers }) };
      const sent = typeof payload === "function" ? payload() : payload;
      const answer = connection.request(subject, sent, options);
      const ended = this.#ends.get(connection);
      return await (options.noMux && ended !== undefined ? orClosed(answer, ended, doing) : answer);
    } catch (error) {
      // Nobody knows what became of the others that wait there; another server of the cluster may answer.
      if (error instanceof Error && error.name === "TimeoutError" && timeout > within / 2) this.#drop(connection);
      throw clientFailure(doing, error);
    }
  }

  /** Asks what may be asked twice, until there is an answer or the time is over. */
  async ask(asking: Asking): Promise<Msg> {
    const end = performance.now() + (asking.within ?? this.#config.request_timeout);
    for (;;) {
      const left = Math.max(1, end - performance.now());
      try {
        return await this.request({ ...asking, within: Math.min(left, this.tryMillis) });
      } catch (error) {
        const lost = codeOf(error) === "LOG_UNAVAILABLE" && !(error instanceof NobodyAnswers);
        if (!lost || performance.now() + PAUSE_MILLIS >= end || this.isClosed) throw error;
        await delay(PAUSE_MILLIS);
      }
    }
  }

  /** A request to the API of JetStream; rejects when the answer is an error. */
  async api<Answer extends object>(doing: string, call: string, { body, within }: ApiCall = {}): Promise<Answer> {
    const payload = () => (body === undefined ? "" : JSON.stringify(typeof body === "function" ? body() : body));
    const time = within === undefined ? {} : { within };
    const message = await this.ask({ doing, subject: `$JS.API.${call}`, payload, ...time });
    const answer: Answer & { readonly error?: ApiError } = JSON.parse(message.string());
    if (answer.error !== undefined) throw apiFailure(doing, answer.error);
    return answer;
  }

  /** Says something to whoever listens; nothing when there is no connection. */
  say(subject: string, payload: string): void {
    if (this.#connection !== undefined && !this.#connection.isClosed()) this.#connection.publish(subject, payload);
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#connecting?.catch(() => undefined);
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) await connection.close().catch(() => undefined);
  }

  /** What is asked in one turn of the event loop leaves in one write to the socket. */
  #together(): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#turn = undefined;
        resolve();
      });
    });
    return this.#turn;
  }

  #drop(connection: NatsConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    connection.close().catch(() => undefined);
  }

  #headers(values: Readonly<Record<string, string>> | undefined): MsgHdrs | undefined {
    if (values === undefined) return undefined;
    const headers = this.#client?.headers();
    for (const [name, value] of Object.entries(values)) headers?.set(name, value);
    return headers;
  }

  async #connect(within: number): Promise<NatsConnection> {
    const limits = { within, ended: this.#ended.signal };
    const { connection, client } = await connectedToAny(this.#config, this.#component, limits);
    this.#client = client;
    this.#connection = connection;
    this.#ends.set(connection, endOf(connection));
    this.#connected(connection, client);
    return connection;
  }
}

/** The client leaves such a request without an end when its connection is closed. */
async function orClosed(answer: Promise<Msg>, ended: AbortSignal, doing: string): Promise<Msg> {
  let stopListening = () => {};
  const closed = new Promise<never>((_, reject) => {
    stopListening = onAbort(ended, () => reject(logUnavailable(doing, "the connection was closed")));
  });
  try {
    return await Promise.race([answer, closed]);
  } finally {
    stopListening();
  }
}

/** Aborts when the connection is closed: what waits for its promise instead would stay as long as the connection. */
function endOf(connection: NatsConnection): AbortSignal {
  const ended = new AbortController();
  // Many questions may wait at the same time.
  setMaxListeners(0, ended.signal);
  const end = () => ended.abort();
  connection.closed().then(end, end);
  return ended.signal;
}
