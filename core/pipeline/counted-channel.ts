import type { Channel, PutTransaction, TakeTransaction } from "../sdk/index.js";
import { CountedPut, CountedTake, type PutWatch } from "./counted-transactions.js";
import { ChannelCounters } from "./counters.js";
import { FailureState } from "./failure-state.js";
import type { ChannelAccount } from "./ledger.js";
import { type Waiting, WaitingTime } from "./waiting-time.js";

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

  get durable(): boolean {
    return this.#channel.durable === true;
  }

  get size(): number {
    return this.#channel.size;
  }

  /** Undefined for a channel that does not count them. */
  get bytes(): number | undefined {
    return this.#channel.bytes;
  }

  /** Since when the oldest event waits: from its reception once a sink has taken it, before that from its put. */
  get waitingSince(): Waiting | undefined {
    const waiting = this.#waitingTime.oldest(this.size);
    if (waiting === undefined || this.#received.size === 0) return waiting;
    return { since: Math.min(...this.#received.values()), exact: true };
  }

  get transactionCapacity(): number {
    return this.#channel.transactionCapacity;
  }

  async start(): Promise<void> {
    await this.#channel.start();
    this.#noteLost();
    this.#waitingTime.started(this.#channel.size, this.#now().getTime());
    if (this.durable || this.#account?.opened === false) this.#account?.open(this.#channel.size);
  }

  stop(signal: AbortSignal): Promise<void> {
    return this.#channel.stop(signal);
  }

  /** Takes over what is left in a channel that this one replaces. */
  async inherit(from: CountedChannel): Promise<number> {
    const most = Math.min(this.transactionCapacity, from.transactionCapacity);
    let moved = 0;
    while (from.size > 0) {
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
