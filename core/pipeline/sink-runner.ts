import { type Channel, type Event, type Logger, reasonOf, type TakeTransaction } from "../sdk/index.js";
import { type BatchLimits, takeBatch } from "./batcher.js";
import type { SinkCounters } from "./counters.js";
import type { SinkDelivery } from "./delivery.js";
import { wait } from "./wait.js";

/** Milliseconds before the loop goes on after its channel failed. */
const pauseAfterChannelFailure = 1000;

export interface SinkRunnerParts {
  readonly channel: Channel;
  readonly delivery: SinkDelivery;
  readonly batching: Pick<BatchLimits, "batchSize" | "batchTimeout">;
  readonly counters: SinkCounters;
  readonly log: Logger;
}

/** The loop of one sink: take a batch, deliver it, commit the take. */
export class SinkRunner {
  readonly #parts: SinkRunnerParts;
  readonly #draining = new AbortController();
  readonly #ending = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: SinkRunnerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Stores what is left in the channel, then ends; gives up the rest when the signal aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    const end = () => this.#ending.abort();
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    this.#draining.abort();
    await this.#loop;
    signal.removeEventListener("abort", end);
  }

  async #run(): Promise<void> {
    let more = true;
    while (more && !this.#ending.signal.aborted) {
      try {
        more = await this.#round();
      } catch (error) {
        this.#parts.log.error({ reason: reasonOf(error) }, "channel failed, going on");
        await wait(pauseAfterChannelFailure, this.#ending.signal);
      }
    }
  }

  /** Takes, delivers and commits one batch; false when there is nothing left to do. */
  async #round(): Promise<boolean> {
    const transaction = this.#parts.channel.openTake();
    const events = await this.#take(transaction);
    if (events.length === 0) {
      await transaction.rollback();
      return !this.#draining.signal.aborted;
    }
    this.#parts.counters.processed += events.length;
    if (await this.#parts.delivery.deliver(events, this.#ending.signal)) await transaction.commit();
    else await transaction.rollback();
    return true;
  }

  async #take(transaction: TakeTransaction): Promise<readonly Event[]> {
    const { batching, channel } = this.#parts;
    const limits = { ...batching, transactionCapacity: channel.transactionCapacity };
    try {
      return await takeBatch(transaction, limits, this.#draining.signal);
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }
}
