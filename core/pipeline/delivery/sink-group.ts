import { AgentError, type Event, type Receipt, reasonOf, retryableOf, type StoreAnswer } from "../../sdk/index.js";
import { SinkCounters } from "../counters.js";
import { logContext } from "../log-context.js";
import { CheckedProcessor, type ProcessorParts } from "./checked-processor.js";
import { GroupError, type GroupFailure } from "./group-error.js";
import type { GroupMember } from "./group-member.js";
import { isPositionFault } from "./kinds-of-failure.js";
import { NamedFailure, storedDespite } from "./named-failure.js";
import type { Settled } from "./settlements.js";
import { type Course, nothingSent, type Stage, type StoreQuestions } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

interface SinkGroupParts extends Omit<ProcessorParts, "sinks"> {
  /** In the order of the configuration. */
  readonly members: readonly GroupMember[];
  /** Told of what no sink of the group stored: dead letters, and replayed ones that were stored before. */
  readonly account?: { settled(events: Settled): void };
}

/**
 * The sinks of a group as one sink: each batch goes to the sink that the processor names first, and to the next one when
 * that fails. Data that a sink refuses for good is no failure of the sink and goes to no other one.
 */
export class SinkGroup implements Stage, StoreQuestions {
  readonly name = "group";
  /** Of the group as a whole; each sink has its own beside them. */
  readonly counters = new SinkCounters();
  readonly #parts: SinkGroupParts;
  readonly #byName: ReadonlyMap<string, GroupMember>;
  readonly #attempted: ReadonlyMap<string, WeakSet<Event>>;
  readonly #storedBy = new WeakMap<Event, GroupMember>();
  readonly #lastTriedBy = new WeakMap<Event, GroupMember>();
  /** The sinks that failed the last time; failing again is not news. */
  readonly #failing = new Set<string>();
  readonly #processor: CheckedProcessor;

  constructor(parts: SinkGroupParts) {
    this.#parts = parts;
    this.#processor = new CheckedProcessor({ ...parts, sinks: parts.members.map(({ name }) => name) });
    this.#byName = new Map(parts.members.map((member) => [member.name, member]));
    this.#attempted = new Map(parts.members.map(({ name }) => [name, new WeakSet()]));
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const failures: GroupFailure[] = [];
    let rest = batch;
    for (const member of this.#processor.order().flatMap((name) => this.#byName.get(name) ?? [])) {
      try {
        return await this.#store(rest, member, course);
      } catch (error) {
        this.#noteStored(rest, storedDespite(error, rest.events), member);
        if (course.signal.aborted || isPositionFault(error) || isRefusal(error)) throw error;
        this.#noteFailure(member.name, rest, error);
        failures.push({ member, error });
        await this.#settleStored(rest, member, course.signal);
        rest = rest.open();
        if (rest.events.length === 0) return nothingSent;
      }
    }
    throw this.#failed(failures);
  }

  get keepsPositions(): boolean {
    return this.#parts.members.some(({ sink }) => sink.keepsPositions);
  }

  /** What any of the sinks has; one that cannot tell now is not waited for. */
  async alreadyStored(batch: TakenBatch, signal: AbortSignal): Promise<readonly Event[]> {
    const stored = new Set<Event>();
    for (const member of this.#parts.members) {
      const open = batch.events.filter((event) => !stored.has(event));
      if (open.length === 0) break;
      for (const event of await this.#askStored(batch, open, { member, signal })) stored.add(event);
    }
    return [...stored];
  }

  /** One sink that refuses the data while its store answers is enough: data it refuses for good goes to no other one. */
  async answers(error: unknown, signal: AbortSignal): Promise<StoreAnswer> {
    const failures =
      error instanceof GroupError ? error.failures : this.#parts.members.map((member) => ({ member, error }));
    const answers: StoreAnswer[] = [];
    for (const { member, error: own } of failures) answers.push(await member.sink.answers(own, signal));
    return ([true, "lasting", "passing", undefined] as const).find((one) => answers.includes(one)) ?? false;
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

  async #store(batch: TakenBatch, member: GroupMember, course: Course): Promise<Receipt> {
    const { name, sink, counters } = member;
    const { log } = this.#parts;
    const attempted = this.#attempted.get(name);
    for (const event of batch.events) {
      this.#lastTriedBy.set(event, member);
      if (attempted?.has(event) === true) continue;
      attempted?.add(event);
      counters.processed += 1;
    }
    const receipt = await sink.deliver(batch, course);
    const elsewhere = new Set(receipt.elsewhere);
    counters.persisted += batch.events.length - elsewhere.size;
    for (const event of batch.events) if (!elsewhere.has(event)) this.#storedBy.set(event, member);
    this.#processor.tell(name, "succeeded");
    if (this.#failing.delete(name)) log.info({ sink: name }, "sink of the group stores again");
    return receipt;
  }

  /** What a sink stored of a write of which it named the events that failed. */
  #noteStored(batch: TakenBatch, stored: readonly Event[], member: GroupMember): void {
    if (stored.length === 0) return;
    for (const event of stored) this.#storedBy.set(event, member);
    member.counters.persisted += stored.length;
    this.counters.persisted += batch.settle("stored", stored);
  }

  /** A write that failed may be committed in part, or as a whole: that must not go to another sink as well. */
  async #settleStored(batch: TakenBatch, member: GroupMember, signal: AbortSignal): Promise<void> {
    const stored = await this.#askStored(batch, batch.events, { member, signal });
    if (stored.length > 0) this.counters.persisted += batch.settleFound(stored);
  }

  /** Of these events those that the sink has; none when it cannot have been given one, or cannot tell now. */
  async #askStored(batch: TakenBatch, events: readonly Event[], { member, signal }: Asked): Promise<readonly Event[]> {
    const { name, sink, counters } = member;
    const attempted = this.#attempted.get(name);
    const isNew = (event: Event) => attempted?.has(event) !== true && !batch.isRedelivered(event);
    if (events.every(isNew)) return [];
    try {
      const asked = new Set(events);
      const stored = (await sink.alreadyStored(batch, signal)).filter((event) => asked.has(event));
      if (batch.isShared) return stored;
      counters.persisted += stored.length;
      for (const event of stored) this.#storedBy.set(event, member);
      return stored;
    } catch (error) {
      if (isPositionFault(error)) throw error;
      this.#parts.log.debug({ sink: name, reason: reasonOf(error) }, "what a sink of the group stored cannot be read");
      return [];
    }
  }

  #noteFailure(sink: string, { events }: TakenBatch, error: unknown): void {
    const { log } = this.#parts;
    this.#processor.tell(sink, "failed");
    const fields = { sink, events: events.length, reason: reasonOf(error), ...logContext(events) };
    if (this.#failing.has(sink)) log.debug(fields, "sink of the group failed");
    else log.warn(fields, "sink of the group failed");
    this.#failing.add(sink);
  }

  /** May pass as soon as one of the failures may; an error that does not say is handed on unchanged. */
  #failed(failures: readonly GroupFailure[]): unknown {
    const { name } = this.#parts;
    const reasons = failures.map(({ member, error }) => `sink "${member.name}": ${reasonOf(error)}`).join("; ");
    const last = failures.at(-1);
    if (last === undefined) {
      const message = `storing by group "${name}": its sink processor${this.#processor.ofType} named none of its sinks`;
      return new AgentError("GROUP_FAILED", message, { retryable: true });
    }
    if (failures.every(({ error }) => retryableOf(error) === undefined)) return last.error;
    const message = `storing by group "${name}": no sink took the batch (${reasons})`;
    return new GroupError(message, failures);
  }
}

/** Data that a sink refuses for good; what it says of other events is tried again when these are dead letters. */
function isRefusal(error: unknown): boolean {
  return retryableOf(error) === false || (error instanceof NamedFailure && error.refused.length > 0);
}

interface Asked {
  readonly member: GroupMember;
  readonly signal: AbortSignal;
}
