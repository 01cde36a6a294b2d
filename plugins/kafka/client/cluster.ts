import { setMaxListeners } from "node:events";
import type { Connection } from "@platformatic/kafka";
import { pause } from "deneb/sdk";
import { BrokerOrder } from "./broker-order.js";
import { type Address, type Connections, NO_ANSWER, type RequestLimits } from "./connections.js";
import { KafkaError, kafkaErrorOf } from "./kafka-error.js";
import type { Library } from "./library.js";
import { addressOf, type ConnectionConfig } from "./properties.js";
import { QUOTA, Throttling } from "./throttling.js";

const PAUSE_MILLIS = 100;
/** Which part of the time for a call one attempt may take: a broker that hangs leaves time for another one. */
const ATTEMPTS = 3;
/** A question that any broker can answer is passed on sooner. */
const LEAST_LOOK_MILLIS = 1000;

export type Send<T> = (connection: Connection, library: Library) => Promise<T>;

interface Asking extends Partial<RequestLimits> {
  /** Requests of one purpose share a connection; absent: those of administration. */
  readonly purpose?: string;
}

export interface AskingAny<T> extends Omit<Asking, "signal"> {
  /** The broker that answered last is asked after the others. */
  readonly another?: boolean;
  /** Why an answer is none; one that is `unavailable` has the next broker asked. */
  readonly judge?: (answer: T) => KafkaError | undefined;
}

export type ClusterConnections = Pick<Connections, "request" | "anySocket" | "close">;

/** The brokers of a cluster: requests to one of them, or to any that answers. Made by {@link openCluster}. */
export class KafkaCluster {
  readonly library: Library;
  readonly throttling = new Throttling();
  readonly #connections: ClusterConnections;
  readonly #bootstrap: readonly Address[];
  readonly #requestTimeout: number;
  readonly #closing = new AbortController();
  #brokers: ReadonlyMap<number, Address> = new Map();
  readonly #order = new BrokerOrder();

  constructor(
    library: Library,
    connections: ClusterConnections,
    { bootstrap_servers, request_timeout }: ConnectionConfig,
  ) {
    this.library = library;
    this.#connections = connections;
    this.#bootstrap = bootstrap_servers.map(addressOf).filter((address) => address !== undefined);
    this.#requestTimeout = request_timeout;
    // Each partition that waits for its leader listens.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Milliseconds within which a call must be done. */
  get callMillis(): number {
    return this.#requestTimeout;
  }

  /** Milliseconds within which one of its requests must be answered. */
  get attemptMillis(): number {
    return Math.max(100, Math.ceil(this.#requestTimeout / ATTEMPTS));
  }

  /** Milliseconds within which a broker must answer what any other one knows too. */
  get lookMillis(): number {
    return Math.min(this.attemptMillis, Math.max(LEAST_LOOK_MILLIS, Math.ceil(this.attemptMillis / ATTEMPTS)));
  }

  /** Aborts when the cluster is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Tells where the brokers are. */
  know(brokers: ReadonlyMap<number, Address>): void {
    this.#brokers = brokers;
  }

  addressOf(node: number): Address | undefined {
    return this.#brokers.get(node);
  }

  /** The connection over which a broker answered last, to check its certificate. */
  socket(): Connection["socket"] | undefined {
    return this.#connections.anySocket();
  }

  /** Asks a certain broker, once. */
  async askNode<T>(node: number, send: Send<T>, { purpose = "admin", millis, signal }: Asking = {}): Promise<T> {
    const address = this.#brokers.get(node);
    if (address === undefined) throw new KafkaError("unavailable", `broker ${node} is not there`);
    try {
      return await this.#ask(address, send, { purpose, millis: millis ?? this.attemptMillis, signal });
    } catch (error) {
      if (signal?.aborted !== true) this.#order.doubt(address);
      throw error;
    }
  }

  /** Asks any broker: one after another until one answers, each once. */
  async askAny<T>(send: Send<T>, asking: AskingAny<T> = {}): Promise<T> {
    const { purpose = "admin", millis = this.lookMillis, another = false, judge } = asking;
    if (another) this.#order.doubtAnswer();
    let failure: unknown;
    for (const address of this.#order.sorted([...this.#brokers.values(), ...this.#bootstrap])) {
      try {
        const answer = await this.#ask(address, send, { purpose, millis });
        const refusal = judge?.(answer);
        if (refusal !== undefined) throw refusal;
        this.#order.answered(address);
        return answer;
      } catch (error) {
        const { kind } = kafkaErrorOf(error, "");
        // One that refuses this client explains more than others that are away.
        if (kind === "denied" || failure === undefined || kafkaErrorOf(failure, "").kind !== "denied") failure = error;
        this.#order.doubt(address);
        // Its certificate, and the users that it knows, say nothing about the other brokers.
        if ((kind !== "unavailable" && kind !== "denied") || this.closing.aborted) break;
      }
    }
    throw failure;
  }

  /** Tries something until it is done, fails for good, the time for a call is over, or the signal aborts. */
  async persistently<T>(doing: string, attempt: () => Promise<T>, signal = this.closing): Promise<T> {
    const end = performance.now() + this.#requestTimeout;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        const failure = kafkaErrorOf(error, doing);
        const over = performance.now() + PAUSE_MILLIS > end || this.closing.aborted || signal.aborted;
        if (over || (failure.kind !== "unavailable" && failure.kind !== "full")) throw named(failure, doing);
        await this.pause();
      }
    }
  }

  /** Waits a moment before another attempt; returns at once when the cluster is closed. */
  async pause(): Promise<void> {
    await pause(PAUSE_MILLIS, this.closing);
  }

  close(): void {
    this.#closing.abort();
    this.#connections.close();
  }

  async #ask<T>(address: Address, send: Send<T>, on: RequestLimits & { readonly purpose: string }): Promise<T> {
    const { purpose, ...limits } = on;
    try {
      const answer = await this.#connections.request(
        { ...address, purpose },
        (line) => send(line, this.library),
        limits,
      );
      this.throttling.note(answer);
      return answer;
    } catch (error) {
      throw this.throttling.isRecent ? throttled(error) : error;
    }
  }
}

/** A broker that does not answer in time may have been slow because of that. */
function throttled(error: unknown): unknown {
  if (!(error instanceof KafkaError) || !error.message.endsWith(NO_ANSWER)) return error;
  return new KafkaError(error.kind, `${error.message}; ${QUOTA}`, { id: error.id, cause: error.cause });
}

function named(failure: KafkaError, doing: string): KafkaError {
  const message = failure.message.startsWith(doing) ? failure.message : `${doing}: ${failure.message}`;
  return new KafkaError(failure.kind, message, { id: failure.id, cause: failure.cause });
}
