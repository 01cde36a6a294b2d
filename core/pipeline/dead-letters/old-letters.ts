import type { Logger } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import type { OpenLetter } from "./dead-letter.js";
import type { DeadLetterFile } from "./file.js";
import type { LetterIndex } from "./letter-index.js";
import type { MarkCondition } from "./letter-table.js";
import { type DeadLetterLimits, LetterAge } from "./limits.js";

interface OldLettersParts {
  readonly sink: string;
  readonly file: DeadLetterFile;
  readonly limits: DeadLetterLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds since some moment; nobody sets them. */
  readonly uptime: () => number;
  readonly index: () => Promise<LetterIndex>;
  /** Drops the letters for which the condition holds; resolves to how many. */
  drop(ids: AsyncIterable<string>, when: MarkCondition): Promise<number>;
}

/** The letters of a sink that are too old, where the operator asked for their removal. */
export class OldLetters {
  readonly #parts: OldLettersParts;
  readonly #age: LetterAge | undefined;

  constructor(parts: OldLettersParts) {
    const { limits, clock, uptime } = parts;
    this.#parts = parts;
    this.#age = limits.days === 0 ? undefined : new LetterAge(limits.days, clock, uptime);
  }

  async remove(): Promise<void> {
    if (this.#age === undefined) return;
    const { sink, file, log, limits, drop } = this.#parts;
    const { cutoff, state } = this.#age.look();
    const index = await this.#parts.index();
    const { oldest } = index.counts(sink);
    if (oldest === undefined || oldest.getTime() >= cutoff || state === "waiting") return;
    if (state === "begun") {
      const fields = { sink, oldest: oldest.toISOString(), days: limits.days };
      log.warn(fields, "dead letters are too old and will be removed when they still are after a day of uptime");
      return;
    }
    const deleted = await drop(waitingBefore(cutoff, file.open(index)), (entry) => entry?.mark === "waiting");
    index.deleted += deleted;
    log.error({ sink, letters: deleted, days: limits.days }, "dead letters removed: they were too old");
  }
}

async function* waitingBefore(cutoff: number, letters: AsyncIterable<OpenLetter>): AsyncGenerator<string> {
  for await (const { id, time, state } of letters) if (state === "waiting" && Date.parse(time) < cutoff) yield id;
}
