import { AgentError, codeOf, reasonOf, retryableOf } from "../sdk/index.js";
import type { LogConnection } from "./log-connection.js";
import { isOfRecord } from "./log-health.js";
import type { LogChannelConfig } from "./log-properties.js";
import type { OpenedLog } from "./opened-log.js";
import { type PackedEvent, packedRecord, recordOverhead, unpackedEvent } from "./packed-record.js";
import { PartAppender, type Repeating } from "./part-appender.js";
import type { PartitionedLog } from "./partitioned-log.js";
import { PutDelay } from "./put-delay.js";
import { RepeatedAppend } from "./repeated-append.js";

export interface PartAppendersParts {
  readonly log: Pick<PartitionedLog, "append">;
  readonly config: Pick<LogChannelConfig, "outcome_timeout" | "record_bytes">;
  readonly connection: LogConnection;
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

/** What appends to each part of a log: its records name their writer and the record before, so that one that is missing is noticed. */
export class PartAppenders {
  readonly #parts: PartAppendersParts;
  readonly #appenders = new Map<number, PartAppender>();
  readonly #writers = new Map<number, Writer>();
  readonly #appending: RepeatedAppend;
  readonly #delay = new PutDelay();

  constructor(parts: PartAppendersParts) {
    this.#parts = parts;
    this.#appending = new RepeatedAppend({
      log: parts.log,
      millis: parts.config.outcome_timeout * 1000,
      failed: (error, part) => parts.connection.health.outcome("append", error, part),
    });
  }

  /** The same one each time. */
  of(part: number, opened: OpenedLog): PartAppender {
    const known = this.#appenders.get(part);
    if (known !== undefined) return known;
    const recordBytes = Math.min(this.#parts.config.record_bytes, opened.settings.largestRecord - recordOverhead);
    const append = (events: readonly PackedEvent[], repeating: Repeating) =>
      this.#appendRecord(part, events, repeating);
    const appender = new PartAppender({ recordBytes, delay: this.#delay, append });
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
    let isDoubtful = false;
    const again: Repeating["again"] = (error, mayBeThere) => {
      isDoubtful ||= mayBeThere;
      repeating.again(error, mayBeThere);
    };
    try {
      const record = { part, value, name: `${known.name}.${known.events}` };
      const appended = await this.#appending.append(record, { ...repeating, again });
      if (appended.offset < length) throw shorter(part, length, connection.opened?.places.isStoredKnown);
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
      connection.health.outcome("append", undefined, part);
    } catch (error) {
      // Where it may be there what comes next must not look like a repetition of it. Otherwise the next record tells what was before it.
      if (isDoubtful || !isNotAppended(error)) this.#writers.delete(part);
      connection.health.outcome("append", error, part);
      throw ofPut(error);
    }
  }

  /** Refuses what is on its way, although the log has not answered. */
  end(): void {
    this.#appending.end();
  }
}

/** Whether the adapter says that nothing of a record was sent. */
function isNotAppended(error: unknown): boolean {
  return error instanceof Error && "appended" in error && error.appended === false;
}

/** So long the part was before, as far as this agent knows. */
function lengthOf(opened: OpenedLog | undefined, part: number): number {
  return opened === undefined ? 0 : Math.max(opened.appends.newest(part) + 1, opened.places.lengthOf(part));
}

/** Nobody would store what stands there. The offset is not named: each refusal would be another cause to log. */
function shorter(part: number, length: number, isStoredKnown = false): AgentError {
  const lost = `the log puts records where it had others, and had records up to ${length - 1} before: it has lost records that it had acknowledged`;
  const remedy = isStoredKnown
    ? "what is put is refused until it is as long again; to end that earlier, stop all agents and start them with a log of another name"
    : "what is put is refused until the sinks of this agent have told what is stored, or until it is as long again";
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
