import type { Clock } from "../../tokens.js";
import type { LetterMark, SentLetter } from "./dead-letter.js";
import type { LetterIndex } from "./letter-index.js";
import type { MarkCondition } from "./letter-table.js";
import type { LetterChange, LetterSharing } from "./shared-changes.js";

/** How letters are marked. */
export interface Marking {
  readonly mark: LetterMark["mark"];
  readonly when: MarkCondition;
  readonly time: string;
  /** By id, where stored letters stood when their events were sent. */
  readonly sent?: ReadonlyMap<string, number | undefined>;
}

interface SharedMarksParts {
  readonly sink: string;
  /** Of this process. */
  readonly run: string;
  readonly clock: Clock;
  readonly index: () => Promise<LetterIndex>;
}

/** The marks of letters that agents share: each is made when it comes back from their log, if it counts then. */
export class SharedMarks {
  readonly #parts: SharedMarksParts;

  constructor(parts: SharedMarksParts) {
    this.#parts = parts;
  }

  /** Resolves to the letters whose mark counts, and where each of these marks stands. */
  async mark(
    ids: readonly string[],
    { mark, when, time, sent }: Marking,
    sharing: LetterSharing,
  ): Promise<readonly SentLetter[]> {
    const { sink, run } = this.#parts;
    const index = await this.#parts.index();
    const changes = ids.flatMap((id): LetterChange | readonly [] => {
      const entry = index.entry(id);
      return when(entry) ? { sink, record: { id, mark, time, run, sentAt: sent?.get(id) }, after: entry?.offset } : [];
    });
    return await published(changes, sharing);
  }

  /** Marks letters as stored unless they have changed since their events were sent; resolves to their ids. */
  async storedUnlessChanged(letters: readonly SentLetter[], sharing: LetterSharing): Promise<readonly string[]> {
    const { sink, run, clock } = this.#parts;
    const index = await this.#parts.index();
    const time = clock.now().toISOString();
    const changes = letters.flatMap(({ id, sentAt }): LetterChange | readonly [] => {
      const entry = index.entry(id);
      // An agent of a version before this one did not say where it stood.
      const after = sentAt ?? (entry?.mark === "replaying" ? entry.offset : undefined);
      if (after === undefined || (entry?.offset ?? after) > after) return [];
      return { sink, record: { id, mark: "stored", time, run, sentAt: after }, after, unlessChanged: true };
    });
    return (await published(changes, sharing)).map(({ id }) => id);
  }
}

async function published(changes: readonly LetterChange[], sharing: LetterSharing): Promise<readonly SentLetter[]> {
  const offsets = changes.length === 0 ? [] : await sharing.publish(changes);
  return changes.flatMap(({ record: { id } }, at): SentLetter | readonly [] => {
    const sentAt = offsets[at];
    return sentAt === undefined ? [] : { id, sentAt };
  });
}
