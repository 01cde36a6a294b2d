import type { OwnPart } from "./own-parts.js";

/** Whether the sinks of this agent get on: other agents get the parts of one whose sinks do not. */
export class StalledSinks {
  readonly #stallMillis: number;
  /** Since when none of the events that sinks have taken of a part is done. */
  readonly #taken = new Map<OwnPart, number>();
  /** Since when events wait and no sink takes, be it that the agent has no parts any more; undefined once one does. */
  #unservedSince: number | undefined;

  constructor(stallMillis: number) {
    this.#stallMillis = stallMillis;
  }

  /** A sink asks for events. */
  asks(): void {
    this.#unservedSince = undefined;
  }

  /** A sink has got events of the part; `now` is of a steady clock, in milliseconds. */
  took(own: OwnPart, now: number): void {
    if (!this.#taken.has(own)) this.#taken.set(own, now);
  }

  /** Events of the part are done. */
  getsOn(own: OwnPart): void {
    this.#taken.delete(own);
  }

  /** To be called several times in a session: it notes when events begin to wait. */
  look(parts: ReadonlyMap<number, OwnPart>, now: number): boolean {
    for (const own of this.#taken.keys()) if (parts.get(own.queue.part) !== own) this.#taken.delete(own);
    if ([...parts.values()].some(({ queue }) => queue.waiting > 0)) this.#unservedSince ??= now;
    const taken = [...this.#taken].filter(([{ queue }]) => queue.size > 0).map(([, since]) => since);
    return Math.min(...taken, this.#unservedSince ?? now) < now - this.#stallMillis;
  }
}
