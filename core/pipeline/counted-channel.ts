import type { Channel, PutTransaction, TakeTransaction } from "../sdk/index.js";
import { CountedPut, CountedTake, type PutWatch } from "./counted-transactions.js";
import { ChannelCounters } from "./counters.js";
import type { ChannelAccount } from "./ledger.js";
import { FailureState } from "./supervision.js";

/** A channel that counts: every channel of an agent is wrapped in one, so that no plugin counts by itself. */
export class CountedChannel implements Channel {
  readonly counters = new ChannelCounters();
  /** Whether it accepts puts. */
  readonly puts: FailureState;
  readonly #waitingTime = new WaitingTime();
  /** By open take: when its first event was received. */
  readonly #received = new Map<CountedTake, number>();
  readonly #channel: Channel;
  readonly #account: ChannelAccount | undefined;
  readonly #now: () => Date;
  readonly #watch: PutWatch;
  #filledAt: Date | undefined;
  /** What the channel has lost, as far as it is in the books. */
  #lost = 0;

  constructor(channel: Channel, account?: ChannelAccount, now: () => Date = () => new Date()) {
    this.#channel = channel;
    this.#account = account;
    this.#now = now;
    this.puts = new FailureState({ now });
    const { counters, puts } = this;
    this.#watch = { counters, puts, account, beforeCommit: this.#noteFilling, committed: this.#noteWaiting };
  }

  /** When it last changed from empty to not empty; undefined when it never did. */
  get filledAt(): Date | undefined {
    return this.#filledAt;
  }

  get redelivers(): boolean {
    return this.#channel.redelivers === true;
  }

  get durable(): boolean {
    return this.#channel.durable === true;
  }

  get size(): number | undefined {
    return this.#channel.size;
  }

  /** Whether the ledger can be compared with the size. */
  get isExact(): boolean {
    return this.#channel.size !== undefined && (this.#channel.sizeIs ?? "exact") === "exact";
  }

  /** False only when the channel says that it is empty. */
  get mayHold(): boolean {
    return this.#channel.size !== 0;
  }

  /** Undefined for a channel that does not count them. */
  get bytes(): number | undefined {
    return this.#channel.bytes;
  }

  /**
   * Since when the oldest event waits: from its reception once a sink has taken it, before that from its put. Undefined, too,
   * where the size does not say which puts are still there.
   */
  get waitingSince(): Waiting | undefined {
    const waiting = this.isExact || this.size === 0 ? this.#waitingTime.oldest(this.size ?? 0) : undefined;
    if (waiting === undefined || this.#received.size === 0) return waiting;
    return { since: Math.min(...this.#received.values()), exact: true };
  }

  get transactionCapacity(): number {
    return this.#channel.transactionCapacity;
  }

  async start(): Promise<void> {
    await this.#channel.start();
    this.#noteLost();
    this.#waitingTime.started(this.size ?? 0, this.#now().getTime());
    if (this.durable || this.#account?.opened === false) this.#account?.open(this.isExact ? this.size : undefined);
  }

  stop(signal: AbortSignal): Promise<void> {
    return this.#channel.stop(signal);
  }

  /** Takes over what is left in a channel that this one replaces. */
  async inherit(from: CountedChannel): Promise<number> {
    const most = Math.min(this.transactionCapacity, from.transactionCapacity);
    let moved = 0;
    while (from.mayHold) {
      const taken = from.#channel.openTake();
      const events = await taken.take(most, AbortSignal.abort());
      if (events.length === 0) break;
      try {
        const put = this.#channel.openPut();
        for (const event of events) put.put(event);
        await put.commit();
        this.#noteWaiting(events.length);
      } catch (error) {
        await taken.rollback();
        throw error;
      }
      await taken.commit();
      moved += events.length;
    }
    return moved;
  }

  async skipTo(position: string): Promise<number> {
    return (await this.#channel.skipTo?.(position)) ?? 0;
  }

  async leaveOut(ids: AsyncIterable<string>): Promise<number> {
    return (await this.#channel.leaveOut?.(ids)) ?? 0;
  }

  openPut(events?: number): PutTransaction {
    return new CountedPut(this.#channel.openPut(events), this.#watch);
  }

  openTake(): TakeTransaction {
    return new CountedTake(this.#channel.openTake(), {
      counters: this.counters,
      received: this.#received,
      noteLost: this.#noteLost,
    });
  }

  readonly #noteLost = (): void => {
    const lost = this.#channel.lost ?? 0;
    this.#account?.lost(lost - this.#lost);
    this.#lost = lost;
  };

  readonly #noteFilling = (): void => {
    if (this.#channel.size === 0) this.#filledAt = this.#now();
  };

  readonly #noteWaiting = (events: number): void => {
    this.#waitingTime.noted(events, this.#now().getTime());
  };
}

/** Milliseconds that one sample covers at least. */
const FINEST = 250;
const MOST_SAMPLES = 512;

/** Since when the oldest event of a channel waits. */
interface Waiting {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** False for events of a process before this one: they have waited longer. */
  readonly exact: boolean;
}

/** Up to which event of a channel, counted from its start, something was put from a time on. */
interface Sample {
  upTo: number;
  readonly from: number;
}

/**
 * Tells how long the oldest event of a channel waits, from a bounded number of samples: a few each second, and fewer the
 * longer the oldest one is there. What it tells is at most one sample too early.
 */
class WaitingTime {
  #samples: Sample[] = [];
  #width = FINEST;
  #put = 0;
  #before = 0;
  #startedAt = 0;

  /** The channel has started with events of an earlier process. */
  started(size: number, now: number): void {
    this.#put += size;
    this.#before = this.#put;
    this.#startedAt = now;
  }

  noted(events: number, now: number): void {
    if (events === 0) return;
    this.#put += events;
    const last = this.#samples.at(-1);
    if (last !== undefined && Math.abs(now - last.from) < this.#width) {
      last.upTo = this.#put;
      return;
    }
    this.#samples.push({ upTo: this.#put, from: now });
    if (this.#samples.length > MOST_SAMPLES) this.#thinOut();
  }

  /** Undefined while the channel, which holds `size` events, is empty. */
  oldest(size: number): Waiting | undefined {
    if (size === 0) return this.#empty();
    // A put that is about to resolve is in the channel and not yet noted.
    const done = Math.max(0, this.#put - size);
    if (done < this.#before) return { since: this.#startedAt, exact: false };
    const at = this.#samples.findIndex(({ upTo }) => upTo > done);
    if (at > 0) this.#samples.splice(0, at);
    const [first] = this.#samples;
    return first === undefined ? undefined : { since: first.from, exact: true };
  }

  #empty(): undefined {
    this.#samples = [];
    this.#width = FINEST;
    return undefined;
  }

  #thinOut(): void {
    const kept: Sample[] = [];
    for (let at = 0; at < this.#samples.length; at += 2) {
      const [first, second] = this.#samples.slice(at, at + 2);
      if (first !== undefined) kept.push({ from: first.from, upTo: (second ?? first).upTo });
    }
    this.#samples = kept;
    this.#width *= 2;
  }
}
