import { AgentError, reasonOf, type Source } from "deneb/sdk";
import type { MqttClient } from "mqtt";
import type { MqttConfig } from "./config.js";
import { connectionOptions } from "./connection-options.js";
import { type IntakeContext, type Message, MessageIntake } from "./message-intake.js";

const refusedQos = 128;

export class MqttSource implements Source {
  readonly #config: MqttConfig;
  readonly #context: IntakeContext;
  readonly #intake: MessageIntake;
  readonly #stopping = new AbortController();
  #client: MqttClient | undefined;
  /** Aborts when the connection is gone: what came by it must not be acknowledged by another one. */
  #connection = new AbortController();
  /** The message in work; the client hands over one at a time. */
  #work: Promise<void> = Promise.resolve();
  /** The trouble that was last logged; the same again is not news. */
  #failing: string | undefined;
  #stopped: Promise<void> | undefined;

  constructor(config: MqttConfig, context: IntakeContext) {
    this.#config = config;
    this.#context = context;
    this.#intake = new MessageIntake(config, context);
  }

  /** Begins to connect; a broker that is away is tried again and again. */
  async start(): Promise<void> {
    const { connect } = await import("mqtt"); // Only where a source of this type is used: it is large.
    const client = connect(this.#config.url, await connectionOptions(this.#config, this.#context.name));
    this.#client = client;
    // At once: "connect" may come after the first message of the session.
    client.on("packetreceive", ({ cmd }) => {
      if (cmd === "connack") this.#connection = new AbortController();
    });
    client.on("connect", ({ sessionPresent }) => void this.#subscribe(client, sessionPresent));
    client.on("error", (error) => this.#troubled(reasonOf(error)));
    client.on("close", () => {
      this.#connection.abort();
      if (!this.#stopping.signal.aborted) this.#troubled("the connection was closed");
    });
    // Where the client waits with the PUBACK, and with all that follows, until it is called back.
    client.handleMessage = ({ topic, payload }, done) => {
      this.#work = this.#handle({ topic, payload: Buffer.from(payload) }, done);
    };
    client.connect();
  }

  stop(signal: AbortSignal): Promise<void> {
    this.#stopped ??= this.#close(signal);
    return this.#stopped;
  }

  async #subscribe(client: MqttClient, sessionPresent: boolean): Promise<void> {
    const { topics, qos } = this.#config;
    const { log } = this.#context;
    const { signal } = this.#connection;
    try {
      const grants = await client.subscribeAsync([...topics], { qos: qos === 0 ? 0 : 1 });
      const refused = grants.filter((grant) => grant.qos === refusedQos).map(({ topic }) => topic);
      if (refused.length > 0) log.error({ topics: refused }, "subscription refused");
      this.#failing = undefined;
      log.info({ url: this.#config.url, topics, sessionPresent }, "subscribed");
    } catch (error) {
      // A connection that ends meanwhile is told of elsewhere, and the next one subscribes again.
      if (!signal.aborted) log.error({ topics, reason: reasonOf(error) }, "subscription failed");
    }
  }

  async #handle(message: Message, done: (error?: Error) => void): Promise<void> {
    const { signal } = this.#connection;
    const taken = await this.#intake.take(message, AbortSignal.any([signal, this.#stopping.signal]));
    if (taken && !signal.aborted) done();
    else done(new AgentError("NOT_ACKNOWLEDGED", "the broker has to deliver the message again", { retryable: true }));
  }

  #troubled(reason: string): void {
    if (this.#failing === undefined) {
      const retryInMilliseconds = this.#config.reconnect_interval;
      this.#context.log.warn({ url: this.#config.url, reason, retryInMilliseconds }, "no connection to the broker");
    }
    this.#failing ??= reason;
  }

  /** The message in work may still get into the channels and be acknowledged; those behind it stay at the broker. */
  async #close(signal: AbortSignal): Promise<void> {
    this.#stopping.abort();
    const client = this.#client;
    if (client === undefined) return;
    await Promise.race([this.#work, aborted(signal)]);
    // Ended while it connects, the client would go on to reconnect.
    client.options.reconnectPeriod = 0;
    await client.endAsync(signal.aborted || !client.connected);
    this.#context.log.info({}, "stopped receiving");
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
