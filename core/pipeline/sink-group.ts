import {
  AgentError,
  type Batch,
  type Event,
  type Logger,
  type Receipt,
  reasonOf,
  retryableOf,
  type Sink,
  type SinkProcessor,
} from "../sdk/index.js";
import { SinkCounters } from "./counters.js";
import { logContext } from "./log-context.js";
import type { Settled } from "./settlements.js";

/** A sink of a group; the agent starts and stops it. */
export interface GroupMember {
  readonly name: string;
  readonly sink: Sink;
  readonly counters: SinkCounters;
  /** Told of what this sink stored when it has left the channel. */
  readonly account?: { settled(events: Settled): void };
}

export interface SinkGroupParts {
  readonly name: string;
  /** In the order of the configuration. */
  readonly members: readonly GroupMember[];
  readonly processor: SinkProcessor;
  readonly log: Logger;
  /** Told of what no sink of the group stored: dead letters, and replayed ones that were stored before. */
  readonly account?: { settled(events: Settled): void };
}

/**
 * The sinks of a group as one sink: each batch goes to the sink that the processor names first, and to the next one when
 * that fails. Data that a sink refuses for good is no failure of the sink and goes to no other one.
 */
export class SinkGroup implements Pick<Sink, "persist" | "alreadyStored"> {
  /** Of the group as a whole; each sink has its own beside them. */
  readonly counters = new SinkCounters();
  readonly #parts: SinkGroupParts;
  readonly #byName: ReadonlyMap<string, GroupMember>;
  readonly #attempted: ReadonlyMap<string, WeakSet<Event>>;
  readonly #storedBy = new WeakMap<Event, GroupMember>();
  readonly #lastTriedBy = new WeakMap<Event, GroupMember>();
  /** What a sink turned out to have stored of a write that failed. */
  readonly #found = new WeakSet<Event>();
  /** The sinks that failed the last time; failing again is not news. */
  readonly #failing = new Set<string>();

  constructor(parts: SinkGroupParts) {
    this.#parts = parts;
    this.#byName = new Map(parts.members.map((member) => [member.name, member]));
    this.#attempted = new Map(parts.members.map(({ name }) => [name, new WeakSet()]));
  }

  async persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    const failures: Failure[] = [];
    let rest = this.#unstored(batch);
    for (const member of this.#order()) {
      if (rest.events.length === 0) return { requestBytes: 0, responseBytes: 0 };
      try {
        return await this.#store(rest, member, signal);
      } catch (error) {
        if (signal.aborted || retryableOf(error) === false) throw error;
        this.#noteFailure(member.name, rest, error);
        failures.push({ sink: member.name, error });
        await this.#noteStored(rest, member, signal);
        rest = this.#unstored(rest);
      }
    }
    if (rest.events.length === 0) return { requestBytes: 0, responseBytes: 0 };
    throw this.#failed(failures);
  }

  /** What any of the sinks has; one that cannot tell now is not waited for. */
  async alreadyStored(batch: Batch, signal: AbortSignal): Promise<readonly Event[]> {
    for (const member of this.#parts.members) await this.#noteStored(this.#unstored(batch), member, signal);
    return batch.events.filter((event) => this.#found.has(event));
  }

  /** Shares out what has left the channel among those who stored it. */
  settled(settled: Settled, events: readonly Event[]): void {
    const { members, account } = this.#parts;
    const none = { stored: 0, "dead-lettered": 0, filtered: 0 } as const;
    let shared = 0;
    for (const member of members) {
      const stored = events.filter((event) => this.#storedBy.get(event) === member).length;
      if (stored > 0) member.account?.settled({ ...none, stored });
      shared += stored;
    }
    this.#countLetters(settled["dead-lettered"], events);
    // What a group before a reload stored of a batch that was completed later; its sinks are not known any more.
    const rest = { ...settled, stored: settled.stored - shared };
    if (Object.values(rest).some((count) => count > 0)) account?.settled(rest);
  }

  /** The dead letters of a group are those of the sink that tried them last. */
  #countLetters(letters: number, events: readonly Event[]): void {
    let left = letters;
    for (const event of events) {
      if (left === 0) return;
      const member = this.#storedBy.has(event) ? undefined : this.#lastTriedBy.get(event);
      if (member === undefined) continue;
      member.counters.deadLettered += 1;
      left -= 1;
    }
  }

  #order(): readonly GroupMember[] {
    const names = this.#parts.members.map(({ name }) => name);
    return this.#parts.processor.order(names).flatMap((name) => this.#byName.get(name) ?? []);
  }

  async #store(batch: Batch, member: GroupMember, signal: AbortSignal): Promise<Receipt> {
    const { name, sink, counters } = member;
    const { processor, log } = this.#parts;
    const attempted = this.#attempted.get(name);
    for (const event of batch.events) {
      this.#lastTriedBy.set(event, member);
      if (attempted?.has(event) === true) continue;
      attempted?.add(event);
      counters.processed += 1;
    }
    const receipt = await sink.persist(batch, signal);
    counters.persisted += batch.events.length;
    for (const event of batch.events) this.#storedBy.set(event, member);
    processor.succeeded(name);
    if (this.#failing.delete(name)) log.info({ sink: name }, "sink of the group stores again");
    return receipt;
  }

  /** A write that failed may be committed in part, or as a whole: that must not go to another sink as well. */
  async #noteStored(batch: Batch, member: GroupMember, signal: AbortSignal): Promise<void> {
    const { name, sink, counters } = member;
    const attempted = this.#attempted.get(name);
    if (!batch.events.some((event) => attempted?.has(event))) return;
    try {
      const stored = (await sink.alreadyStored?.(batch, signal)) ?? [];
      counters.persisted += stored.length;
      for (const event of stored) {
        this.#storedBy.set(event, member);
        this.#found.add(event);
      }
    } catch (error) {
      this.#parts.log.debug({ sink: name, reason: reasonOf(error) }, "what a sink of the group stored cannot be read");
    }
  }

  #unstored(batch: Batch): Batch {
    if (!batch.events.some((event) => this.#found.has(event))) return batch;
    const events = batch.events.filter((event) => !this.#found.has(event));
    const { coveredBy } = batch;
    if (coveredBy === undefined) return { ...batch, events };
    const open = new Set(events);
    return { ...batch, events, coveredBy: (kept) => coveredBy(kept).filter((event) => open.has(event)) };
  }

  #noteFailure(sink: string, { events }: Batch, error: unknown): void {
    const { processor, log } = this.#parts;
    processor.failed(sink);
    const fields = { sink, events: events.length, reason: reasonOf(error), ...logContext(events) };
    if (this.#failing.has(sink)) log.debug(fields, "sink of the group failed");
    else log.warn(fields, "sink of the group failed");
    this.#failing.add(sink);
  }

  /** May pass as soon as one of the failures may; an error that does not say is handed on as it is. */
  #failed(failures: readonly Failure[]): unknown {
    const { name } = this.#parts;
    const reasons = failures.map(({ sink, error }) => `sink "${sink}": ${reasonOf(error)}`).join("; ");
    const last = failures.at(-1);
    if (last === undefined) {
      const message = `storing by group "${name}": its sink processor named none of its sinks`;
      return new AgentError("GROUP_FAILED", message, { retryable: true });
    }
    if (failures.every(({ error }) => retryableOf(error) === undefined)) return last.error;
    const message = `storing by group "${name}": no sink took the batch (${reasons})`;
    return new AgentError("GROUP_FAILED", message, { retryable: true });
  }
}

interface Failure {
  readonly sink: string;
  readonly error: unknown;
}
