import { type Logger, reasonOf } from "../../sdk/index.js";
import type { DeadLetters } from "./dead-letters.js";
import { NewestIds } from "./newest-ids.js";

/** Events of which it is known that this agent has stored them: some seconds of much load, and more of less. */
const rememberedEvents = 20_000;

/** A letter by its event. */
export interface LetterOfEvent {
  readonly sink: string;
  readonly id: string;
}

interface LateLettersParts {
  readonly letters: Pick<DeadLetters, "markStored">;
  readonly log: Logger;
}

/**
 * Letters that come into the log while, or after, this agent stores their events: an agent that was frozen, or cut off from the log, wrote
 * them. A replay would store the events once more, so the letters are marked as stored.
 */
export class LateLetters {
  readonly #parts: LateLettersParts;
  readonly #stored = new NewestIds(rememberedEvents);
  /** Those to be marked, by sink. */
  readonly #open = new Map<string, Set<string>>();
  #isMarking = false;

  constructor(parts: LateLettersParts) {
    this.#parts = parts;
  }

  /** This agent has stored an event; `letter`: if it has one nevertheless. */
  stored(idInChannel: string, letter: LetterOfEvent | undefined): void {
    this.#stored.add(idInChannel);
    if (letter !== undefined) this.#add(letter);
  }

  /** An event has a letter now. */
  written(idInChannel: string, letter: LetterOfEvent): void {
    if (this.#stored.has(idInChannel)) this.#add(letter);
  }

  /** Marks what is left of them; what cannot be marked now is with the next call. */
  async mark(): Promise<void> {
    if (this.#isMarking) return;
    this.#isMarking = true;
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) await this.#markThose(next);
    } catch (error) {
      const message =
        "dead letters that came behind the rows of their events are not marked as stored, will be tried again";
      this.#parts.log.warn({ reason: reasonOf(error) }, message);
    } finally {
      this.#isMarking = false;
    }
  }

  #next(): Late | undefined {
    for (const [sink, ids] of this.#open) return { sink, ids };
    return undefined;
  }

  #add({ sink, id }: LetterOfEvent): void {
    const own = this.#open.get(sink) ?? new Set();
    own.add(id);
    this.#open.set(sink, own);
    void this.mark();
  }

  async #markThose({ sink, ids }: Late): Promise<void> {
    const { letters, log } = this.#parts;
    const marked = [...ids];
    await letters.markStored(
      sink,
      marked.map((id) => ({ id, sentAt: undefined })),
    );
    for (const id of marked) ids.delete(id);
    if (ids.size === 0) this.#open.delete(sink);
    log.info(
      { sink, letters: marked.length },
      "dead letters that came behind the rows of their events count as stored",
    );
  }
}

/** Letters to be marked. */
interface Late {
  readonly sink: string;
  readonly ids: Set<string>;
}
