import type { HttpConfig } from "./config.js";

/** What a piece of a body costs beside its bytes. */
const PIECE_BYTES = 256;

/** A body is small up to here. */
const SMALL_BYTES = 262_144;

/** How much of the budget bodies that are not small may have together. */
const LARGE_SHARE = 0.75;

export type BudgetLimits = Pick<HttpConfig, "max_bytes_in_flight" | "max_body_size">;

/**
 * The bytes of bodies that a source holds, of all connections together, from the first piece of a body to its answer.
 * A part of them is kept for small bodies, so that senders of large ones that never end keep nobody else out. One body
 * of the largest size always has room.
 */
export class BodyBudget {
  #limits: BudgetLimits;
  #used = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** From now on; what was granted stays granted. */
  set limits(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get used(): number {
    return this.#used;
  }

  /** What a further piece of a body costs that has been granted `before`; 0 when there is no room for it. */
  grant(bytes: number, before: number): number {
    const cost = bytes + PIECE_BYTES;
    const { max_bytes_in_flight: all, max_body_size } = this.#limits;
    const share = before + cost > SMALL_BYTES ? LARGE_SHARE * all : all;
    const others = this.#used - before;
    const isAlone = others === 0 && before + bytes <= 2 * max_body_size;
    if (this.#used + cost > share && !isAlone) return 0;
    this.#used += cost;
    return cost;
  }

  release(granted: number): void {
    this.#used -= granted;
  }
}
