import type { Waiting } from "../channel.js";
import type { Event } from "../event.js";

/** An event in a queue; later ones have larger sequence numbers. */
export interface QueuedEvent {
  readonly sequence: number;
  readonly event: Event;
  /** What it counts for in a queue with a limit in bytes. */
  readonly bytes?: number;
}

/** Room kept for events that are about to be added. It ends with exactly one of these calls. */
export interface Reservation {
  /** Adds the events; fails only when the device does, or when the channel has stopped. */
  add(): Promise<void>;
  /** Gives the room back. */
  release(): void;
}

/** What is left to write for a new kind of channel when QueuePut and QueueTake make its transactions. */
export interface EventQueue {
  /** Adds all events or none; resolves when they are as durable as the channel promises. */
  add(events: readonly Event[]): Promise<void>;
  /** Keeps room for the events, as PutTransaction.reserve says; absent: the channel cannot keep room. */
  reserve?(events: readonly Event[], waiting: Waiting): Promise<Reservation>;
  /** Waits as TakeTransaction.take does; what it returns belongs to the caller until it is released or restored. */
  take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]>;
  /** Forgets events that were taken. */
  release(taken: readonly QueuedEvent[]): Promise<void>;
  /** Puts events that were taken back where they were. */
  restore(taken: readonly QueuedEvent[]): void;
  /** Absent for channels that forget. */
  readonly positions?: QueuePositions;
}

/** Positions of a durable queue; see TakePositions. */
export interface QueuePositions {
  /** Where the channel stands once these events are done. */
  after(taken: readonly QueuedEvent[]): string;
  /** Those of the events that a stored position covers; none for a position of another channel. */
  coveredBy(position: string, taken: readonly QueuedEvent[]): readonly QueuedEvent[];
  /** Names an event over all restarts of its channel. */
  idOf(taken: QueuedEvent): string;
}

/** A take that waits for an event. */
export interface WaitingTake {
  readonly max: number;
  /** Ends the waiting with these events. */
  settle(events: readonly QueuedEvent[]): void;
}

/** Takes that wait for an event, first come first served, each until its signal aborts. */
export class WaitingTakes {
  readonly #waiting = new Set<WaitingTake>();

  get first(): WaitingTake | undefined {
    return this.#waiting.size === 0 ? undefined : this.#waiting.values().next().value;
  }

  wait(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    return new Promise((resolve) => {
      const abort = () => take.settle([]);
      const take: WaitingTake = {
        max,
        settle: (events) => {
          signal.removeEventListener("abort", abort);
          this.#waiting.delete(take);
          resolve(events);
        },
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.add(take);
    });
  }

  releaseAll(): void {
    for (const take of this.#waiting) take.settle([]);
  }
}
