import type { ReadPosition } from "../client/common-ends.js";
import type { Place } from "../client/directory.js";
import type { Committed } from "./coordinator.js";
import type { Mark } from "./mark.js";

/** Where a partition is read on, and of which of its logs. */
export type Beginning = ReadPosition & Mark;

/** Up to where a source has read partitions, and the channels have them, perhaps without having told its group. */
export class Reached {
  readonly #farthest = new Map<string, Beginning>();
  /** Where reading stood last: before the farthest after offsets were moved back. */
  readonly #present = new Map<string, number>();
  /** What the group was told last. */
  readonly #told = new Map<string, number>();

  /** The farthest. */
  of(topicId: string, place: Place): Beginning | undefined {
    return this.#farthest.get(keyOf(topicId, place));
  }

  /** Reading stands here. What is farther was read before, unless it was lost since. */
  note(topicId: string, position: Beginning): void {
    const key = keyOf(topicId, position);
    this.#present.set(key, position.offset);
    const known = this.#farthest.get(key);
    const isFarther = known !== undefined && known.offset > position.offset;
    if (isFarther && known.cuts.at(-1) === position.cuts.at(-1)) return;
    this.#farthest.set(key, position);
  }

  /** The group knows this. */
  tell(topicId: string, place: Place & { readonly offset: number }): void {
    this.#told.set(keyOf(topicId, place), place.offset);
  }

  /**
   * Where reading goes on, given what the group knows now: what this source has read itself it need not read again. Where tools have
   * moved the offsets it is to, also when another source has read on from there.
   */
  goesOnAt(topicId: string, place: Place, known: Committed | undefined): number | undefined {
    const key = keyOf(topicId, place);
    const present = this.#present.get(key);
    if (known === undefined || present === undefined) return present ?? known?.offset;
    const isMoved = known.note === "" || known.offset < (this.#told.get(key) ?? 0);
    return isMoved ? known.offset : Math.max(known.offset, present);
  }
}

function keyOf(topicId: string, { partition }: Place): string {
  return `${topicId}:${partition}`;
}
