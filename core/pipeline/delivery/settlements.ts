import type { Event } from "../../sdk/index.js";

/** What became of an event of a batch. */
export type Outcome = "stored" | "dead-lettered" | "filtered";

/** How many events ended in each way. */
export type Settled = Readonly<Record<Outcome, number>>;

/**
 * What became of events that are still in their channel. A batch that was split and then abandoned goes back whole;
 * those of its events that are stored already must not be stored again when they are taken the next time.
 */
export class Settlements {
  #outcomes = new WeakMap<Event, Outcome>();

  /** From now on the outcomes of both are the same: events move from one channel to the other. */
  join(other: Settlements): void {
    this.#outcomes = other.#outcomes;
  }

  note(events: readonly Event[], outcome: Outcome): void {
    for (const event of events) this.#outcomes.set(event, outcome);
  }

  /** The events that are not settled. */
  open(events: readonly Event[]): readonly Event[] {
    return events.some((event) => this.#outcomes.has(event))
      ? events.filter((event) => !this.#outcomes.has(event))
      : events;
  }

  isStored(event: Event): boolean {
    return this.#outcomes.get(event) === "stored";
  }

  /** Counts the outcomes of events that have left the channel, and forgets them. */
  close(events: readonly Event[]): Settled {
    const settled = { stored: 0, "dead-lettered": 0, filtered: 0 };
    for (const event of events) {
      const outcome = this.#outcomes.get(event);
      if (outcome !== undefined) settled[outcome] += 1;
    }
    for (const event of events) this.#outcomes.delete(event);
    return settled;
  }
}
