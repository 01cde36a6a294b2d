import { isEvent } from "../../sdk/event-fault.js";
import { FailureLog } from "../../sdk/failure-log.js";
import {
  AgentError,
  type Channel,
  type Event,
  type Logger,
  letterHeader,
  onAbort,
  reasonOf,
  type SinkTuning,
  type TakeTransaction,
} from "../../sdk/index.js";
import type { SinkCounters } from "../counters.js";
import { describedEvent } from "../dead-letters/dead-letter.js";
import type { ReplayedLetters } from "../dead-letters/replayed-letters.js";
import { BatchLetters } from "./batch-letters.js";
import type { ChannelOutlet } from "./channel-outlet.js";
import type { DeliveryChain } from "./delivery-chain.js";
import type { Feed } from "./feed.js";
import { JoinedTakes } from "./joined-takes.js";
import { Pace } from "./pace.js";
import { wait } from "./retry-policy.js";
import { booksOf, type Settled } from "./settlements.js";
import { type Course, GivenBack, HeldBack } from "./stage.js";
import { type BatchLimits, LARGEST_WRITE, mostHeldOf, takeBatch, takeBehind } from "./take-batch.js";
import { TakenBatch } from "./taken-batch.js";
import { type ChannelRoom, worthWaitingFor } from "./worth-waiting-for.js";

/** Pause in milliseconds after a take that returned nothing although it was not aborted. */
const pauseAfterNothing = 50;
/** Pause in milliseconds after a failure of the channel. */
const pauseAfterChannelFailure = 1000;

export interface SinkFeedParts {
  /** Shared by all feeds of one channel, those before and after this one included. */
  readonly outlet: Pick<ChannelOutlet, "settlements"> & {
    readonly feeds?: ChannelOutlet["feeds"];
    readonly letters?: Pick<NonNullable<ChannelOutlet["letters"]>, "has" | "upToDate" | "stored"> | undefined;
    readonly channel: Channel;
    readonly title?: string | undefined;
    readonly room?: ChannelRoom | undefined;
  };
  readonly chain: DeliveryChain;
  readonly batching: Pick<BatchLimits, "batchSize" | "batchTimeout"> & {
    readonly batchLinger?: SinkTuning["batchLinger"] | undefined;
  };
  readonly counters: SinkCounters;
  readonly log: Logger;
  readonly replayed?: ReplayedLetters;
  /** Maximum number of events of a batch, for a sink that takes more than one transaction holds; absent: the limit of the channel. */
  readonly largestBatch?: number | undefined;
  /** The account in the ledger: it counts every batch that has left the channel. */
  readonly account?: { settled(settled: Settled, events: readonly Event[]): void };
  /** Milliseconds of a steady clock, which measures the rate of events; absent: that of the process. */
  readonly steady?: () => number;
}

/**
 * The object between a channel and a sink: it takes a batch, hands it to the delivery chain and commits the take. It joins
 * the gate of the channel before its start and leaves it at its end.
 */
export class SinkFeed implements Feed {
  readonly #parts: SinkFeedParts;
  readonly #draining = new AbortController();
  readonly #halting = new AbortController();
  readonly #ending = new AbortController();
  readonly #leaving = AbortSignal.any([this.#draining.signal, this.#halting.signal]);
  readonly #hurry = AbortSignal.any([this.#halting.signal, this.#ending.signal]);
  readonly #course: Course;
  readonly #failures: FailureLog;
  readonly #backs: FailureLog;
  readonly #letters: BatchLetters;
  #loop: Promise<void> | undefined;
  readonly #pace: Pace;
  readonly #steady: () => number;
  readonly #enoughBytes: number;
  /** How many events that were given back count as processed already: the next batches begin with them. */
  #counted = 0;
  /** What the last batch held back: the next one begins with it. */
  #held: HeldBack | undefined;

  constructor(parts: SinkFeedParts) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.log, "channel works again");
    this.#backs = new FailureLog(parts.log, "channel takes batches back again");
    this.#letters = new BatchLetters(parts);
    const { channel, room = {}, feeds } = parts.outlet;
    const { events, bytes } = worthWaitingFor(channel.transactionCapacity, room);
    this.#pace = new Pace(Math.min(this.#most, events));
    this.#enoughBytes = bytes;
    this.#steady = parts.steady ?? (() => performance.now());
    const mostHeld = () => (feeds?.size === 1 ? mostHeldOf(channel) : 0);
    this.#course = { signal: this.#ending.signal, hurry: this.#hurry, attempt: 1, doubt: "none", channel, mostHeld };
  }

  join(): void {
    if (!this.#leaving.aborted) this.#parts.chain.catchUp?.join();
  }

  start(): void {
    if (this.#leaving.aborted || this.#loop !== undefined) return;
    this.#parts.outlet.feeds?.add(this);
    this.#loop = this.#run();
  }

  async drain(signal: AbortSignal): Promise<void> {
    await this.#end(this.#draining, signal);
  }

  async halt(signal: AbortSignal): Promise<void> {
    await this.#end(this.#halting, signal);
  }

  async idle(signal: AbortSignal): Promise<boolean> {
    const { retry, keeper } = this.#parts.chain;
    return await new Promise((resolve) => {
      const stopListening = onAbort(signal, () => resolve(false));
      const ended = Promise.all([retry.writing, keeper.idle()]);
      void ended.then(() => resolve(true)).finally(stopListening);
    });
  }

  async #end(way: AbortController, signal: AbortSignal): Promise<void> {
    const stopListening = onAbort(signal, () => this.#ending.abort());
    way.abort();
    await this.#loop;
    this.#parts.outlet.feeds?.delete(this);
    this.#parts.chain.catchUp?.leave();
    stopListening();
  }

  async #run(): Promise<void> {
    const { chain, outlet } = this.#parts;
    const fields = outlet.title === undefined ? {} : { channel: outlet.title };
    let more = (await chain.catchUp?.pass(this.#hurry)) ?? true;
    while (more && !this.#hurry.aborted) {
      try {
        more = await this.#round();
        this.#failures.works(fields);
      } catch (error) {
        // What is held back is left to other agents.
        more = !(error instanceof HeldBack && this.#draining.signal.aborted);
        if (!(error instanceof GivenBack)) await this.#failed(error, fields);
      }
    }
  }

  async #failed(error: unknown, fields: object): Promise<void> {
    if (this.#hurry.aborted) this.#parts.log.debug({ reason: reasonOf(error) }, "ended before a batch was settled");
    else this.#failures.failed("error", error, { message: "channel failed, going on", fields });
    await wait(pauseAfterChannelFailure, this.#hurry);
  }

  /** Takes, delivers and commits one batch; false when there is nothing left to do. */
  async #round(): Promise<boolean> {
    const { outlet } = this.#parts;
    const transaction = this.#open();
    try {
      const events = await this.#take(transaction);
      this.#pace.taken(events.length, this.#steady());
      if (events.length > 0) await this.#settle(events, transaction);
      else {
        this.#held = undefined;
        await transaction.rollback();
      }
      // A channel that returns at once must not block the agent.
      if (events.length === 0) await wait(pauseAfterNothing, this.#leaving);
      if (!this.#draining.signal.aborted) return true;
      // What several agents share is left to the others, who go on filling it.
      return events.length > 0 && outlet.channel.sizeIs !== "shared";
    } catch (error) {
      await this.#giveBack(transaction, error);
      throw error;
    }
  }

  /** Gives the batch back to the channel. A failure of that is logged: the first error counts. */
  async #giveBack(transaction: TakeTransaction, error: unknown): Promise<void> {
    try {
      await transaction.rollback();
      this.#backs.works({ channel: this.#parts.outlet.title });
    } catch (cause) {
      if (error instanceof GivenBack) throw cause;
      const fields = { channel: this.#parts.outlet.title };
      this.#backs.failed("error", cause, { message: "channel did not take a batch back", fields });
    }
  }

  #open(): TakeTransaction {
    const { channel } = this.#parts.outlet;
    return this.#most > channel.transactionCapacity ? new JoinedTakes(channel) : channel.openTake();
  }

  /** The most events of one batch. */
  get #most(): number {
    const { outlet, largestBatch = 0 } = this.#parts;
    const { transactionCapacity, durable } = outlet.channel;
    return durable === true ? transactionCapacity : Math.max(transactionCapacity, largestBatch);
  }

  /** Of the events of a channel that agents share only a part is for this agent. */
  #hasEnough(): boolean {
    const { size = 0, sizeIs, bytes = 0 } = this.#parts.outlet.channel;
    if (sizeIs === "shared") return size >= this.#most;
    return size >= this.#pace.enough || bytes >= this.#enoughBytes;
  }

  async #take(transaction: TakeTransaction): Promise<readonly Event[]> {
    const { batchLinger: linger, ...sizes } = this.#parts.batching;
    const batchLinger = linger === "under-load" ? 0 : linger;
    const isPaced = linger !== undefined && linger !== 0;
    if (isPaced) await this.#pace.linger(() => this.#hasEnough(), this.#leaving, this.#steady);
    const limits = { ...sizes, batchLinger, transactionCapacity: this.#most };
    if (this.#held === undefined) return await takeBatch(transaction, limits, this.#leaving);
    const { held, isFull, rest } = this.#held;
    const most = Math.min(held.length + (isFull ? 0 : Math.max(sizes.batchSize, LARGEST_WRITE)), this.#most);
    return await takeBehind({ held, rest, most }, transaction, this.#leaving);
  }

  /** Resolves when every event is stored, kept or left out, and has left the channel. */
  async #settle(taken: readonly Event[], transaction: TakeTransaction): Promise<void> {
    const { outlet, chain, counters, account } = this.#parts;
    const { settlements } = outlet;
    const events = eventsOf(taken);
    const odd = taken.length - events.length;
    if (odd > 0) await this.#setAside(taken);
    const letters = this.#lettersFor(events);
    await letters?.settleKnown(events, transaction);
    const batch = new TakenBatch(settlements.open(events), { whole: taken, transaction, settlements });
    this.#count(batch.events.length + odd);
    this.#held = undefined;
    try {
      if (batch.events.length > 0) await chain.first.deliver(batch, this.#course);
    } catch (error) {
      if (error instanceof HeldBack) {
        counters.processed -= error.held.length;
        if (!batch.isShared) this.#held = error;
        await this.#leave(settlements.settled(events), transaction);
      } else if (error instanceof GivenBack) this.#counted += settlements.open(events).length;
      throw error;
    }
    await letters?.close(events, transaction, this.#hurry);
    const { stored, filtered, "dead-lettered": deadLettered } = settlements.count(events);
    const elsewhere = settlements.elsewhere(events);
    transaction.settled?.({ stored, elsewhere, filtered, deadLettered: deadLettered + odd });
    await transaction.commit();
    settlements.close(events);
    account?.settled({ stored, filtered, "dead-lettered": deadLettered + odd }, events);
  }

  /** Undefined for events that have nothing to do with dead letters, as most have not. */
  #lettersFor(events: readonly Event[]): BatchLetters | undefined {
    const { letters } = this.#parts.outlet;
    const isConcerned = letters !== undefined || events.some(({ headers }) => headers[letterHeader] !== undefined);
    return isConcerned ? this.#letters : undefined;
  }

  #count(attempted: number): void {
    const known = Math.min(this.#counted, attempted);
    this.#counted -= known;
    this.#parts.counters.processed += attempted - known;
  }

  /** If the rest of a batch is held back, its settled events leave the channel before it. */
  async #leave(events: readonly Event[], transaction: TakeTransaction): Promise<void> {
    const { outlet, account } = this.#parts;
    const { settlements } = outlet;
    if (transaction.leave === undefined) return;
    await this.#lettersFor(events)?.close(events, transaction, this.#hurry);
    for (const [book, own] of booksOf(events, settlements)) await transaction.leave(own, book);
    const settled = settlements.count(events);
    settlements.close(events);
    account?.settled(settled, events);
  }

  /** What a channel returned but is no event goes to no sink, because no sink can store it. */
  async #setAside(taken: readonly unknown[]): Promise<void> {
    const { chain, outlet } = this.#parts;
    const described = taken.filter((value) => !isEvent(value)).map(describedEvent);
    const error = new AgentError("NOT_AN_EVENT", "delivering what the channel returned: it is not an event", {
      retryable: false,
    });
    const batch = new TakenBatch(described, { whole: described, transaction: {}, settlements: outlet.settlements });
    await chain.keeper.keep(batch, { error, attempts: 0, reason: "permanent" }, this.#course);
  }
}

/** The list itself while nothing in it is anything else. */
function eventsOf(taken: readonly Event[]): readonly Event[] {
  return taken.every((value) => isEvent(value)) ? taken : taken.filter((value) => isEvent(value));
}
