import {
  type Channel,
  codeOf,
  type Event,
  type PutTransaction,
  type TakePositions,
  type TakeTransaction,
  type Waiting,
} from "../sdk/index.js";
import { ChannelCounters } from "./counters.js";
import type { ChannelAccount } from "./ledger.js";

/** A channel that counts: every channel of an agent is wrapped in one, so that no plugin counts by itself. */
export class CountedChannel implements Channel {
  readonly counters = new ChannelCounters();
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
    this.#watch = { counters: this.counters, account, beforeCommit: this.#noteFilling };
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

  get transactionCapacity(): number {
    return this.#channel.transactionCapacity;
  }

  async start(): Promise<void> {
    await this.#channel.start();
    this.#noteLost();
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

  openPut(events?: number): PutTransaction {
    return new CountedPut(this.#channel.openPut(events), this.#watch);
  }

  openTake(): TakeTransaction {
    return new CountedTake(this.#channel.openTake(), this.counters, this.#noteLost);
  }

  readonly #noteLost = (): void => {
    const lost = this.#channel.lost ?? 0;
    this.#account?.lost(lost - this.#lost);
    this.#lost = lost;
  };

  readonly #noteFilling = (): void => {
    if (this.#channel.size === 0) this.#filledAt = this.#now();
  };
}

interface PutWatch {
  readonly counters: ChannelCounters;
  readonly account: ChannelAccount | undefined;
  readonly beforeCommit: () => void;
}

class CountedPut implements PutTransaction {
  #events = 0;

  constructor(
    private readonly transaction: PutTransaction,
    private readonly watch: PutWatch,
  ) {}

  put(event: Event): void {
    this.#events += 1;
    this.transaction.put(event);
  }

  /** A refusal counts once: at once only when waiting is of no use. */
  async reserve(waiting: Waiting): Promise<boolean> {
    try {
      return (await this.transaction.reserve?.(waiting)) ?? false;
    } catch (error) {
      if (waiting === "wait" || codeOf(error) !== "CHANNEL_FULL") this.watch.counters.putsFailed += this.#settle();
      throw error;
    }
  }

  async commit(): Promise<void> {
    const { counters, account, beforeCommit } = this.watch;
    const events = this.#settle();
    beforeCommit();
    try {
      await this.transaction.commit();
    } catch (error) {
      counters.putsFailed += events;
      throw error;
    }
    counters.putsOk += events;
    account?.accepted(events);
  }

  /** Not a failure of this channel: the notification was refused elsewhere. */
  async rollback(): Promise<void> {
    this.#settle();
    await this.transaction.rollback();
  }

  #settle(): number {
    const events = this.#events;
    this.#events = 0;
    return events;
  }
}

class CountedTake implements TakeTransaction {
  #events = 0;

  constructor(
    private readonly transaction: TakeTransaction,
    private readonly counters: ChannelCounters,
    private readonly noteLost: () => void,
  ) {}

  get positions(): TakePositions | undefined {
    return this.transaction.positions;
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    const events = await this.transaction.take(max, signal);
    this.#events += events.length;
    this.noteLost();
    return events;
  }

  async commit(): Promise<void> {
    await this.transaction.commit();
    this.counters.takesOk += this.#settle();
  }

  async rollback(): Promise<void> {
    this.counters.takesFailed += this.#settle();
    await this.transaction.rollback();
  }

  #settle(): number {
    const events = this.#events;
    this.#events = 0;
    return events;
  }
}
