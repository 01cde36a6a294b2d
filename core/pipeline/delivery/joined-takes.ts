import type { Channel, Event, TakeTransaction } from "../../sdk/index.js";

const noWaiting = AbortSignal.abort();

/**
 * Several take transactions of a channel that look like one: together they hold more events than each of them may. Not
 * for channels with positions, which leave out what other open transactions hold.
 */
export class JoinedTakes implements TakeTransaction {
  readonly #channel: Pick<Channel, "openTake" | "transactionCapacity">;
  readonly #parts: TakeTransaction[] = [];
  #held = 0;

  constructor(channel: Pick<Channel, "openTake" | "transactionCapacity">) {
    this.#channel = channel;
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    const events = [...(await this.#takePart(max, signal))];
    while (events.length > 0 && events.length < max) {
      const more = await this.#takePart(max - events.length, noWaiting);
      if (more.length === 0) break;
      for (const event of more) events.push(event);
    }
    return events;
  }

  isRedelivered(event: Event): boolean {
    return this.#parts.some((part) => part.isRedelivered?.(event) === true);
  }

  async commit(): Promise<void> {
    for (const part of this.#parts) await part.commit();
  }

  /** In reverse order, so that the channel has its order back. */
  async rollback(): Promise<void> {
    for (const part of [...this.#parts].reverse()) await part.rollback();
  }

  async #takePart(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    const { transactionCapacity } = this.#channel;
    if (this.#parts.length === 0 || this.#held === transactionCapacity) {
      this.#parts.push(this.#channel.openTake());
      this.#held = 0;
    }
    const events = (await this.#parts.at(-1)?.take(Math.min(max, transactionCapacity - this.#held), signal)) ?? [];
    this.#held += events.length;
    return events;
  }
}
