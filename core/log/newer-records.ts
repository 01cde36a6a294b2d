import type { OwnPart } from "./own-parts.js";

/** How often a record of a later version is asked for again. */
const AGAIN_MILLIS = 5000;

interface Newer {
  readonly error: unknown;
  readonly until: number;
}

/** Parts of which the next record is of a later version: each waits, and holds up no other one. */
export class NewerRecords {
  readonly #newer = new Map<OwnPart, Newer>();

  note(own: OwnPart, error: unknown): void {
    this.#newer.set(own, { error, until: performance.now() + AGAIN_MILLIS });
  }

  /** Something was read of the part. */
  forget(own: OwnPart): void {
    this.#newer.delete(own);
  }

  /** Whether the part is not to be read now. */
  waits(own: OwnPart): boolean {
    return performance.now() < (this.#newer.get(own)?.until ?? 0);
  }

  /** Why one of these parts waits; undefined where none does. */
  failure(parts: ReadonlyMap<number, OwnPart>): unknown {
    for (const own of this.#newer.keys()) if (parts.get(own.queue.part) !== own) this.#newer.delete(own);
    const [first] = this.#newer.values();
    return first?.error;
  }
}
