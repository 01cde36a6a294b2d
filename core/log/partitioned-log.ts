import type { Examined } from "../sdk/index.js";

/**
 * A part of a log with an order of its own: the numbers from 0 hold the events, `agents` what agents tell each other, and
 * `letters` the dead letters that they share.
 * @beta
 */
export type LogPart = number | "agents" | "letters";

/** One record of a log. @beta */
export interface LogRecord {
  /** Its place in its part: a safe integer, larger than those of all records before it; there may be gaps. */
  readonly offset: number;
  readonly value: Uint8Array;
  /** True for what has an offset and is no record, as the end of a transaction of others in Kafka: it is passed over. */
  readonly mark?: true;
}

/** Where an appended record stands. @beta */
export interface Appended {
  readonly offset: number;
  /** The offset of the record before it in its part, -1 for none; undefined where the engine does not tell. */
  readonly previous: number | undefined;
}

/** What a part holds. @beta */
export interface Bounds {
  /**
   * The offset of the oldest record, or `next` when there is none. Never beyond a record that is there, also while others append:
   * what is before it in a gapless log, or in a part without records, is not read.
   */
  readonly first: number;
  /**
   * The offset of the newest record and one; of a part without records any offset that no record of it had. The next record
   * gets this offset or a larger one.
   */
  readonly next: number;
}

/** What an opened log says of itself, and what may change while it is open. @beta */
export interface LogSettings {
  /** The most bytes of one record. */
  readonly largestRecord: number;
  /** One sentence for each setting with which an acknowledged record could be lost, and its remedy; each is logged once. */
  readonly warnings: readonly string[];
}

/** What an opened log says of itself. @beta */
export interface LogFacts extends LogSettings {
  /**
   * Names this log and no other, also when one of the same name is made after it was removed, and the same for all agents; of
   * letters, digits, `.`, `_`, `-` and `/`.
   */
  readonly id: string;
  /** How many parts hold events: they have the numbers 0 to partitions - 1. */
  readonly partitions: number;
  /**
   * True where each record of a part has the offset behind that of the record before it: then an offset that is missing is a
   * record that was removed before it was stored, and is an error. Absent: offsets may jump.
   */
  readonly gapless?: boolean;
}

/** What one read returns at the most. @beta */
export interface ReadLimits {
  /** Bytes of all records together; the first record is returned whatever its size. */
  readonly bytes: number;
  /** Milliseconds after which a read that found nothing returns. */
  readonly waitMillis: number;
}

/**
 * A log in parts, kept by an engine that several agents reach. Whoever writes an adapter for an engine implements this; the
 * channel over it is `LogChannel`. Members other than `open` and `close` are called between these two, several at a
 * time: at most one `append` for each part, one `read` of parts with numbers and one of the others.
 *
 * Errors are an AgentError: `LOG_UNAVAILABLE` (retryable) when the engine cannot be reached or does not answer in time,
 * `LOG_UNANSWERED` (retryable) for a record that may be in the log and can be appended again under its name,
 * `LOG_FULL` (retryable) when it has no room, `RECORD_TOO_LARGE`, `LOG_DENIED` and `LOG_SETTINGS` (not retryable) when it will
 * not take the record, the credentials, or is set up in another way than the configuration says.
 * @beta
 */
export interface PartitionedLog extends Examined {
  /** Connects, and makes the log when it is missing and may be made. Called again after a failure, and after `close`. */
  open(signal: AbortSignal): Promise<LogFacts>;
  /**
   * What it says of itself now: somebody may have changed its settings since it was opened. Asked every few sessions; rejects as
   * `open` does. Absent: what `open` says stays.
   */
  settings?(): Promise<LogSettings>;
  /**
   * Resolves when the record is as durable as the engine promises; then every agent reads it, once, at this offset. No two
   * records have the same `name`. After `LOG_UNANSWERED` the next append to the part may be that of the same record and name: it
   * resolves to the place of the one that is there, or appends it. After an error with a property `appended` that is false, nothing of the
   * record was sent, and the next one may have its name.
   */
  append(part: LogPart, value: Uint8Array, name?: string): Promise<Appended>;
  /**
   * The next records of these parts, each from the given offset or the next one that is there, in order, as many as `limits`
   * allow. Waits until one part has any; empty when there is none in time or the signal aborts. From one read to the next the
   * given offsets jump forward and, after a takeover, back. Reads that find little are some milliseconds apart.
   */
  read(
    from: ReadonlyMap<LogPart, number>,
    limits: ReadLimits,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<LogPart, readonly LogRecord[]>>;
  /** A part that cannot be asked now may be left out, and then is not read yet; rejects when none of them can be asked. */
  bounds(parts: readonly LogPart[]): Promise<ReadonlyMap<LogPart, Bounds>>;
  /**
   * Removes the records before these offsets, where the engine can; it may keep some of them. After the signal has aborted
   * only a request that is on its way is waited for: what is left is removed later.
   */
  trim(before: ReadonlyMap<LogPart, number>, signal?: AbortSignal): Promise<void>;
  /** Ends connections and reads. Safe before `open` and twice. */
  close(signal: AbortSignal): Promise<void>;
}
