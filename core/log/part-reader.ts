import { codeOf, type Logger, onAbort, pause, reasonOf, type TextCodecs } from "../sdk/index.js";
import { NewerRecords } from "./newer-records.js";
import type { OwnPart } from "./own-parts.js";
import { OwnRecords } from "./own-records.js";
import { unpackedRecord } from "./packed-record.js";
import type { LogPart, LogRecord, PartitionedLog } from "./partitioned-log.js";
import type { ReadRecord, ReadRecords } from "./read-edge.js";
import { ReadLoop } from "./read-loop.js";
import { unreadableAt } from "./writer-gaps.js";

const WAIT_MILLIS = 500;
/** After a read that found only what this agent has appended: each append would end another such read. */
const ECHO_MILLIS = 20;
/** The same while no other agent is there: one that comes tells so first. */
const ALONE_MILLIS = 250;
/** From one read to the next while each finds little: what comes meanwhile is read together. */
const APART_MILLIS = 20;
/** A read that finds more is followed by the next one at once, and so is one that has not reached where the log ended at the beginning. */
const LITTLE_BYTES = 65_536;
/** Less is not read ahead of a part, however many parts there are. */
const LEAST_AHEAD = 32_768;
/** Who wrote what is no record. */
const NOBODY = "";

interface PartReaderParts {
  readonly log: Pick<PartitionedLog, "read">;
  readonly own: ReadonlyMap<number, OwnPart>;
  /** Bytes that are read ahead, of all parts together. */
  readonly prefetchBytes: number;
  add(part: number, read: ReadRecords): void;
  readonly codecs: TextCodecs;
  /** True while no other agent appends to the log. */
  isAlone(): boolean;
  /** A record that no agent can read is left out. */
  unreadable(): void;
  /** What a read rejected with, and undefined when one did not. */
  outcome(error?: unknown): void;
  readonly logger: Logger;
}

/** Reads the parts of this agent ahead of its sinks. */
export class PartReader {
  readonly #parts: PartReaderParts;
  readonly #loop: ReadLoop;
  /** What this agent has appended behind records that it has not read; nothing for a part that it has begun with again. */
  readonly #appended = new WeakMap<OwnPart, OwnRecords>();
  readonly #newer = new NewerRecords();
  /** What the read that is running does not ask for. */
  #unread = new Set<number>();
  /** Ends the pause after a read; undefined while there is none. */
  #pausing: AbortController | undefined;
  /** When the last read ended that found little, by a steady clock. */
  #foundAt = Number.NEGATIVE_INFINITY;

  constructor(parts: PartReaderParts) {
    this.#parts = parts;
    this.#loop = new ReadLoop({ read: (signal) => this.#read(signal), outcome: (error) => parts.outcome(error) });
  }

  start(): void {
    this.#loop.start();
  }

  /** True when more of the part is to be kept ahead. */
  hasRoom(own: OwnPart): boolean {
    return !own.leaving && own.queue.bytes < this.#mostBytes();
  }

  /** True when nothing is known to be behind what was read of the part. */
  isAtEnd(own: OwnPart): boolean {
    return own.queue.next >= own.end && this.hasRoom(own);
  }

  /** Parts came or went, or one of them has room again. */
  changed(): void {
    this.#loop.changed();
  }

  /** What was read of the part has become less. */
  drained(part: number): void {
    const own = this.#parts.own.get(part);
    if (this.#unread.has(part) && own !== undefined && this.hasRoom(own)) this.#loop.changed();
  }

  /** There was no room for what this agent has appended to the part. */
  left(part: number): void {
    this.#unread.add(part);
  }

  /** Somebody else has appended to a part of this agent, before a record of this agent that was `value`. */
  missed(own: OwnPart, value: Uint8Array, record: () => ReadRecord): void {
    this.#pausing?.abort();
    const appended = this.#appended.get(own) ?? new OwnRecords();
    if (own.queue.bytes + appended.bytes + value.byteLength > this.#mostBytes()) return;
    appended.keep(record(), value);
    this.#appended.set(own, appended);
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  /** Bytes that are kept of each part. */
  #mostBytes(): number {
    const { prefetchBytes, own } = this.#parts;
    return Math.max(LEAST_AHEAD, prefetchBytes / Math.max(1, own.size));
  }

  /** Resolves with why one of the parts waits. */
  async #read(signal: AbortSignal): Promise<unknown> {
    const from = this.#wanted();
    if (from.size === 0) await pause(WAIT_MILLIS, signal);
    else await this.#readFrom(from, signal);
    return this.#newer.failure(this.#parts.own);
  }

  async #readFrom(from: ReadonlyMap<LogPart, number>, signal: AbortSignal): Promise<void> {
    const limits = { bytes: Math.max(LEAST_AHEAD, this.#parts.prefetchBytes / 4), waitMillis: WAIT_MILLIS };
    const found = await this.#parts.log.read(from, limits, signal);
    let isNew = found.size === 0;
    let bytes = 0;
    let isBehind = false;
    for (const [part, records] of found) {
      const own = typeof part === "number" ? this.#parts.own.get(part) : undefined;
      if (own === undefined) continue;
      // This agent gave the part away during the read, took it again, and begins before what was read.
      if (!own.queue.follows(from.get(part) ?? 0)) isNew = true;
      else {
        const added = this.#add(own, from.get(part) ?? 0, records);
        isNew ||= added > 0;
        bytes += added;
        isBehind ||= added > 0 && own.queue.next < own.end;
      }
    }
    if (!isNew) await this.#pause(signal);
    else if (bytes > 0 && bytes < LITTLE_BYTES && !isBehind) await this.#keepApart(signal);
  }

  /** Returns the bytes of what was new; 0 also where it has to wait. */
  #add(own: OwnPart, from: number, records: readonly LogRecord[]): number {
    const { queue } = own;
    const { next } = queue;
    const fresh = records.filter(({ offset }) => offset >= next);
    if (fresh.length === 0) return 0;
    const unpacked = this.#unpacked(own, fresh);
    if (unpacked.length === 0) return 0;
    this.#newer.forget(own);
    this.#parts.add(queue.part, { from, records: unpacked });
    if (queue.next === next) return 0;
    this.#appended.get(own)?.forget(queue.next);
    return fresh.reduce((sum, { value }) => sum + value.byteLength, 0);
  }

  /** Many small reads cost more than the moment that fewer and larger ones take. */
  async #keepApart(signal: AbortSignal): Promise<void> {
    const left = this.#foundAt + APART_MILLIS - performance.now();
    if (left > 0) await pause(left, signal);
    this.#foundAt = performance.now();
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const pausing = new AbortController();
    this.#pausing = pausing;
    const stopListening = onAbort(signal, () => pausing.abort());
    await pause(this.#parts.isAlone() ? ALONE_MILLIS : ECHO_MILLIS, pausing.signal);
    stopListening();
    this.#pausing = undefined;
  }

  /** The parts that have room, and from where they are read. */
  #wanted(): ReadonlyMap<LogPart, number> {
    const from = new Map<LogPart, number>();
    this.#unread = new Set();
    for (const [part, own] of this.#parts.own) {
      if (this.#newer.waits(own)) continue;
      if (this.hasRoom(own)) from.set(part, own.queue.next);
      else if (!own.leaving) this.#unread.add(part);
    }
    return from;
  }

  /** Up to the first record of a later version. */
  #unpacked(own: OwnPart, records: readonly LogRecord[]): readonly ReadRecord[] {
    const { part } = own.queue;
    const appended = this.#appended.get(own);
    const read: ReadRecord[] = [];
    for (const { offset, value, mark } of records) {
      if (mark === true) {
        read.push({ offset, bytes: 0, events: [], at: 0, writer: NOBODY, before: 0 });
        continue;
      }
      try {
        const known = appended?.found(offset, value);
        read.push(known ?? { offset, bytes: value.byteLength, ...unpackedRecord(value, this.#parts.codecs) });
      } catch (error) {
        if (codeOf(error) === "RECORD_NEWER") {
          if (read.length === 0) this.#newer.note(own, error);
          return read;
        }
        this.#parts.logger.error(
          { partition: part, offset, reason: reasonOf(error) },
          "a record of the log is left out",
        );
        this.#parts.unreadable();
        read.push({ offset, bytes: value.byteLength, events: [], at: 0, writer: unreadableAt(offset), before: 0 });
      }
    }
    return read;
  }
}
