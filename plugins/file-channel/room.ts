import { AgentError } from "deneb/sdk";
import { type ChannelLimits, channelFull, channelStopped, WaitingPuts } from "deneb/sdk/channel";
import { type PutTexts, storedBytes } from "./encode-group.js";

export interface QueueLimits extends ChannelLimits {
  readonly byteCapacity: number;
  /** Events kept in memory alone; what comes when there are as many goes to disk. */
  readonly memoryCapacity: number;
}

export interface Amount {
  readonly events: number;
  readonly bytes: number;
}

/** Lets puts in while there is room for them, in the order in which they came. */
export class Room {
  readonly #limits: QueueLimits;
  readonly #held: () => Amount;
  readonly #waiting: WaitingPuts<PutTexts>;
  #entered = { puts: 0, events: 0, bytes: 0 };
  #closed = false;

  /** `held` tells what is in the channel, without the puts that entered and did not settle. */
  constructor(limits: QueueLimits, held: () => Amount) {
    this.#limits = limits;
    this.#held = held;
    this.#waiting = new WaitingPuts(limits.patience * 1000);
  }

  /** Whether no put waits or is on its way. */
  get isQuiet(): boolean {
    return this.#entered.puts === 0 && this.#waiting.first === undefined;
  }

  async enter(put: PutTexts): Promise<void> {
    if (this.#waiting.first === undefined && this.#fits(put)) return this.#count(put, 1);
    if (await this.#waiting.wait(put)) return;
    this.admitWaiting();
    throw this.#closed ? channelStopped(this.#limits.channel) : this.#full(put);
  }

  /** The put is in the channel, or will never be. */
  settle(put: PutTexts): void {
    this.#count(put, -1);
    this.admitWaiting();
  }

  admitWaiting(): void {
    for (let put = this.#waiting.first; put !== undefined && this.#fits(put.item); put = this.#waiting.first) {
      this.#count(put.item, 1);
      put.settle(true);
    }
  }

  close(): void {
    this.#closed = true;
    this.#waiting.refuseAll();
  }

  #fits(put: PutTexts): boolean {
    const held = this.#held();
    const events = held.events + this.#entered.events + put.texts.length;
    return events <= this.#limits.capacity && this.#bytesWith(put, held) <= this.#limits.byteCapacity;
  }

  #bytesWith(put: PutTexts, { bytes }: Amount): number {
    return bytes + this.#entered.bytes + storedBytes(put);
  }

  #count(put: PutTexts, sign: 1 | -1): void {
    const { puts, events, bytes } = this.#entered;
    this.#entered = {
      puts: puts + sign,
      events: events + sign * put.texts.length,
      bytes: bytes + sign * storedBytes(put),
    };
  }

  #full(put: PutTexts): AgentError {
    const { channel, byteCapacity, patience } = this.#limits;
    if (this.#bytesWith(put, this.#held()) <= byteCapacity) return channelFull(this.#limits, put.texts.length);
    const wanted = `${storedBytes(put)} bytes within ${patience} s, its byteCapacity is ${byteCapacity}`;
    return new AgentError("CHANNEL_FULL", `channel "${channel}" is full: no room for ${wanted}`, { retryable: true });
  }
}
