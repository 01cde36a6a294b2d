import { Socket } from "node:net";
import {
  AgentError,
  type Examiner,
  FailureLog,
  type HealthReport,
  onAbort,
  type Probe,
  pause,
  reasonOf,
  type Source,
  withEither,
} from "deneb/sdk";
import type { MqttClient } from "mqtt";
import type { MqttConfig } from "./config.js";
import { connectionOptions, ended, tlsOptions, workOrAbort } from "./connection.js";
import { ClosedByBroker, explained, isByBroker } from "./connection-failure.js";
import { type Message, MessageReader, type MqttContext } from "./message-reader.js";
import { mqttProbes } from "./probes.js";
import { ShortConnections } from "./short-connections.js";
import { subscribed } from "./subscription.js";

/** Milliseconds that the broker has to close a connection that was ended. */
const LONGEST_END = 2000;
/** Milliseconds after which another client of the same name would have taken the connection over, besides its pause. */
const STEADY_MILLIS = 5000;

export class MqttSource implements Source {
  readonly #config: MqttConfig;
  readonly #context: MqttContext;
  readonly #reader: MessageReader;
  readonly #stopping = new AbortController();
  #client: MqttClient | undefined;
  /** Aborted while there is no connection: the messages of one must not be acknowledged on another. */
  #connection = new AbortController();
  /** The current message; the client hands over one at a time. */
  #work: Promise<void> = Promise.resolve();
  #isWorking = false;
  /** Whether the broker promised to keep what comes while there is no connection. */
  #hasSession = false;
  /** Messages that have come. */
  #messages = 0;
  readonly #failures: FailureLog;
  readonly #unusable: FailureLog;
  readonly #shortOnes: ShortConnections;
  /** Reports what the broker answered to the subscription of this connection. */
  #reportAnswer = () => {};
  /** An error that the end of the connection follows. */
  #error: Error | undefined;
  #reported: HealthReport | undefined;
  #stopped: Promise<void> | undefined;

  constructor(
    config: MqttConfig,
    context: MqttContext,
    steadyMillis: number = 2 * config.reconnect_interval + STEADY_MILLIS,
  ) {
    this.#config = config;
    this.#context = context;
    this.#reader = new MessageReader(config, context);
    this.#failures = new FailureLog(context.log, "connected to the broker again");
    this.#unusable = new FailureLog(context.log, "the files of certificates can be used again");
    this.#shortOnes = new ShortConnections(steadyMillis);
    this.#connection.abort();
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
    client.on("packetreceive", (packet) => {
      if (packet.cmd === "connack" && packet.returnCode === 0) this.#opened();
    });
    client.on("connect", ({ sessionPresent }) => void this.#subscribe(client, sessionPresent));
    client.on("error", (error) => {
      this.#error = error;
      this.#disconnected(error);
      // Behind a packet that is none the client would read on somewhere, and the broker waits for answers to what it lost.
      client.stream.destroy();
    });
    client.on("close", () => {
      const isSaid = this.#error !== undefined || this.#stopping.signal.aborted;
      if (!isSaid) this.#disconnected(new ClosedByBroker());
      this.#error = undefined;
      this.#connection.abort();
      void this.#renew(client);
    });
    this.#keepWhileReading(client);
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
    try {
      // The client takes the options of its next connection from here.
      Object.assign(client.options, await tlsOptions(this.#config, this.#context.name));
      this.#unusable.works();
    } catch (error) {
      this.#unusable.failed("warn", error, { message: "the files of certificates that were read before stay in use" });
    }
  }

  /**
   * The answer to a ping comes behind the messages that were sent before it: one that a channel holds up or that takes long to
   * arrive, or many of them, must not look like a broker that does not answer.
   */
  #keepWhileReading(client: MqttClient): void {
    const end = client.onKeepaliveTimeout.bind(client);
    const ping = client.sendPing.bind(client);
    let isQuiet = () => true;
    client.sendPing = () => {
      isQuiet = this.#quiet(client);
      ping();
    };
    client.onKeepaliveTimeout = () => {
      if (isQuiet()) return end();
      client.sendPing();
      client.reschedulePing(true);
    };
  }

  /** Tells whether anything came since it was asked before. */
  #quiet(client: MqttClient): () => boolean {
    const progress = () => {
      const bytes = client.stream instanceof Socket ? client.stream.bytesRead : 0;
      return `${this.#messages} ${bytes}`;
    };
    let seen = progress();
    return () => {
      const before = seen;
      seen = progress();
      return !this.#isWorking && seen === before;
    };
  }

  #opened(): void {
    this.#connection = new AbortController();
    this.#reportAnswer = () => {};
    if (!this.#stopping.signal.aborted) this.#shortOnes.begin(() => this.#reportAnswer());
  }

  /** A broker that refuses a topic may allow it later, and does not say so. */
  async #subscribe(client: MqttClient, sessionPresent: boolean): Promise<void> {
    this.#warnOfSession(sessionPresent);
    await withEither([this.#connection.signal, this.#stopping.signal], async (either) => {
      let { topics } = this.#config;
      while (topics.length > 0 && !either.aborted) {
        topics = await this.#subscribeTo(topics, client, sessionPresent);
        if (topics.length > 0) await pause(this.#config.reconnect_interval, either);
      }
    });
  }

  /** The topics that the broker refuses. */
  async #subscribeTo(
    topics: readonly string[],
    client: MqttClient,
    sessionPresent: boolean,
  ): Promise<readonly string[]> {
    const { log } = this.#context;
    const { signal } = this.#connection;
    const endWaiting = this.#waitForAnswer(client);
    try {
      const { refused, lowered } = await subscribed(client, topics, this.#config.qos === 0 ? 0 : 1);
      const isNews = topics === this.#config.topics || refused.length < topics.length;
      if (refused.length > 0 && isNews) log.error({ topics: refused }, "subscription refused");
      if (lowered.length > 0)
        log.warn(
          { topics: lowered },
          "the broker gives QoS 0 only: messages may be lost, and are when the agent is away",
        );
      this.#reportAnswer = () => {
        this.#failures.works({ url: this.#config.url });
        this.#report(refused.length === 0 ? undefined : `the broker refuses the topics ${refused.join(" ")}`);
      };
      // While the broker goes on ending connections, this one is no news.
      if (this.#shortOnes.areSeveral) return refused;
      this.#reportAnswer();
      const taken = topics.filter((topic) => !refused.includes(topic));
      if (taken.length > 0) log.info({ url: this.#config.url, topics: taken, sessionPresent }, "subscribed");
      return refused;
    } catch (error) {
      // A connection that closes in the meantime is logged elsewhere, and the next one subscribes again.
      if (signal.aborted) return [];
      this.#failures.failed("error", error, { message: "subscription failed", fields: { topics } });
      this.#report(`the subscription failed: ${reasonOf(error)}`);
      return [];
    } finally {
      endWaiting();
    }
  }

  /** What comes before a subscription of a new session is not for this client. */
  #warnOfSession(sessionPresent: boolean): void {
    const isLost = this.#hasSession && !sessionPresent;
    this.#hasSession = !this.#config.clean_session;
    if (!isLost) return;
    const message = "the broker did not keep the session: messages that came meanwhile are lost";
    this.#context.log.warn({ url: this.#config.url }, message);
  }

  /**
   * Closes a connection whose subscription is not answered in time. Messages of the session may come before the answer, and are
   * waited for, also where a channel holds one of them up, or where one takes long to arrive. Returns what ends it.
   */
  #waitForAnswer(client: MqttClient): () => void {
    const { connect_timeout: millis } = this.#config;
    const { signal } = this.#connection;
    const isQuiet = this.#quiet(client);
    const timer = setInterval(() => {
      if (!isQuiet()) return;
      this.#error = new Error(`the broker did not answer the subscription within ${millis} ms`);
      this.#disconnected(this.#error);
      client.stream.destroy();
    }, millis);
    const end = () => clearInterval(timer);
    const stopListening = onAbort(signal, end);
    return () => {
      stopListening();
      end();
    };
  }

  async #handle(message: Message, done: (error?: Error) => void): Promise<void> {
    const { signal } = this.#connection;
    this.#isWorking = true;
    this.#messages += 1;
    const isDone = await withEither([signal, this.#stopping.signal], (either) => this.#reader.read(message, either));
    this.#isWorking = false;
    if (isDone && !signal.aborted) done();
    else done(new AgentError("NOT_ACKNOWLEDGED", "the broker has to deliver the message again", { retryable: true }));
  }

  #disconnected(error: Error): void {
    const message = "no connection to the broker";
    const fields = { url: this.#config.url, retryInMilliseconds: this.#config.reconnect_interval };
    const isOpen = !this.#connection.signal.aborted;
    this.#shortOnes.end(isOpen && isByBroker(error));
    const isRepeated = this.#shortOnes.areSeveral;
    const failure = explained(error, { isOpen, isRepeated, clientId: this.#client?.options.clientId });
    this.#failures.failed("warn", failure, { message, fields });
    this.#report(`${message}: ${reasonOf(failure)}`);
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
    this.#shortOnes.end();
    const client = this.#client;
    if (client === undefined) return;
    await workOrAbort(this.#work, signal);
    // A client that is ended while it connects would reconnect.
    client.options.reconnectPeriod = 0;
    await ended(client, AbortSignal.any([signal, AbortSignal.timeout(LONGEST_END)]));
    this.#context.log.info({}, "stopped receiving");
  }
}
