import type { Agent } from "node:http";
import { AgentError, type Batch, type Context, type Event, type Receipt, retryableOf, type Sink } from "deneb/sdk";
import type { HttpSinkConfig } from "./config.js";
import { connections } from "./connections.js";
import { exchange } from "./exchange.js";
import { failureOf } from "./judgement.js";
import { type Lane, type Letter, Writer } from "./letters.js";

const MILLIS_PER_SECOND = 1000;

export class HttpSink implements Sink {
  readonly #config: HttpSinkConfig;
  readonly #context: Context;
  readonly #writer: Writer;
  readonly #sent: WeakSet<Event>;
  #agent: Agent | undefined;

  constructor(config: HttpSinkConfig, context: Context) {
    this.#config = config;
    this.#context = context;
    this.#writer = new Writer(config);
    this.#sent = sentOf(context);
  }

  async start(): Promise<void> {
    this.#agent = await connections(this.#config, this.#context.name);
  }

  async stop(): Promise<void> {
    this.#agent?.destroy();
  }

  async persist({ events }: Batch, signal: AbortSignal): Promise<Receipt> {
    const agent = this.#agent;
    if (agent === undefined)
      throw new AgentError("NOT_STARTED", "sending events before the start of the sink", { retryable: true });
    const lanes = [...this.#writer.lanes(events.filter((event) => !this.#sent.has(event)))];
    const failures: unknown[] = [];
    const receipts: Receipt[] = [];
    const isHalted = () => failures.some((failure) => retryableOf(failure) !== false);
    const work = async () => {
      for (let lane = lanes.shift(); lane !== undefined && !isHalted(); lane = lanes.shift()) {
        try {
          await this.#sendAll(lane, (letter) => this.#send(letter, agent, signal), { receipts, isHalted });
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: this.#config.max_connections }, work));
    if (failures.length > 0) throw failures.find((failure) => retryableOf(failure) === false) ?? failures[0];
    return total(receipts);
  }

  /** A letter that fails ends its lane, so that no event overtakes an earlier one of its entity. */
  async #sendAll(lane: Lane, send: (letter: Letter) => Promise<Receipt>, { receipts, isHalted }: Progress) {
    for (const letter of lane) {
      if (isHalted()) return;
      receipts.push(await send(letter));
      for (const event of letter.events) this.#sent.add(event);
    }
  }

  async #send(letter: Letter, agent: Agent, signal: AbortSignal): Promise<Receipt> {
    const { method, request_timeout: timeout, content_type } = this.#config;
    const url = new URL(letter.url);
    const body = Buffer.from(letter.body);
    const own = { "Content-Type": content_type, "Content-Length": body.length, ...authorization(this.#config) };
    const headers = { ...letter.headers, ...own };
    const answer = await exchange({ url, method, headers, body }, { agent, timeout, signal });
    const what = `sending ${letter.events.length} events to "${url.origin}${url.pathname}"`;
    const longestWait = this.#config.max_retry_after * MILLIS_PER_SECOND;
    const failure = failureOf(answer, what, { now: this.#context.now().getTime(), longestWait });
    if (failure !== undefined) throw failure;
    return { requestBytes: body.length, responseBytes: answer.bytes };
  }
}

/**
 * Events that went out with a batch that failed as a whole: the next try leaves them out. By the context, because that is
 * the same for the sink that takes the place of one whose write took too long.
 */
const sentByContext = new WeakMap<Context, WeakSet<Event>>();

function sentOf(context: Context): WeakSet<Event> {
  const sent = sentByContext.get(context) ?? new WeakSet<Event>();
  sentByContext.set(context, sent);
  return sent;
}

interface Progress {
  readonly receipts: Receipt[];
  /** Whether the other side is away, so that nothing more is to be sent. */
  readonly isHalted: () => boolean;
}

function authorization({ bearer_token, username, password }: HttpSinkConfig): Readonly<Record<string, string>> {
  if (bearer_token !== "") return { Authorization: `Bearer ${bearer_token}` };
  if (username === "") return {};
  return { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

function total(receipts: readonly Receipt[]): Receipt {
  return {
    requestBytes: receipts.reduce((sum, { requestBytes }) => sum + requestBytes, 0),
    responseBytes: receipts.reduce((sum, { responseBytes }) => sum + responseBytes, 0),
  };
}
