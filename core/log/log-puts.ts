import { type Amount, channelStopped, type EventQueue, type Reservation, Room } from "../sdk/channel/index.js";
import type { Event, TextCodecs, Waiting } from "../sdk/index.js";
import { AgentError, onAbort } from "../sdk/index.js";
import type { LogChannelConfig } from "./log-properties.js";
import { LoggedPut } from "./logged-put.js";
import type { OpenedLog } from "./opened-log.js";
import { type PackedEvent, packed, recordOverhead } from "./packed-record.js";
import { PartAppenders, type PartAppendersParts } from "./part-appenders.js";
import { partitionOf } from "./partition-of.js";

interface LogPutsParts extends PartAppendersParts {
  readonly config: LogChannelConfig;
  readonly channel: string;
  readonly codecs: TextCodecs;
}

/** Puts events into a log: each into the partition of its entity, those of one moment into one record. */
export class LogPuts implements Pick<EventQueue, "add" | "reserve"> {
  readonly #parts: LogPutsParts;
  readonly #room: Room;
  readonly #appenders: PartAppenders;
  /** Puts that are on their way. */
  #running = 0;
  /** Called when none is; each call of `stop` waits by itself. */
  readonly #ended: (() => void)[] = [];
  #isStopped = false;

  constructor(parts: LogPutsParts) {
    const { channel, config } = parts;
    this.#parts = parts;
    this.#room = new Room({ channel, capacity: config.capacity, waitSeconds: config["keep-alive"] }, () => this.held);
    this.#appenders = new PartAppenders(parts);
  }

  /** What waits in the log as far as this agent knows. */
  get held(): Amount {
    return this.#parts.connection.waiting();
  }

  add(events: readonly Event[]): Promise<void> {
    const lines = this.#packed(events);
    const amount = { events: events.length, bytes: 0 };
    return this.#room.tryEnter(amount) ? this.#append(lines, amount) : this.#appendLater(lines, amount);
  }

  async reserve(events: readonly Event[], waiting: Waiting): Promise<Reservation> {
    const lines = this.#packed(events);
    const amount = { events: events.length, bytes: 0 };
    if (!this.#room.tryEnter(amount)) await this.#room.enter(amount, waiting);
    return { add: () => this.#append(lines, amount), release: () => this.#room.settle(amount) };
  }

  /** Less waits than before. */
  freed(): void {
    this.#room.admitWaiting();
  }

  /** Refuses what is put and what is on its way, although the log has not answered. */
  abandon(): void {
    this.#isStopped = true;
    this.#room.close();
    this.#appenders.end();
  }

  /** Refuses what waits, then waits for what is on its way, until the signal aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#isStopped = true;
    this.#room.close();
    if (this.#running === 0) return;
    let stopListening = () => {};
    await new Promise<void>((resolve) => {
      this.#ended.push(resolve);
      stopListening = onAbort(signal, () => {
        this.#appenders.end();
        resolve();
      });
    });
    stopListening();
  }

  #packed(events: readonly Event[]): readonly PackedEvent[] {
    const { codecs } = this.#parts;
    const [first] = events;
    // Most notifications have one.
    if (events.length === 1 && first !== undefined) return [packed(first, codecs)];
    return events.map((event) => packed(event, codecs));
  }

  async #appendLater(lines: readonly PackedEvent[], amount: Amount): Promise<void> {
    await this.#room.enter(amount, "wait");
    await this.#append(lines, amount);
  }

  /** Appends what has entered. */
  #append(lines: readonly PackedEvent[], amount: Amount): Promise<void> {
    const { opened, isTold } = this.#parts.connection;
    const [first] = lines;
    if (opened === undefined || !isTold || first === undefined || lines.length > 1)
      return this.#appendSeveral(lines, amount);
    return new Promise((resolve, reject) => {
      this.#begin();
      const settle = (error?: unknown) => {
        this.#end(amount);
        if (error === undefined) resolve();
        else reject(error);
      };
      try {
        const refusal = this.#refusal(lines, opened);
        if (refusal !== undefined) throw refusal;
        this.#appenders.of(partitionOf(first.event, opened.facts.partitions), opened).add(lines, settle);
      } catch (error) {
        settle(error);
      }
    });
  }

  async #appendSeveral(lines: readonly PackedEvent[], amount: Amount): Promise<void> {
    const { connection, config } = this.#parts;
    this.#begin();
    try {
      const opened = connection.opened ?? (await connection.whenOpen(config["keep-alive"] * 1000));
      if (!connection.isTold) await connection.whenTold(config["keep-alive"] * 1000);
      const refusal = this.#refusal(lines, opened);
      if (refusal !== undefined) throw refusal;
      await this.#spread(lines, opened);
    } finally {
      this.#end(amount);
    }
  }

  /** Rejects when all of them are settled. */
  async #spread(lines: readonly PackedEvent[], opened: OpenedLog): Promise<void> {
    const byPart = new Map<number, PackedEvent[]>();
    for (const line of lines) {
      const part = partitionOf(line.event, opened.facts.partitions);
      const own = byPart.get(part);
      if (own === undefined) byPart.set(part, [line]);
      else own.push(line);
    }
    if (byPart.size === 0) return;
    let failure: { readonly error: unknown } | undefined;
    const put = new LoggedPut();
    await new Promise<void>((resolve) => {
      let left = byPart.size;
      const settled = (error?: unknown) => {
        if (error !== undefined) failure ??= { error };
        left -= 1;
        if (left === 0) resolve();
      };
      for (const [part, own] of byPart) this.#appenders.of(part, opened).add(own, settled, put);
    });
    if (failure !== undefined) throw failure.error;
  }

  #refusal(lines: readonly PackedEvent[], { settings: { largestRecord } }: OpenedLog): AgentError | undefined {
    if (this.#isStopped) return channelStopped(this.#parts.channel);
    for (const { bytes } of lines)
      if (bytes + recordOverhead > largestRecord) return this.#tooLarge(bytes, largestRecord);
    return undefined;
  }

  #begin(): void {
    this.#running += 1;
  }

  #end(amount: Amount): void {
    this.#running -= 1;
    this.#room.settle(amount);
    if (this.#running === 0) for (const ended of this.#ended.splice(0)) ended();
  }

  #tooLarge(bytes: number, largest: number): AgentError {
    const message =
      `an event of ${bytes} bytes is larger than a record of the log behind channel "${this.#parts.channel}", which has at most ` +
      `${largest} bytes; raise that limit of the log`;
    return new AgentError("NOTIFICATION_TOO_LARGE", message, { retryable: false });
  }
}
