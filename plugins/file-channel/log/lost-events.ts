import path from "node:path";
import type { Logger } from "deneb/sdk";
import type { ChannelState } from "./checkpoint.js";
import type { DoneRanges, Range } from "./done-ranges.js";
import type { FoundSegment } from "./found-segments.js";
import { NUMBERS_OF_ONE_RUN } from "./records.js";
import { segmentFile } from "./segments.js";

interface Known {
  readonly saved: ChannelState | undefined;
  readonly done: DoneRanges;
  readonly closed: boolean;
  readonly damaged: boolean;
  readonly inMemory: boolean;
  readonly log: Logger;
}

/** Reports events that must have been on disk and are missing; returns the number of those that are known to be lost. */
export function reportLost(
  found: readonly FoundSegment[],
  { saved, done, closed, damaged, inMemory, log }: Known,
): number {
  // Events in memory had numbers too: only after a close everything is on disk.
  const unknown = inMemory && !closed;
  const missing = missingEvents({
    found,
    done,
    // Events before the first file may have been done, and their files removed, after a lost or older checkpoint was written.
    from: saved === undefined || damaged ? (found[0]?.segment.first ?? 1) : 1,
    written: unknown ? 0 : writtenUntil(saved, closed),
  });
  const lost = missing.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  if (unknown && lost > 0)
    log.warn({ events: lost }, "events that were in memory alone are not there: stored, or lost with the process");
  if (unknown) return 0;
  const isKnown = saved !== undefined;
  for (const { file, from, to } of missing)
    log.error({ file, from, to, events: to - from + 1 }, isKnown ? LOST : IN_DOUBT);
  return isKnown ? lost : 0;
}

const LOST = "events are missing: their file was removed, cut or replaced";
// A file goes behind an event that waits, too, when its own are stored.
const IN_DOUBT =
  "events are missing: stored before the checkpoint was lost, or their file was removed, cut or replaced";

function writtenUntil(saved: ChannelState | undefined, closed: boolean): number {
  if (saved === undefined) return 0;
  return closed ? saved.next - 1 : (saved.written ?? 0);
}

/** Events that were accepted, are not done, and are in no file. */
interface Missing extends Range {
  /** The file that was cut, or the name of the missing one. */
  readonly file: string;
}

interface Accounted {
  /** In order, each with numbers of its own. */
  readonly found: readonly FoundSegment[];
  readonly done: DoneRanges;
  /** The first number that can be asked for. */
  readonly from: number;
  /** The last number that is known to have been on disk. */
  readonly written: number;
}

/** Events missing between the files, and behind them as far as numbers are known to have been written. */
function missingEvents({ found, done, from, written }: Accounted): readonly Missing[] {
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

/** After a crash the numbers continue higher: those that were skipped were never used. */
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
