import {
  AgentError,
  type Examiner,
  FailureLog,
  type HealthReport,
  onAbort,
  type Probe,
  reasonOf,
  type Source,
  withEither,
} from "deneb/sdk";
import type { MqttClient } from "mqtt";
import type { MqttConfig } from "./config.js";
import { connectionOptions, tlsOptions } from "./connection-options.js";
import { type Message, MessageReader, type MqttContext } from "./message-reader.js";
import { mqttProbes } from "./probes.js";
import { subscribed } from "./subscription.js";

/** Milliseconds that the broker has to close a connection that was ended. */
const LONGEST_END = 2000;

export class MqttSource implements Source {
  readonly #config: MqttConfig;
  readonly #context: MqttContext;
  readonly #reader: MessageReader;
  readonly #stopping = new AbortController();
  #client: MqttClient | undefined;
  /** Aborts when the connection is closed: its messages must not be acknowledged on another one. */
  #connection = new AbortController();
  /** The current message; the client hands over one at a time. */
  #work: Promise<void> = Promise.resolve();
  readonly #failures: FailureLog;
  /** An error that the end of the connection follows. */
  #error: Error | undefined;
  #reported: HealthReport | undefined;
  #stopped: Promise<void> | undefined;

  constructor(config: MqttConfig, context: MqttContext) {
    this.#config = config;
    this.#context = context;
    this.#reader = new MessageReader(config, context);
    this.#failures = new FailureLog(context.log, "connected to the broker again");
  }

  probes(examiner: Examiner): readonly Probe[] {
    return mqttProbes(this.#config, this.#context.name, examiner);
  }

  /** Begins to connect; the client tries again until the broker is reachable. */
  async start(): Promise<void> {
    const { connect } = await import("mqtt"); // Loaded only where a source of this type is used: it is large.
    const client = connect(this.#config.url, await connectionOptions(this.#config, this.#context.name));
    this.#client = client;
    // On the packet itself: the event "connect" may come after the first message of the session.
    client.on("packetreceive", ({ cmd }) => {
      if (cmd === "connack") this.#connection = new AbortController();
    });
    client.on("connect", ({ sessionPresent }) => void this.#subscribe(client, sessionPresent));
    client.on("error", (error) => {
      this.#error = error;
      this.#disconnected(error);
    });
    client.on("close", () => {
      this.#connection.abort();
      const isSaid = this.#error !== undefined || this.#stopping.signal.aborted;
      this.#error = undefined;
      if (!isSaid) this.#disconnected(new Error("the connection was closed"));
      void this.#renew(client);
    });
    // The client sends the PUBACK, and handles the next message, when `done` is called.
    client.handleMessage = ({ topic, payload }, done) => {
      this.#work = this.#handle({ topic, payload: Buffer.from(payload) }, done);
    };
    client.connect();
  }

  stop(signal: AbortSignal): Promise<void> {
    this.#stopped ??= this.#close(signal);
    return this.#stopped;
  }

  /** Files of certificates may have been replaced; while they cannot be used, what was read before counts. */
  async #renew(client: MqttClient): Promise<void> {
    const renewed = await tlsOptions(this.#config, this.#context.name).catch(() => undefined);
    // The client takes the options of its next connection from here.
    Object.assign(client.options, renewed);
  }

  async #subscribe(client: MqttClient, sessionPresent: boolean): Promise<void> {
    const { topics, qos } = this.#config;
    const { log } = this.#context;
    const { signal } = this.#connection;
    try {
      const refused = await subscribed(client, topics, qos === 0 ? 0 : 1);
      if (refused.length > 0) log.error({ topics: refused }, "subscription refused");
      this.#failures.works({ url: this.#config.url });
      this.#report(refused.length === 0 ? undefined : `the broker refuses the topics ${refused.join(" ")}`);
      if (refused.length === topics.length) return;
      const taken = topics.filter((topic) => !refused.includes(topic));
      log.info({ url: this.#config.url, topics: taken, sessionPresent }, "subscribed");
    } catch (error) {
      // A connection that closes in the meantime is logged elsewhere, and the next one subscribes again.
      if (signal.aborted) return;
      log.error({ topics, reason: reasonOf(error) }, "subscription failed");
      this.#report(`the subscription failed: ${reasonOf(error)}`);
    }
  }

  async #handle(message: Message, done: (error?: Error) => void): Promise<void> {
    const { signal } = this.#connection;
    const isDone = await withEither([signal, this.#stopping.signal], (either) => this.#reader.read(message, either));
    if (isDone && !signal.aborted) done();
    else done(new AgentError("NOT_ACKNOWLEDGED", "the broker has to deliver the message again", { retryable: true }));
  }

  #disconnected(error: Error): void {
    const message = "no connection to the broker";
    const fields = { url: this.#config.url, retryInMilliseconds: this.#config.reconnect_interval };
    this.#failures.failed("warn", error, { message, fields });
    this.#report(`${message}: ${reasonOf(error)}`);
  }

  /** The health of the source: up without a reason. */
  #report(reason: string | undefined): void {
    if (this.#reported !== undefined && this.#reported.reason === reason) return;
    this.#reported = reason === undefined ? { state: "up" } : { state: "degraded", reason };
    this.#context.report?.(this.#reported);
  }

  /** The current message may still reach the channels and be acknowledged; those behind it stay at the broker. */
  async #close(signal: AbortSignal): Promise<void> {
    this.#stopping.abort();
    const client = this.#client;
    if (client === undefined) return;
    await workOrAbort(this.#work, signal);
    // A client that is ended while it connects would reconnect.
    client.options.reconnectPeriod = 0;
    await ended(client, AbortSignal.any([signal, AbortSignal.timeout(LONGEST_END)]));
    this.#context.log.info({}, "stopped receiving");
  }
}

/** Takes leave of the broker; one that hangs does not close the connection, which is then destroyed. */
async function ended(client: MqttClient, signal: AbortSignal): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    client.stream.once("close", resolve);
  });
  const stopListening = onAbort(signal, () => client.stream.destroy());
  await Promise.race([client.endAsync(signal.aborted || !client.connected), closed]);
  stopListening();
}

async function workOrAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stopListening = onAbort(signal, resolve);
    work.then(resolve, reject).finally(stopListening);
  });
}
