import { setTimeout as delay } from "node:timers/promises";
import type { NatsConnection, NodeConnectionOptions } from "@nats-io/transport-node";
import { type AgentError, codeOf, onAbort } from "deneb/sdk";
import { loadClient, type NatsClient } from "../client.js";
import type { JetStreamConfig } from "../config.js";
import { clientFailure, logUnavailable } from "./errors.js";
import { type Beginning, greets, refusalOf, tlsAlert } from "./greeting.js";
import { connectionOptions, optionsFor } from "./options.js";

const PAUSE_MILLIS = 100;

interface ConnectingLimits {
  /** Milliseconds. */
  readonly within: number;
  /** Aborts when nobody wants the connection any more. */
  readonly ended: AbortSignal;
}

interface Connected {
  readonly connection: NatsConnection;
  readonly client: NatsClient;
}

/**
 * Tries each server until one lets this agent in, all of them refuse it, or the time is over. One that refuses it says nothing of
 * the others, and explains more than those that are away.
 */
export async function connectedToAny(
  config: JetStreamConfig,
  component: string,
  { within, ended }: ConnectingLimits,
): Promise<Connected> {
  const end = performance.now() + within;
  const client = await loadClient();
  const options = await connectionOptions(client, config, component);
  const isOver = () => performance.now() + PAUSE_MILLIS >= end || ended.aborted;
  let refusal: AgentError | undefined;
  const answers = new LastAnswer();
  for (;;) {
    const failures: AgentError[] = [];
    for (const [index, server] of inAnyOrder(config.servers).entries()) {
      const left = Math.max(1, end - performance.now());
      const timeout = Math.ceil(left / (config.servers.length - index));
      const late = performance.now() + timeout;
      try {
        return { connection: await connected(client, { server, options, timeout, ended }), client };
      } catch (error) {
        const failure = clientFailure(`connecting to NATS at ${server}`, error);
        failures.push(answers.explaining(error, failure, performance.now() >= late));
        if (isOver()) break;
      }
    }
    refusal = failures.find(({ retryable }) => !retryable) ?? refusal;
    const failure = lastWord(failures, isOver());
    // The time may be over before this round has come to the one that refused the agent in a former one.
    if (failure !== undefined) throw refusal ?? failure;
    await delay(PAUSE_MILLIS, undefined, { signal: ended });
  }
}

/** What a server has answered last: its answer may be lost with the connection the next time. */
class LastAnswer {
  #answer: AgentError | undefined;

  /** The failure for an error, or the last answer where the error says nothing. */
  explaining(error: unknown, failure: AgentError, isLate: boolean): AgentError {
    if (isLate || isCutOff(error)) return this.#answer ?? failure;
    if (!isOfNetwork(error)) this.#answer = failure;
    return failure;
  }
}

/** In an order of chance, so that agents spread over the servers. */
function inAnyOrder(servers: readonly string[]): readonly string[] {
  return servers
    .map((server) => ({ server, rank: Math.random() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ server }) => server);
}

/** The failure that counts when no server is to be tried again. */
function lastWord(failures: readonly AgentError[], isOver: boolean): AgentError | undefined {
  const refusals = failures.filter(({ retryable }) => !retryable);
  return isOver || refusals.length === failures.length ? (refusals[0] ?? failures.at(-1)) : undefined;
}

interface Connecting {
  readonly server: string;
  readonly options: NodeConnectionOptions;
  /** Milliseconds. */
  readonly timeout: number;
  readonly ended: AbortSignal;
}

async function connected(client: NatsClient, of: Connecting): Promise<NatsConnection> {
  const { server, options, ended } = of;
  const late = new AbortController();
  const end = performance.now() + of.timeout;
  const timer = setTimeout(() => late.abort(), of.timeout);
  const stopListening = onAbort(ended, () => late.abort());
  let beginning: Beginning = "greeting";
  try {
    beginning = await greets(server, late.signal, { ...options.tls });
    const timeout = Math.max(1, Math.ceil(end - performance.now()));
    return await inTime(client.connect({ ...optionsFor(server, options, beginning), timeout }), late.signal);
  } catch (error) {
    if (late.signal.aborted) {
      const reason = ended.aborted ? "the log is closed" : "the server does not answer in time (request_timeout)";
      throw logUnavailable(`connecting to NATS at ${server}`, reason);
    }
    if (!isCutOff(error)) throw error;
    const { tls } = optionsFor(server, options, beginning);
    const alert = tls ? await tlsAlert(server, { ...tls }, beginning, late.signal) : undefined;
    if (alert !== undefined) throw alert;
    const refusal = await refusalOf(server, late.signal);
    if (refusal === undefined) throw error;
    throw logUnavailable(
      `connecting to NATS at ${server}`,
      `the server answers "${refusal}" and closes the connection`,
    );
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

function isCutOff(error: unknown): boolean {
  return codesOf(error).some((code) => code === "EPIPE" || code === "ECONNRESET");
}

/** Whether the system says it, such as ECONNREFUSED, and not a server. */
function isOfNetwork(error: unknown): boolean {
  return codesOf(error).some((code) => code !== undefined && /^E[A-Z]+$/.test(code));
}

function codesOf(error: unknown): readonly (string | undefined)[] {
  return [error, error instanceof Error ? error.cause : undefined].map(codeOf);
}

/** The client cannot be told to end its tries: a connection that it makes too late is closed. */
async function inTime(connecting: Promise<NatsConnection>, late: AbortSignal): Promise<NatsConnection> {
  return await new Promise<NatsConnection>((resolve, reject) => {
    const stopListening = onAbort(late, () => reject(late.reason));
    const closed = (connection: NatsConnection) => void connection.close().catch(() => undefined);
    connecting.then((made) => (late.aborted ? closed(made) : resolve(made)), reject).finally(stopListening);
  });
}
