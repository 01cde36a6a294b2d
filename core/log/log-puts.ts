import { type Amount, channelStopped, type EventQueue, type Reservation, Room } from "../sdk/channel/index.js";
import type { Event, TextCodecs, Waiting } from "../sdk/index.js";
import { AgentError } from "../sdk/index.js";
import type { LogConnection } from "./log-connection.js";
import type { LogChannelConfig } from "./log-properties.js";
import type { OpenedLog } from "./opened-log.js";
import { type PackedEvent, packed, packedRecord, recordOverhead, unpackedEvent } from "./packed-record.js";
import { PartAppender } from "./part-appender.js";
import { partitionOf } from "./partition-of.js";
import type { Appended, PartitionedLog } from "./partitioned-log.js";

export interface LogPutsParts {
  readonly log: Pick<PartitionedLog, "append">;
  readonly config: LogChannelConfig;
  readonly channel: string;
  readonly connection: LogConnection;
  readonly codecs: TextCodecs;
  /** A name that no other writer of the log has. */
  writer(): string;
  now(): Date;
}

interface Writer {
  name: string;
  events: number;
}

/** Puts events into a log: each into the partition of its entity, those of one moment into one record. */
export class LogPuts implements Pick<EventQueue, "add" | "reserve"> {
  readonly #parts: LogPutsParts;
  readonly #room: Room;
  readonly #appenders = new Map<number, PartAppender>();
  readonly #writers = new Map<number, Writer>();
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(parts: LogPutsParts) {
    const { channel, config } = parts;
    this.#parts = parts;
    this.#room = new Room({ channel, capacity: config.capacity, waitSeconds: config["keep-alive"] }, () => this.held);
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

  /** Refuses what waits, then waits for what is on its way. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#isStopped = true;
    this.#room.close();
    if (!signal.aborted) await Promise.allSettled(this.#running);
  }

  #packed(events: readonly Event[]): readonly PackedEvent[] {
    return events.map((event) => packed(event, this.#parts.codecs));
  }

  async #appendLater(lines: readonly PackedEvent[], amount: Amount): Promise<void> {
    await this.#room.enter(amount, "wait");
    await this.#append(lines, amount);
  }

  /** Appends what has entered. */
  #append(lines: readonly PackedEvent[], amount: Amount): Promise<void> {
    const running = this.#begun(lines);
    this.#running.add(running);
    const ended = () => {
      this.#running.delete(running);
      this.#room.settle(amount);
    };
    return running.then(ended, (error: unknown) => {
      ended();
      throw error;
    });
  }

  async #begun(lines: readonly PackedEvent[]): Promise<void> {
    const { connection, config, channel } = this.#parts;
    const opened = connection.opened ?? (await connection.whenOpen(config["keep-alive"] * 1000));
    if (this.#isStopped) throw channelStopped(channel);
    const { partitions, largestRecord } = opened.facts;
    for (const { bytes } of lines)
      if (bytes + recordOverhead > largestRecord) throw this.#tooLarge(bytes, largestRecord);
    const [first] = lines;
    if (first !== undefined && lines.length === 1)
      return await this.#appender(partitionOf(first.event, partitions), opened).add(lines);
    const byPart = new Map<number, PackedEvent[]>();
    for (const line of lines) {
      const part = partitionOf(line.event, partitions);
      const own = byPart.get(part);
      if (own === undefined) byPart.set(part, [line]);
      else own.push(line);
    }
    const outcomes = await Promise.allSettled([...byPart].map(([part, own]) => this.#appender(part, opened).add(own)));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  #appender(part: number, opened: OpenedLog): PartAppender {
    const known = this.#appenders.get(part);
    if (known !== undefined) return known;
    const recordBytes = Math.min(this.#parts.config.record_bytes, opened.facts.largestRecord - recordOverhead);
    const append = (events: readonly PackedEvent[]) => this.#appendRecord(part, events);
    const appender = new PartAppender({ recordBytes, append });
    this.#appenders.set(part, appender);
    return appender;
  }

  async #appendRecord(part: number, events: readonly PackedEvent[]): Promise<Appended> {
    const { log, connection, now, writer } = this.#parts;
    const known = this.#writers.get(part) ?? { name: writer(), events: 0 };
    this.#writers.set(part, known);
    const head = { at: now().getTime(), writer: known.name, before: known.events };
    const value = packedRecord(events, head);
    try {
      const appended = await log.append(part, value);
      known.events += events.length;
      if (connection.opened?.own.all.has(part) === false) connection.opened.appended(events.length);
      const record = { ...head, offset: appended.offset, bytes: value.byteLength };
      connection.opened?.echo(part, appended, () => ({
        ...record,
        events: events.map(({ event }) => unpackedEvent(event)),
      }));
      connection.outcome("append");
      return appended;
    } catch (error) {
      // Whether it is there is not known: what comes next must not look like a repetition of it.
      this.#writers.delete(part);
      connection.outcome("append", error);
      throw error;
    }
  }

  #tooLarge(bytes: number, largest: number): AgentError {
    const message =
      `an event of ${bytes} bytes is larger than a record of the log behind channel "${this.#parts.channel}", which has at most ` +
      `${largest} bytes; raise that limit of the log`;
    return new AgentError("NOTIFICATION_TOO_LARGE", message, { retryable: false });
  }
}
