import type { Logger } from "../../sdk/index.js";
import type { DeadLetters } from "./dead-letters.js";
import { NewestIds } from "./newest-ids.js";
import { StoredMarks } from "./stored-marks.js";

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
  /** See {@link StoredMarks}. */
  readonly markAgain?: number;
}

/**
 * Letters that come into the log while, or after, this agent stores their events: an agent that was frozen, or cut off from the log, wrote
 * them. A replay would store the events once more, so the letters are marked as stored.
 */
export class LateLetters {
  readonly #parts: LateLettersParts;
  readonly #stored = new NewestIds(rememberedEvents);
  readonly #marks: StoredMarks;
  /** Those of this moment, by sink. */
  readonly #open = new Map<string, string[]>();

  constructor(parts: LateLettersParts) {
    this.#parts = parts;
    this.#marks = new StoredMarks(parts.log, parts.markAgain);
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

  #add({ sink, id }: LetterOfEvent): void {
    const own = this.#open.get(sink);
    if (own === undefined) {
      this.#open.set(sink, [id]);
      void this.#mark(sink);
    } else own.push(id);
  }

  /** Those that come in one moment are marked together. */
  async #mark(sink: string): Promise<void> {
    await Promise.resolve();
    const { letters, log } = this.#parts;
    const late = (this.#open.get(sink) ?? []).map((id) => ({ id, sentAt: undefined }));
    this.#open.delete(sink);
    await this.#marks.make(late.length, async () => {
      await letters.markStored(sink, late);
      log.info(
        { sink, letters: late.length },
        "dead letters that came behind the rows of their events count as stored",
      );
    });
  }
}
