import { type Amount, channelStopped, type EventQueue, type Reservation, Room } from "../sdk/channel/index.js";
import type { Event, TextCodecs, Waiting } from "../sdk/index.js";
import { AgentError, codeOf, onAbort, reasonOf, retryableOf } from "../sdk/index.js";
import type { LogConnection } from "./log-connection.js";
import { isOfRecord } from "./log-health.js";
import type { LogChannelConfig } from "./log-properties.js";
import { LoggedPut } from "./logged-put.js";
import type { OpenedLog } from "./opened-log.js";
import { type PackedEvent, packed, packedRecord, recordOverhead, unpackedEvent } from "./packed-record.js";
import { PartAppender, type Repeating } from "./part-appender.js";
import { partitionOf } from "./partition-of.js";
import type { PartitionedLog } from "./partitioned-log.js";
import { RepeatedAppend } from "./repeated-append.js";

interface LogPutsParts {
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
  readonly name: string;
  /** How many it has appended. */
  events: number;
  /** The offset of its last record. */
  last: number | undefined;
}

/** Puts events into a log: each into the partition of its entity, those of one moment into one record. */
export class LogPuts implements Pick<EventQueue, "add" | "reserve"> {
  readonly #parts: LogPutsParts;
  readonly #room: Room;
  readonly #appenders = new Map<number, PartAppender>();
  readonly #writers = new Map<number, Writer>();
  /** Puts that are on their way. */
  #running = 0;
  /** Called when none is; each call of `stop` waits by itself. */
  readonly #ended: (() => void)[] = [];
  #isStopped = false;
  readonly #appending: RepeatedAppend;

  constructor(parts: LogPutsParts) {
    const { channel, config } = parts;
    this.#parts = parts;
    this.#room = new Room({ channel, capacity: config.capacity, waitSeconds: config["keep-alive"] }, () => this.held);
    this.#appending = new RepeatedAppend({
      log: parts.log,
      millis: config.outcome_timeout * 1000,
      failed: (error) => parts.connection.health.outcome("append", error),
    });
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
    this.#appending.end();
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
        this.#appending.end();
        resolve();
      });
    });
    stopListening();
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
    const { opened } = this.#parts.connection;
    const [first] = lines;
    if (opened === undefined || first === undefined || lines.length > 1) return this.#appendSeveral(lines, amount);
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
        this.#appender(partitionOf(first.event, opened.facts.partitions), opened).add(lines, settle);
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
      for (const [part, own] of byPart) this.#appender(part, opened).add(own, settled, put);
    });
    if (failure !== undefined) throw failure.error;
  }

  #refusal(lines: readonly PackedEvent[], { facts: { largestRecord } }: OpenedLog): AgentError | undefined {
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

  #appender(part: number, opened: OpenedLog): PartAppender {
    const known = this.#appenders.get(part);
    if (known !== undefined) return known;
    const recordBytes = Math.min(this.#parts.config.record_bytes, opened.facts.largestRecord - recordOverhead);
    const append = (events: readonly PackedEvent[], repeating: Repeating) =>
      this.#appendRecord(part, events, repeating);
    const appender = new PartAppender({ recordBytes, append });
    this.#appenders.set(part, appender);
    return appender;
  }

  async #appendRecord(part: number, events: readonly PackedEvent[], repeating: Repeating): Promise<void> {
    const { connection, now, writer } = this.#parts;
    let known = this.#writers.get(part);
    if (known === undefined) {
      known = { name: writer(), events: 0, last: undefined };
      this.#writers.set(part, known);
    }
    const head = { at: now().getTime(), writer: known.name, before: known.events, follows: known.last };
    const value = packedRecord(events, head);
    const length = lengthOf(connection.opened, part);
    try {
      const record = { part, value, name: `${known.name}.${known.events}` };
      const appended = await this.#appending.append(record, repeating);
      if (appended.offset < length) throw shorter(part, appended.offset, length);
      known.events += events.length;
      known.last = appended.offset;
      const { opened } = connection;
      if (opened?.own.all.has(part) === false) opened.appends.elsewhere(events.length);
      const read = () => ({
        at: head.at,
        writer: head.writer,
        before: head.before,
        follows: head.follows,
        offset: appended.offset,
        bytes: value.byteLength,
        events: events.map(({ event }) => unpackedEvent(event)),
      });
      opened?.appends.echo(part, appended, { value, record: read });
      connection.health.outcome("append");
    } catch (error) {
      // Whether it is there is not known: what comes next must not look like a repetition of it.
      this.#writers.delete(part);
      connection.health.outcome("append", error);
      throw ofPut(error);
    }
  }

  #tooLarge(bytes: number, largest: number): AgentError {
    const message =
      `an event of ${bytes} bytes is larger than a record of the log behind channel "${this.#parts.channel}", which has at most ` +
      `${largest} bytes; raise that limit of the log`;
    return new AgentError("NOTIFICATION_TOO_LARGE", message, { retryable: false });
  }
}

/** So long the part was before, as far as this agent knows. */
function lengthOf(opened: OpenedLog | undefined, part: number): number {
  return opened === undefined ? 0 : Math.max(opened.appends.newest(part) + 1, opened.places.lengthOf(part));
}

/** Nobody would store what stands there. */
function shorter(part: number, offset: number, length: number): AgentError {
  const lost = `the log put a record at ${offset} and had records up to ${length - 1} before: it has lost records that it had acknowledged`;
  const remedy =
    "what is put is refused until it is as long again; to end that earlier, stop all agents and start them with a log of another name";
  return new AgentError("LOG_UNAVAILABLE", `appending to partition ${part}: ${lost}; ${remedy}`, { retryable: true });
}

/**
 * What is wrong with a log that was open before passes when somebody has mended it: credentials that have expired, files of
 * certificates that are being replaced. What is put meanwhile is not to blame, and comes again, unless it never fits.
 */
function ofPut(error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined || retryableOf(error) !== false) return error;
  if (isOfRecord(error))
    return new AgentError("NOTIFICATION_TOO_LARGE", reasonOf(error), { retryable: false, cause: error });
  return new AgentError(code, reasonOf(error), { retryable: true, cause: error });
}
