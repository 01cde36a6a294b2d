import type { ReadPosition } from "../client/common-ends.js";
import type { Place } from "../client/directory.js";
import type { Mark } from "./mark.js";

/** Where a partition is read on, and of which of its logs. */
export type Beginning = ReadPosition & Mark;

/** Up to where a source has read partitions, perhaps without having told its group: what it has put may be gone before that. */
export class Reached {
  readonly #positions = new Map<string, Beginning>();

  of(topicId: string, { partition }: Place): ReadPosition | undefined {
    return this.#positions.get(`${topicId}:${partition}`);
  }

  /** Reading stands here. What is farther was read before, unless it was lost since. */
  note(topicId: string, position: Beginning): void {
    const key = `${topicId}:${position.partition}`;
    const known = this.#positions.get(key);
    const isFarther = known !== undefined && known.offset > position.offset;
    if (isFarther && known.cuts.at(-1) === position.cuts.at(-1)) return;
    this.#positions.set(key, position);
  }
}
