import { type Event, type Logger, letterHeader, type Receipt, retryableOf } from "../../sdk/index.js";
import type { ReplayedLetters } from "../dead-letters/replayed-letters.js";
import { isPositionFault } from "./kinds-of-failure.js";
import { type Course, nothingSent, type Stage, type StoreQuestions } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

interface StoredLettersParts {
  readonly store: Pick<StoreQuestions, "alreadyStored">;
  readonly replayed: Pick<ReplayedLetters, "stored">;
  readonly log: Logger;
}

/**
 * Leaves out replayed dead letters that the store has: a process before this one ended before it could mark them, or their
 * file was restored. The store would store none of them twice, and its count of events would lack them.
 */
export class StoredLetters implements Stage {
  readonly name = "stored letters";
  readonly next: Stage;
  readonly #parts: StoredLettersParts;
  /** What is found after a write of this process was counted with it. */
  readonly #asked = new WeakSet<Event>();

  constructor(parts: StoredLettersParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const letters = batch.events.filter(
      (event) => event.headers[letterHeader] !== undefined && !this.#asked.has(event),
    );
    if (letters.length === 0 || batch.isShared) return await this.next.deliver(batch, course);
    const { replayed, log } = this.#parts;
    const stored = await this.#stored(batch.only(letters), course);
    for (const event of letters) this.#asked.add(event);
    if (stored.length > 0) {
      batch.settle("filtered", stored);
      await replayed.stored(stored);
      log.info({ events: stored.length }, "dead letters that are stored already are left out");
    }
    const open = batch.open();
    return open.events.length === 0 ? nothingSent : await this.next.deliver(open, course);
  }

  /** What the store refuses even to be asked of counts as not stored: it is written like anything else. */
  async #stored(letters: TakenBatch, { signal }: Course): Promise<readonly Event[]> {
    try {
      return await this.#parts.store.alreadyStored(letters, signal);
    } catch (error) {
      if (retryableOf(error) === false && !isPositionFault(error)) return [];
      throw error;
    }
  }
}
