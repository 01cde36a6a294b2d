import { type Channel, type Event, type Logger, reasonOf, type TakeTransaction } from "../sdk/index.js";
import { type BatchLimits, takeBatch } from "./batcher.js";
import type { SinkCounters } from "./counters.js";
import type { SinkDelivery } from "./delivery.js";
import { JoinedTakes } from "./joined-takes.js";
import type { ReplayedLetters } from "./replayed-letters.js";
import { type Settled, Settlements } from "./settlements.js";
import { wait } from "./wait.js";

/** Milliseconds before the loop goes on after its channel failed. */
const pauseAfterChannelFailure = 1000;

export interface SinkRunnerParts {
  readonly channel: Channel;
  readonly delivery: SinkDelivery;
  readonly batching: Pick<BatchLimits, "batchSize" | "batchTimeout" | "batchLinger">;
  readonly counters: SinkCounters;
  readonly log: Logger;
  /** Shared by all runners of one channel, those before and after this one included. */
  readonly settlements?: Settlements;
  readonly replayed?: ReplayedLetters;
  /** Passed before the first take; absent where no sink of the channel keeps positions. */
  readonly catchUp?: (signal: AbortSignal) => Promise<boolean>;
  /** Most events of a batch, for a sink that wants more than one take may hold; else the channel's limit counts. */
  readonly largestBatch?: number | undefined;
  /** Told of every batch that has left the channel. */
  readonly account?: { settled(settled: Settled, events: readonly Event[]): void };
}

/** After a batch of so many events more are likely to come at once. */
const busyBatch = 50;
/** Milliseconds. */
const longestBreath = 2;

/** What feeds a sink. */
export interface SinkLoop {
  start(): void;
  /** Stores what is left in the channel, then ends; gives up the rest when the signal aborts. */
  drain(signal: AbortSignal): Promise<void>;
  /** Ends after the write that is running; what is not stored goes back into the channel. */
  halt(signal: AbortSignal): Promise<void>;
}

/** The loop of one sink: take a batch, deliver it, commit the take. */
export class SinkRunner implements SinkLoop {
  readonly #parts: SinkRunnerParts;
  readonly #settlements: Settlements;
  readonly #draining = new AbortController();
  readonly #halting = new AbortController();
  readonly #ending = new AbortController();
  readonly #leaving = AbortSignal.any([this.#draining.signal, this.#halting.signal]);
  readonly #hurry = AbortSignal.any([this.#halting.signal, this.#ending.signal]);
  #loop: Promise<void> | undefined;
  #lastTaken = 0;

  constructor(parts: SinkRunnerParts) {
    this.#parts = parts;
    this.#settlements = parts.settlements ?? new Settlements();
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async drain(signal: AbortSignal): Promise<void> {
    await this.#end(this.#draining, signal);
  }

  async halt(signal: AbortSignal): Promise<void> {
    await this.#end(this.#halting, signal);
  }

  async #end(way: AbortController, signal: AbortSignal): Promise<void> {
    const end = () => this.#ending.abort();
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    way.abort();
    await this.#loop;
    signal.removeEventListener("abort", end);
  }

  async #run(): Promise<void> {
    let more = (await this.#parts.catchUp?.(this.#hurry)) ?? true;
    while (more && !this.#hurry.aborted) {
      try {
        more = await this.#round();
      } catch (error) {
        this.#parts.log.error({ reason: reasonOf(error) }, "channel failed, going on");
        await wait(pauseAfterChannelFailure, this.#hurry);
      }
    }
  }

  /** Takes, delivers and commits one batch; false when there is nothing left to do. */
  async #round(): Promise<boolean> {
    const transaction = this.#open();
    const events = await this.#take(transaction);
    this.#lastTaken = events.length;
    if (events.length === 0) {
      await transaction.rollback();
      return !this.#draining.signal.aborted;
    }
    if (await this.#settle(events, transaction)) await this.#commit(events, transaction);
    else await transaction.rollback();
    return true;
  }

  #open(): TakeTransaction {
    const { channel } = this.#parts;
    return this.#most > channel.transactionCapacity ? new JoinedTakes(channel) : channel.openTake();
  }

  /** The most events of one batch. */
  get #most(): number {
    const { channel, largestBatch = 0 } = this.#parts;
    const { transactionCapacity, durable } = channel;
    return durable === true ? transactionCapacity : Math.max(transactionCapacity, largestBatch);
  }

  /** While much comes, a moment more makes the next batch larger, and larger ones cost less for each event. */
  async #breathe(): Promise<void> {
    const { channel, batching } = this.#parts;
    const { batchLinger = 0 } = batching;
    if (this.#lastTaken < busyBatch || batchLinger <= 0 || channel.size >= this.#most) return;
    await wait(Math.min(batchLinger, longestBreath), this.#leaving);
  }

  async #take(transaction: TakeTransaction): Promise<readonly Event[]> {
    await this.#breathe();
    const limits = { ...this.#parts.batching, transactionCapacity: this.#most };
    try {
      return await takeBatch(transaction, limits, this.#leaving);
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  /** True when every event is stored, kept or left out. */
  async #settle(events: readonly Event[], transaction: TakeTransaction): Promise<boolean> {
    const { delivery, counters, replayed } = this.#parts;
    try {
      const repeated = replayed?.repeated(events) ?? [];
      this.#settlements.note(repeated, "filtered");
      const open = this.#settlements.open(events);
      counters.processed += open.length;
      const settle = this.#settlements.note.bind(this.#settlements);
      const positionAt = (event: Event) => transaction.positionAfter?.(events.indexOf(event) + 1);
      const coveredBy = (position: string) => transaction.coveredBy?.(position) ?? [];
      const options = { hurry: this.#hurry, settle, positionAt, coveredBy };
      const done = open.length === 0 || (await delivery.deliver(open, this.#ending.signal, options));
      await replayed?.stored(events.filter((event) => this.#settlements.isStored(event)));
      return done;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  async #commit(events: readonly Event[], transaction: TakeTransaction): Promise<void> {
    await transaction.commit();
    const settled = this.#settlements.close(events);
    this.#parts.account?.settled(settled, events);
  }
}
