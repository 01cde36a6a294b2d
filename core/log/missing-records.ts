import type { Logger } from "../sdk/index.js";
import type { OwnPart } from "./own-parts.js";

interface Missing {
  /** Since when, by a steady clock. */
  readonly since: number;
  /** How much of it is counted. */
  told: number;
}

/**
 * Counts what is missing in the parts of this agent. An agent that was stopped for a time and goes on reads what others have
 * stored and removed since, until it hears that the part is no longer its own: only what is missing for a session counts.
 */
export class MissingRecords {
  readonly #sessionMillis: number;
  readonly #log: Logger;
  readonly #missing = new WeakMap<OwnPart, Missing>();
  #lost = 0;

  constructor(sessionMillis: number, log: Logger) {
    this.#sessionMillis = sessionMillis;
    this.#log = log;
  }

  /** Events; where their number is not known, records. */
  get lost(): number {
    return this.#lost;
  }

  /** To be called several times in a session; `now` is of a steady clock, in milliseconds. */
  look(parts: ReadonlyMap<number, OwnPart>, now: number): void {
    for (const [part, own] of parts) {
      const { lost } = own.queue;
      if (lost === 0) continue;
      const missing = this.#missing.get(own) ?? { since: now, told: 0 };
      this.#missing.set(own, missing);
      if (now - missing.since < this.#sessionMillis || lost <= missing.told) continue;
      this.#log.error(
        { partition: part, lost: lost - missing.told },
        "records of the log are missing: they were removed before they were stored. See that neither the retention of the engine " +
          "nor anybody else removes records; the agents remove what is stored",
      );
      this.#lost += lost - missing.told;
      missing.told = lost;
    }
  }
}
