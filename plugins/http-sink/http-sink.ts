import type { Agent } from "node:http";
import { isDeepStrictEqual } from "node:util";
import {
  AgentError,
  type Batch,
  type Context,
  codeOf,
  type Event,
  type Examiner,
  FailureLog,
  type Probe,
  type Receipt,
  retryableOf,
  type Sink,
  traceHeaders,
} from "deneb/sdk";
import type { HttpSinkConfig } from "./config.js";
import { authorization, connections, readTls } from "./connections.js";
import { type CallOptions, send } from "./http-call.js";
import { type Lane, type OutboundRequest, RequestWriter } from "./outbound-requests.js";
import { httpProbes } from "./probes.js";
import { failureOf, isTemporary } from "./response-failure.js";

const MILLIS_PER_SECOND = 1000;
/** Milliseconds after which a write looks at the files of certificates again: those that expire are replaced before. */
const LOOK_MILLIS = 10_000;

export class HttpSink implements Sink {
  readonly #config: HttpSinkConfig;
  readonly #context: Context;
  readonly #writer: RequestWriter;
  readonly #sent: WeakSet<Event>;
  #agent: Agent | undefined;
  /** What the files of certificates held. */
  #tls: Awaited<ReturnType<typeof readTls>>;
  #isUnreachable = false;
  readonly #lookMillis: number;
  #lookedAt = 0;
  readonly #unusable: FailureLog;

  constructor(config: HttpSinkConfig, context: Context, lookMillis: number = LOOK_MILLIS) {
    this.#config = config;
    this.#context = context;
    this.#lookMillis = lookMillis;
    this.#unusable = new FailureLog(context.log, "the files of certificates can be used again");
    this.#writer = new RequestWriter(config);
    this.#sent = sentOf(context);
  }

  probes(examiner: Examiner): readonly Probe[] {
    return httpProbes(this.#config, this.#context.name, examiner);
  }

  async start(): Promise<void> {
    this.#tls = await readTls(this.#config, this.#context.name);
    this.#agent = connections(this.#config, this.#tls);
    this.#lookedAt = performance.now();
  }

  async stop(): Promise<void> {
    this.#agent?.destroy();
  }

  async persist({ events, traceparent }: Batch, signal: AbortSignal): Promise<Receipt> {
    await this.#renew();
    const agent = this.#agent;
    if (agent === undefined)
      throw new AgentError("NOT_STARTED", "sending events before the start of the sink", { retryable: true });
    const lanes = [...this.#writer.lanes(events.filter((event) => !this.#sent.has(event)))];
    const failures: unknown[] = [];
    const receipts: Receipt[] = [];
    const isHalted = () => failures.some((failure) => retryableOf(failure) !== false);
    const progress = { receipts, isHalted };
    const work = async () => {
      for (let lane = lanes.shift(); lane !== undefined && !isHalted(); lane = lanes.shift()) {
        try {
          await this.#sendAll(lane, (request) => this.#send(request, traceparent, { agent, signal }), progress);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: this.#config.max_connections }, work));
    this.#isUnreachable = failures.some((failure) => codeOf(failure) === "HTTP_UNREACHABLE");
    if (failures.length > 0) throw failures.find((failure) => retryableOf(failure) === false) ?? failures[0];
    return total(receipts);
  }

  /** Where one connection failed the others may be dead, too; and files of certificates may have been replaced. */
  async #renew(): Promise<void> {
    if (this.#agent === undefined) return;
    const isDue = performance.now() - this.#lookedAt >= this.#lookMillis;
    const isReplaced = (this.#isUnreachable || isDue) && (await this.#look());
    if (!this.#isUnreachable && !isReplaced) return;
    this.#agent.destroy();
    this.#agent = connections(this.#config, this.#tls);
  }

  /** Whether the files of certificates hold something else than before; while they cannot be used, what was read before counts. */
  async #look(): Promise<boolean> {
    this.#lookedAt = performance.now();
    try {
      const tls = await readTls(this.#config, this.#context.name);
      this.#unusable.works();
      const isReplaced = !isDeepStrictEqual(tls, this.#tls);
      this.#tls = tls;
      return isReplaced;
    } catch (error) {
      this.#unusable.failed("warn", error, { message: "the files of certificates that were read before stay in use" });
      return false;
    }
  }

  /** Of a batch that failed as a whole, the events whose requests succeeded. */
  readonly positions = {
    alreadyStored: async ({ events }: Batch): Promise<readonly Event[]> =>
      events.filter((event) => this.#sent.has(event)),
  };

  /** A server that says "later" may say so at random. Of any other failure the sink cannot tell whether an event is its cause. */
  async answers(error: unknown): Promise<boolean | undefined> {
    return isTemporary(error) ? false : undefined;
  }

  /** A request that fails ends its lane, so that no event overtakes an earlier one of its entity. */
  async #sendAll(lane: Lane, send: (request: OutboundRequest) => Promise<Receipt>, { receipts, isHalted }: Progress) {
    for (const request of lane) {
      if (isHalted()) return;
      receipts.push(await send(request));
      for (const event of request.events) this.#sent.add(event);
    }
  }

  async #send(request: OutboundRequest, traceparent: string | undefined, by: SentBy): Promise<Receipt> {
    const { method, request_timeout: timeout, content_type } = this.#config;
    const url = new URL(request.url);
    const body = Buffer.from(request.body);
    const own = { "Content-Type": content_type, "Content-Length": body.length, ...authorization(this.#config) };
    const headers = { ...traceContext(request.events, traceparent), ...request.headers, ...own };
    const response = await send({ url, method, headers, body }, { ...by, timeout });
    const { length } = request.events;
    const what = `sending ${length === 1 ? "1 event" : `${length} events`} to "${url.origin}${url.pathname}"`;
    const longestWait = this.#config.max_retry_after * MILLIS_PER_SECOND;
    const failure = failureOf(response, what, { now: this.#context.now().getTime(), longestWait });
    if (failure !== undefined) throw failure;
    return { requestBytes: body.length, responseBytes: response.bytes };
  }
}

/**
 * Events that were sent by a write that failed as a whole: the next attempt leaves them out. By context, because a sink
 * that replaces one whose write took too long has the same context.
 */
const sentByContext = new WeakMap<Context, WeakSet<Event>>();

function sentOf(context: Context): WeakSet<Event> {
  const sent = sentByContext.get(context) ?? new WeakSet<Event>();
  sentByContext.set(context, sent);
  return sent;
}

type SentBy = Pick<CallOptions, "agent" | "signal">;

interface Progress {
  readonly receipts: Receipt[];
  /** Whether a request failed retryably, so that nothing more is to be sent. */
  readonly isHalted: () => boolean;
}

function total(receipts: readonly Receipt[]): Receipt {
  return {
    requestBytes: receipts.reduce((sum, { requestBytes }) => sum + requestBytes, 0),
    responseBytes: receipts.reduce((sum, { responseBytes }) => sum + responseBytes, 0),
  };
}

type Fields = Readonly<Record<string, string>>;

/** The trace that a request belongs to: that of its events if they have one, else that of the batch; none while tracing is off. */
function traceContext(events: readonly Event[], batch: string | undefined): Fields {
  const [first] = events;
  const parent = first?.headers[traceHeaders.parent];
  const isShared = isSendable(parent) && events.every(({ headers }) => headers[traceHeaders.parent] === parent);
  if (!isShared) return batch === undefined ? {} : { [traceHeaders.parent]: batch };
  const state = first?.headers[traceHeaders.state];
  return { [traceHeaders.parent]: parent, ...(isSendable(state) ? { [traceHeaders.state]: state } : {}) };
}

/** A source of others may have written anything: a header that HTTP does not allow would hold back its event without limit. */
function isSendable(text: string | undefined): text is string {
  return text !== undefined && SENDABLE.test(text);
}

const SENDABLE = /^[\x20-\x7e]{1,512}$/;
