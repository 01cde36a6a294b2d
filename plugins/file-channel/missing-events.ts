import path from "node:path";
import type { DoneRanges, Range } from "./done-ranges.js";
import type { FoundSegment } from "./find-segments.js";
import { segmentFile } from "./segment.js";

/**
 * How far the numbers go on after an unclean end: more than a process can have given to events without its being on disk,
 * and so few that 16 million unclean ends leave enough. Earlier versions jumped by a multiple of it.
 */
export const NUMBERS_OF_ONE_RUN = 2 ** 24;

/** Events that were accepted, are not done, and are in no file. */
export interface Missing extends Range {
  /** The file that was cut, or the name of the one that is not there. */
  readonly file: string;
}

export interface Accounted {
  /** In order, each with numbers of its own. */
  readonly found: readonly FoundSegment[];
  readonly done: DoneRanges;
  /** The first number that can be asked for. */
  readonly from: number;
  /** The last number that is known to have been on disk. */
  readonly written: number;
}

/** What lies between the files, and behind them as far as numbers are known to have been written. */
export function missingEvents({ found, done, from, written }: Accounted): readonly Missing[] {
  const missing: Missing[] = [];
  let next = from;
  let before: FoundSegment | undefined;
  const ask = (to: number) => {
    for (const range of done.openIn({ from: next, to }).flatMap(withoutJump))
      missing.push({ ...range, file: fileOf(range, before, found) });
  };
  for (const one of found.filter(({ segment }) => !segment.isEmpty)) {
    ask(one.segment.first - 1);
    next = Math.max(next, one.segment.last + 1);
    before = one;
  }
  ask(written);
  return missing;
}

/** After an unclean end the numbers go on higher: what is left out then was never used. */
function withoutJump({ from, to }: Range): readonly Range[] {
  const events = (to - from + 1) % NUMBERS_OF_ONE_RUN;
  return events === 0 ? [] : [{ from, to: from + events - 1 }];
}

function fileOf({ from }: Range, before: FoundSegment | undefined, found: readonly FoundSegment[]): string {
  const emptied = found.find(({ named, segment }) => named === from && segment.isEmpty);
  if (emptied !== undefined) return emptied.segment.file;
  if (before !== undefined && !before.sealed && before.segment.last === from - 1) return before.segment.file;
  return path.basename(segmentFile("", from));
}
