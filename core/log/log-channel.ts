import { randomUUID } from "node:crypto";
import { channelStopped, QueuePut } from "../sdk/channel/index.js";
import {
  AgentError,
  type Channel,
  type ChannelContext,
  type ChannelPart,
  type Examiner,
  type LogSummary,
  type Probe,
  type PutTransaction,
  type Putting,
  type SharedLetters,
  type TakeTransaction,
  textCodecs,
} from "../sdk/index.js";
import type { Clocks } from "./agent-reports.js";
import { checkedLog } from "./checked-log.js";
import { LogConnection } from "./log-connection.js";
import { channelParts, logSummary } from "./log-figures.js";
import type { LogChannelConfig } from "./log-properties.js";
import { LogPuts } from "./log-puts.js";
import { LogTake } from "./log-take.js";
import type { PartitionedLog } from "./partitioned-log.js";

/** What a channel over a log is made of. @beta */
export interface LogChannelParts {
  readonly log: PartitionedLog;
  /** The kind of engine, for people: `kafka`. */
  readonly engine: string;
  readonly config: LogChannelConfig;
  readonly context: ChannelContext;
}

/** Makes a channel over the log of an engine. Several agents share it; see docs/scale-out.md. @beta */
export function logChannel(parts: LogChannelParts): Channel {
  return new LogChannel(parts);
}

class LogChannel implements Channel {
  readonly durable = true;
  readonly redelivers = true;
  readonly sizeIs = "shared";
  readonly transactionCapacity: number;
  readonly #parts: LogChannelParts;
  readonly #connection: LogConnection;
  readonly #puts: LogPuts;
  readonly #clocks: Clocks;
  #isStopped = false;

  constructor(parts: LogChannelParts) {
    const { config, context, engine } = parts;
    const log = checkedLog(parts.log, engine);
    this.#parts = { ...parts, log };
    this.#clocks = { now: () => context.now(), steady: () => performance.now() };
    this.transactionCapacity = config.transactionCapacity;
    this.#connection = new LogConnection({ log, config, context, clocks: this.#clocks });
    this.#puts = new LogPuts({
      log,
      config,
      channel: context.name,
      connection: this.#connection,
      codecs: textCodecs(context.textCodecs),
      writer: () => randomUUID(),
      now: () => context.now(),
    });
  }

  get size(): number {
    return this.#puts.held.events;
  }

  get bytes(): number {
    return this.#puts.held.bytes;
  }

  get lost(): number {
    return this.#connection.lost;
  }

  get letters(): SharedLetters | undefined {
    return this.#connection.opened?.letters;
  }

  parts(): readonly ChannelPart[] {
    const { opened } = this.#connection;
    return opened === undefined
      ? []
      : channelParts(opened, { run: this.#parts.context.run, now: this.#clocks.steady() });
  }

  log(): LogSummary | undefined {
    const { opened, health } = this.#connection;
    if (opened === undefined) return undefined;
    const { engine, context } = this.#parts;
    return logSummary(opened, { engine, failure: health.failure, run: context.run, now: this.#clocks.steady() });
  }

  openPut(events = 0, putting?: Putting): PutTransaction {
    const most = Math.max(events, this.transactionCapacity);
    return new QueuePut(this.#puts, { channel: this.#parts.context.name, most }, putting);
  }

  openTake(): TakeTransaction {
    const connection = this.#connection;
    return new LogTake({
      channel: this.#parts.context.name,
      most: this.transactionCapacity,
      take: (max, held, signal) => connection.take(max, held, signal),
      release: (taken, settled) => {
        connection.opened?.takes.release(taken, settled);
        this.#puts.freed();
      },
      left: (own) => connection.opened?.takes.getsOn(own),
      restore: (taken, ends) => connection.opened?.takes.restore(taken, ends),
      owner: () => {
        if (connection.opened === undefined) throw channelStopped(this.#parts.context.name);
        return connection.opened.owner;
      },
      isHeard: () => connection.opened?.isHeard ?? true,
    });
  }

  async skipTo(position: string): Promise<number> {
    return this.#connection.skipTo(position);
  }

  async leaveOut(ids: AsyncIterable<string>): Promise<number> {
    let count = 0;
    for await (const id of ids) if (this.#connection.leaveOut(id)) count += 1;
    return count;
  }

  probes(examiner: Examiner): readonly Probe[] {
    return this.#parts.log.probes?.(examiner) ?? [];
  }

  async start(): Promise<void> {
    if (this.#isStopped)
      throw new AgentError("CHANNEL_STOPPED", `starting channel "${this.#parts.context.name}" again after its stop`, {
        retryable: true,
      });
    await this.#connection.start();
  }

  abandonPuts(): void {
    this.#puts.abandon();
  }

  async stop(signal: AbortSignal): Promise<void> {
    this.#isStopped = true;
    const ended = this.#puts.stop(signal);
    this.#connection.told();
    await ended;
    await this.#connection.stop(signal);
  }
}
