import { setMaxListeners } from "node:events";
import { isIP, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Connection, ConnectionOptions } from "@platformatic/kafka";
import { addressText, onAbort, reasonOf } from "deneb/sdk";
import { isOfTls, KafkaError, kafkaErrorOf } from "./kafka-error.js";
import type { Library } from "./library.js";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Ends the message of a request that took too long. */
export const NO_ANSWER = "no answer in time";

/** A broker, and what its connection is for: answers come in the order of requests, so one that waits holds up those after it. */
export interface Line extends Address {
  readonly purpose: string;
}

export interface RequestLimits {
  /** Milliseconds after which the connection is cut. */
  readonly millis: number;
  /** Cuts the connection. */
  readonly signal?: AbortSignal | undefined;
}

interface Entry {
  readonly connection: Connection;
  readonly ready: Promise<void>;
  /** Why the connection broke, which requests on their way are not told. */
  broken?: unknown;
  /** Aborts when the connection is closed: the library tells most requests on their way, and not all. */
  readonly ended: AbortController;
  /** Requests that are not answered. */
  asked: number;
}

type ReadOptions = () => Promise<ConnectionOptions>;

interface OptionsAndSource {
  readonly read: ReadOptions;
  readonly options: ConnectionOptions;
}

/** One connection for each line, made when it is used, and again after it broke. */
export class Connections {
  readonly #library: Library;
  readonly #readOptions: ReadOptions;
  readonly #clientId: string;
  readonly #entries = new Map<string, Entry>();
  /** Connections that get no further requests. */
  readonly #leaving = new Set<Entry>();
  #options: ConnectionOptions;
  #renewing: Promise<void> | undefined;
  #closed = false;

  private constructor(library: Library, clientId: string, { read, options }: OptionsAndSource) {
    this.#library = library;
    this.#clientId = clientId;
    this.#readOptions = read;
    this.#options = options;
  }

  /** Reads the options, whose files may be replaced later. */
  static async with(library: Library, clientId: string, read: ReadOptions): Promise<Connections> {
    return new Connections(library, clientId, { read, options: await read() });
  }

  /** Sends one request. One that fails, is aborted or takes too long ends its connection: answers come in the order of requests. */
  async request<T>(line: Line, send: (connection: Connection) => Promise<T>, limits: RequestLimits): Promise<T> {
    const doing = `asking ${addressText(line.host, line.port)}`;
    if (this.#closed) throw new KafkaError("unavailable", `${doing}: the connections are closed`);
    const entry = this.#entries.get(keyOf(line)) ?? this.#connect(line);
    entry.asked += 1;
    try {
      return await limited({ ...limits, entry }, doing, async () => {
        await entry.ready;
        return await answered(send(entry.connection));
      });
    } catch (error) {
      this.#forget(line, entry);
      destroy(entry);
      if (this.#options.tls !== undefined) this.#renewing ??= this.#renew();
      throw kafkaErrorOf(isOfTls(entry.broken) ? entry.broken : error, doing);
    } finally {
      entry.asked -= 1;
      this.#endIfLeft(entry);
    }
  }

  /** The socket of one of the connections that are there. */
  anySocket(): Connection["socket"] | undefined {
    const [entry] = this.#entries.values();
    return entry?.connection.socket;
  }

  close(): void {
    this.#closed = true;
    for (const entry of [...this.#entries.values(), ...this.#leaving]) destroy(entry);
    this.#entries.clear();
    this.#leaving.clear();
  }

  /** Files of certificates may have been replaced; while they cannot be used, what was read before counts. */
  async #renew(): Promise<void> {
    this.#options = await this.#readOptions().catch(() => this.#options);
    this.#renewing = undefined;
  }

  #connect(line: Line): Entry {
    // Routers in front of brokers find them by the name that TLS is asked for; an address may not be one.
    const options = { ...this.#options, tlsServerName: isIP(line.host) === 0 };
    const connection = new this.#library.Connection(this.#clientId, options);
    const entry: Entry = { connection, ready: connected(connection, line), ended: new AbortController(), asked: 0 };
    // Each request that is on its way listens.
    setMaxListeners(0, entry.ended.signal);
    entry.ready.catch(() => undefined);
    // Where sessions of users end (connections.max.reauth.ms) the library would authenticate again between other requests, which brokers
    // refuse: another connection does it, before the session of this one is over.
    connection.reauthenticate = () => {
      this.#forget(line, entry);
      this.#leaving.add(entry);
      this.#endIfLeft(entry);
    };
    // Without a listener the emitter throws.
    connection.on("error", (error) => {
      entry.broken = error;
      this.#forget(line, entry);
    });
    connection.on("close", () => {
      this.#forget(line, entry);
      this.#leaving.delete(entry);
      setImmediate(() => entry.ended.abort());
    });
    this.#entries.set(keyOf(line), entry);
    return entry;
  }

  /** What is on its way is answered first. */
  #endIfLeft(entry: Entry): void {
    if (entry.asked > 0 || !this.#leaving.delete(entry)) return;
    destroy(entry);
  }

  #forget(line: Line, entry: Entry): void {
    if (this.#entries.get(keyOf(line)) === entry) this.#entries.delete(keyOf(line));
  }
}

async function connected(connection: Connection, { host, port }: Line): Promise<void> {
  try {
    const connecting = connection.connect(host, port);
    guard(connection.socket);
    await connecting;
  } catch (error) {
    throw kafkaErrorOf(error, `connecting to ${addressText(host, port)}`);
  }
}

/** The library throws at an answer that is none, in a listener of its socket: that would end the process. */
function guard(socket: Socket): void {
  const wrap = () => {
    const readers = socket.listeners("data");
    socket.removeAllListeners("data");
    socket.on("data", (bytes) => {
      try {
        for (const read of readers) Reflect.apply(read, socket, [bytes]);
      } catch (cause) {
        socket.destroy(new Error(`what the broker answers is not of Kafka's protocol (${reasonOf(cause)})`));
      }
    });
  };
  // Behind the listener of the library, which begins to read then.
  socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", wrap);
}

function keyOf({ host, port, purpose }: Line): string {
  return `${host}:${port} ${purpose}`;
}

/** An answer that holds errors of single partitions is one: the caller looks at each. */
async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && "response" in error && error.response !== undefined) return responseOf<T>(error);
    throw error;
  }
}

// The library types the answer in its error as anything.
function responseOf<T>(error: Error): T {
  return Reflect.get(error, "response");
}

function destroy({ connection }: Entry): void {
  void connection.close().catch(() => undefined);
  // Closing alone waits until a broker has taken all that was written.
  connection.socket?.destroy();
}

interface EntryLimits extends RequestLimits {
  readonly entry: Entry;
}

async function limited<T>({ millis, signal, entry }: EntryLimits, doing: string, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stopListening = () => {};
  let stopWaiting = () => {};
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new KafkaError("unavailable", `${doing}: ${NO_ANSWER}`)), millis);
    stopWaiting = onAbort(entry.ended.signal, () => reject(entry.broken ?? new Error("Connection closed")));
    if (signal !== undefined) {
      stopListening = onAbort(signal, () => reject(new KafkaError("unavailable", `${doing}: aborted`)));
    }
  });
  try {
    return await Promise.race([work(), ended]);
  } finally {
    clearTimeout(timer);
    stopListening();
    stopWaiting();
  }
}
