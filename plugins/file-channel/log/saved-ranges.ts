import { countOf, type DoneRanges, type Range } from "./done-ranges.js";
import type { Segment } from "./segments.js";

/** Why the checkpoint has to name a range, the most important first. */
const NOT_IN_FILES = 0;
const WHOLE_FILE = 1;
const OTHER = 2;

interface Rated {
  readonly range: Range;
  readonly rank: number;
}

/**
 * What the checkpoint says to be done where it cannot name all ranges. First those with numbers that no file has, as of files that were
 * removed: a start without them would take these for lost events. Then those that let a file be removed, then the longest ones: what is
 * left out is delivered once more after a crash.
 */
export function rangesToSave(done: DoneRanges, segments: readonly Segment[], most: number): DoneRanges {
  if (done.ranges.length <= most) return done;
  const chosen = rated(done.ranges, segments).sort(inImportance).slice(0, most);
  return done.only(chosen.map(({ range }) => range).sort((one, other) => one.from - other.from));
}

function inImportance(one: Rated, other: Rated): number {
  if (one.rank !== other.rank) return one.rank - other.rank;
  // The newest of those that no file has are numbers of failed writes.
  return one.rank === OTHER ? countOf(other.range) - countOf(one.range) : one.range.from - other.range.from;
}

function rated(ranges: readonly Range[], segments: readonly Segment[]): Rated[] {
  const files = segments.filter(({ isEmpty }) => !isEmpty);
  let first = 0;
  return ranges.map((range) => {
    while ((files[first]?.last ?? Number.POSITIVE_INFINITY) < range.from) first += 1;
    return { range, rank: rankOf(range, files, first) };
  });
}

function rankOf({ from, to }: Range, files: readonly Segment[], first: number): number {
  let rank = OTHER;
  let next = from;
  for (let at = first; next <= to; at += 1) {
    const file = files[at];
    if (file === undefined || file.first > next) return NOT_IN_FILES;
    if (file.first >= from && file.last <= to) rank = WHOLE_FILE;
    next = file.last + 1;
  }
  return rank;
}
