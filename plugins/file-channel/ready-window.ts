import { type QueuedEvent, SequenceRing } from "deneb/sdk/channel";
import type { DoneRanges } from "./done-ranges.js";

/** The events that are taken next, in memory, and about how many bytes they are. */
export class ReadyWindow {
  readonly #ring = new SequenceRing();
  #bytes = 0;

  get length(): number {
    return this.#ring.length;
  }

  /** An estimate: the bytes of what was pushed, less the share of what was taken. */
  get bytes(): number {
    return this.#bytes;
  }

  push(events: readonly QueuedEvent[], bytes: number): void {
    this.#ring.push(events);
    this.#bytes += bytes;
  }

  shift(max: number): readonly QueuedEvent[] {
    const before = this.#ring.length;
    const events = this.#ring.shift(max);
    this.#bytes *= this.#ring.length / Math.max(before, 1);
    return events;
  }

  restore(events: readonly QueuedEvent[]): void {
    const before = this.#ring.length;
    this.#ring.restore(events);
    if (before > 0) this.#bytes *= this.#ring.length / before;
  }

  /** Removes and returns what is done. */
  drop(done: DoneRanges): readonly QueuedEvent[] {
    const bytes = this.#bytes;
    const events = this.shift(this.#ring.length);
    const isDone = ({ sequence }: QueuedEvent) => done.has(sequence);
    this.push(
      events.filter((event) => !isDone(event)),
      bytes,
    );
    return events.filter(isDone);
  }
}
