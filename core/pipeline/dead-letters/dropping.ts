import { codeOf } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import type { Compaction } from "./compaction.js";
import type { DeadLetterFile } from "./file.js";
import type { LetterIndex } from "./letter-index.js";
import type { MarkCondition } from "./letter-table.js";
import { type LetterIds, portionsOf } from "./portions.js";

interface DroppingParts {
  readonly file: DeadLetterFile;
  readonly compaction: Pick<Compaction, "compact" | "alone">;
  /** Of this process. */
  readonly run: string;
  readonly clock: Clock;
  /** Whether the letters are those of several agents. */
  readonly isShared: () => boolean;
  /** The index; called while nobody else changes the file. */
  readonly read: () => Promise<LetterIndex>;
  /** Marks letters as dropped for which the condition holds; resolves to their ids. */
  mark(ids: readonly string[], when: MarkCondition): Promise<readonly string[]>;
}

/** Drops letters of one sink and removes them from the disk, also from one that has no room. */
export class Dropping {
  readonly #parts: DroppingParts;

  constructor(parts: DroppingParts) {
    this.#parts = parts;
  }

  /**
   * Resolves to how many it dropped. Where the disk has no room for their marks, the file is rewritten without them; only then all
   * ids are held together.
   */
  async drop(ids: LetterIds, when: MarkCondition): Promise<number> {
    const { mark, isShared, compaction } = this.#parts;
    let dropped = 0;
    const portions = portionsOf(ids);
    for await (const some of portions) {
      try {
        dropped += (await mark(some, when)).length;
      } catch (error) {
        if (isShared() || !isWithoutRoom(error)) throw error;
        for await (const more of portions) some.push(...more);
        return dropped + (await this.#dropUnmarked(some, when, error));
      }
    }
    if (dropped > 0) await compaction.compact();
    return dropped;
  }

  async #dropUnmarked(ids: readonly string[], when: MarkCondition, unmarked: unknown): Promise<number> {
    const { file, clock, run, compaction, read } = this.#parts;
    return await compaction.alone(async (signal) => {
      const index = await read();
      const chosen = ids.filter((id) => when(index.entry(id)));
      try {
        const write = await file.beginDraft(signal, new Set(chosen));
        await (await write?.())?.finish();
      } catch {
        // There is no room for what stays either.
        throw unmarked;
      }
      const time = clock.now().toISOString();
      for (const id of chosen) index.note({ id, mark: "dropped", time, run }, 0);
      index.settledTexts = 0;
      index.forgetSettled();
      return chosen.length;
    });
  }
}

function isWithoutRoom(error: unknown): boolean {
  const code = error instanceof Error ? codeOf(error.cause) : undefined;
  return code === "ENOSPC" || code === "EDQUOT";
}
