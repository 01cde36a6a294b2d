import type { Channel, Event, PutTransaction, TakeTransaction } from "../sdk/index.js";
import { ChannelCounters } from "./counters.js";

/** A channel that counts: every channel of an agent is wrapped in one, so that no plugin counts by itself. */
export class CountedChannel implements Channel {
  readonly counters = new ChannelCounters();
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  get size(): number {
    return this.#channel.size;
  }

  get transactionCapacity(): number {
    return this.#channel.transactionCapacity;
  }

  start(): Promise<void> {
    return this.#channel.start();
  }

  stop(signal: AbortSignal): Promise<void> {
    return this.#channel.stop(signal);
  }

  async skipTo(position: string): Promise<void> {
    await this.#channel.skipTo?.(position);
  }

  openPut(): PutTransaction {
    return new CountedPut(this.#channel.openPut(), this.counters);
  }

  openTake(): TakeTransaction {
    return new CountedTake(this.#channel.openTake(), this.counters);
  }
}

class CountedPut implements PutTransaction {
  #events = 0;

  constructor(
    private readonly transaction: PutTransaction,
    private readonly counters: ChannelCounters,
  ) {}

  put(event: Event): void {
    this.#events += 1;
    this.transaction.put(event);
  }

  async commit(): Promise<void> {
    const events = this.#settle();
    try {
      await this.transaction.commit();
    } catch (error) {
      this.counters.putsFailed += events;
      throw error;
    }
    this.counters.putsOk += events;
  }

  async rollback(): Promise<void> {
    this.counters.putsFailed += this.#settle();
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
  ) {}

  get position(): string | undefined {
    return this.transaction.position;
  }

  positionAfter(count: number): string | undefined {
    return this.transaction.positionAfter?.(count);
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    const events = await this.transaction.take(max, signal);
    this.#events += events.length;
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
