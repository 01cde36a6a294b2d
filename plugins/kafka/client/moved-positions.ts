import type { Extent, Position } from "./offsets.js";

/** How often a position beyond the end of its partition is looked at again. */
const BEYOND_MILLIS = 1000;

interface Moved {
  readonly asked: number;
  /** Where reading goes on; undefined: it waits, beyond the end. */
  readonly to: number | undefined;
  readonly until: number;
}

/** Positions whose records were removed, and those that are not there yet. */
export class MovedPositions {
  readonly #moved = new Map<string, Moved>();

  /** Notes what partitions hold that do not have the positions that were asked for. */
  note(outside: readonly Position[], extents: readonly Extent[]): void {
    for (const { topic, partition, first } of extents) {
      const asked = outside.find((place) => place.topic === topic && place.partition === partition)?.offset ?? 0;
      const to = asked < first ? first : undefined;
      this.#moved.set(`${topic}:${partition}`, { asked, to, until: performance.now() + BEYOND_MILLIS });
    }
  }

  /** The positions to ask for: set right, and without those that wait. */
  apply(positions: readonly Position[]): readonly Position[] {
    if (this.#moved.size === 0) return positions;
    return positions.flatMap((position) => {
      const key = `${position.topic}:${position.partition}`;
      const moved = this.#moved.get(key);
      if (moved === undefined) return [position];
      if (moved.asked === position.offset) {
        if (moved.to !== undefined) return [{ ...position, offset: moved.to }];
        if (performance.now() < moved.until) return [];
      }
      this.#moved.delete(key);
      return [position];
    });
  }
}
