import { randomBytes } from "node:crypto";
import type { Logger } from "deneb/sdk";
import type { ChannelState, RunLimits } from "./checkpoint.js";
import { DoneRanges, type Range, without } from "./done-ranges.js";
import { commonId, type FoundSegment, findSegments, ownSegments } from "./found-segments.js";
import { reportLost } from "./lost-events.js";
import { HIGHEST_SEQUENCE, NUMBERS_OF_ONE_RUN } from "./records.js";
import type { Segment } from "./segments.js";

/** The state of an open channel besides its events. */
export interface LogState {
  readonly id: string;
  readonly formerIds: readonly string[];
  /** This opening of the channel. */
  readonly run: string;
  /** Those that handed out events; undefined when they were lost with the checkpoint. */
  runs: readonly string[] | undefined;
  /** By run: the largest number that a position of it can have. */
  readonly limits: RunLimits;
  readonly done: DoneRanges;
  /** The largest number that a position of any earlier run can have. */
  readonly earlier: number;
  /** The next sequence number. */
  next: number;
  /** The next number that the checkpoint on disk has. */
  savedNext: number;
  /** Numbers that are in no file and count as done, until a file with them is back: those of earlier starts. */
  missingBefore: readonly Range[];
  /** Those of this start. */
  missing: readonly Range[];
  /** The first number under which events that are back are being written again, by this start or an earlier one that ended in it. */
  returning: number | undefined;
}

interface Restored {
  readonly state: LogState;
  readonly segments: readonly Segment[];
  /** Files with events that were missing at an earlier start. */
  readonly returned: readonly ReturnedSegment[];
  /** Events that were accepted, are not done and are in no file. */
  readonly lost: number;
}

/** A file that was away at an earlier start, as on a disk that was not mounted, with its events that count as lost. */
export interface ReturnedSegment {
  readonly segment: Segment;
  readonly ranges: readonly Range[];
}

/** Where the files are, and how to read them. */
interface Remains {
  readonly folders: readonly string[];
  /** True when a newer checkpoint than the one that was read may have existed. */
  readonly damaged: boolean;
  /** True when events may have had numbers without ever being on disk. */
  readonly inMemory: boolean;
  /** True when the channel takes another id. */
  readonly newId: boolean;
}

/** Restores the state from the checkpoint and the segments. Damage is reported and does not prevent the start. */
export async function restoreState(saved: ChannelState | undefined, remains: Remains, log: Logger): Promise<Restored> {
  const all = await findSegments(remains.folders, log);
  if (saved === undefined && all.length > 0) {
    log.error({ segments: all.length }, "checkpoint lost: everything in the segments is delivered again");
  }
  const { id, formerIds, runs } = identityOf(saved, all, remains.newId);
  const found = ownSegments(all, [id, ...formerIds], log);
  const highest = found.reduce((most, { segment }) => Math.max(most, segment.last), saved?.done.highest ?? 0);
  // Events written after it show that the checkpoint is not that of the last close.
  const closed = saved?.closed === true && highest < saved.next;
  const isNew = saved === undefined && runs !== undefined;
  // Without a close the numbers used in memory alone are not known, and a database may keep a position above them: an event
  // that got such a number again would be taken for stored.
  const jump = closed || isNew ? 0 : NUMBERS_OF_ONE_RUN;
  const names = all.map(({ named }) => named + (jump > 0 ? 0 : 1)).filter((name) => name < HIGHEST_NAME);
  const used = Math.max(saved?.next ?? 1, highest + 1);
  const next = names.reduce((most, name) => Math.max(most, name), used) + jump;
  const inMemory = saved?.inMemory ?? remains.inMemory;
  // Events that were on disk alone are there, or in the checkpoint.
  const earlier = inMemory ? next - 1 : used - 1;
  const done = saved?.done ?? new DoneRanges();
  finishTakenOut(found, done);
  const lost = reportLost(found, { saved, done, closed, damaged: remains.damaged, inMemory, log });
  const present = found.map(({ segment }) => segment);
  const passed = finishBetween(present, done, next);
  const { missingBefore, missing } = missingOf(saved, remains.damaged, passed);
  const returned = present.flatMap((segment) => returnedSegment(segment, missingBefore));
  const run = randomBytes(6).toString("hex");
  const limits = jump > 0 ? withLast(saved?.limits, runs?.at(-1), next - 1) : (saved?.limits ?? new Map());
  const numbers = { earlier, next, savedNext: next, returning: saved?.returning };
  const state = { id, formerIds, run, runs, limits, done, ...numbers, missingBefore, missing };
  const isBack = new Set(returned.map(({ segment }) => segment));
  return { state, segments: present.filter((segment) => !isBack.has(segment)), returned, lost };
}

/** The last run may go on in the folder of which this one is a copy. What it numbers above its limit there is something else here. */
function withLast(limits: RunLimits = new Map(), run: string | undefined, most: number): RunLimits {
  return run === undefined || limits.has(run) ? limits : new Map([...limits, [run, most]]);
}

/** The id of the channel: from the checkpoint, else from most of its files, else a new one. */
function identityOf(
  saved: ChannelState | undefined,
  found: readonly FoundSegment[],
  newId: boolean,
): Pick<LogState, "id" | "formerIds" | "runs"> {
  const known = saved?.id ?? commonId(found);
  const fresh = randomBytes(8).toString("hex");
  if (known === undefined) return { id: fresh, formerIds: [], runs: [] };
  const formerIds = saved?.formerIds ?? [];
  const runs = saved?.runs;
  return newId ? { id: fresh, formerIds: [...formerIds, known], runs } : { id: known, formerIds, runs };
}

function missingOf(
  saved: ChannelState | undefined,
  damaged: boolean,
  passed: readonly Range[],
): Pick<LogState, "missing" | "missingBefore"> {
  if (saved === undefined) return { missingBefore: [], missing: [] };
  // Without the newest checkpoint they may have been stored, and their files removed.
  return { missingBefore: saved.missing, missing: damaged ? [] : passed };
}

/** The file as one that is back; none when no event of it was missing. */
function returnedSegment(segment: Segment, missing: readonly Range[]): readonly ReturnedSegment[] {
  const ranges = missing
    .map(({ from, to }) => ({ from: Math.max(from, segment.first), to: Math.min(to, segment.last) }))
    .filter(({ from, to }) => from <= to);
  return ranges.length === 0 ? [] : [{ segment, ranges }];
}

/** What was taken out of files is done, also where the checkpoint does not name it. */
function finishTakenOut(found: readonly FoundSegment[], done: DoneRanges): void {
  for (const { compacted } of found) {
    if (compacted === undefined) continue;
    const { first, last, stretches } = compacted;
    for (const range of without([{ from: first, to: last }], stretches)) done.add(range);
  }
}

/** Numbers that are in no segment count as done: there is nothing to deliver. Returns those that were not done before. */
function finishBetween(segments: readonly Segment[], done: DoneRanges, next: number): readonly Range[] {
  const passed: Range[] = [];
  const finish = (range: Range) => {
    for (const open of done.openIn(range)) passed.push(open);
    done.add(range);
  };
  let from = 1;
  for (const { first, last } of segments.filter(({ isEmpty }) => !isEmpty)) {
    finish({ from, to: first - 1 });
    from = last + 1;
  }
  finish({ from, to: next - 1 });
  return passed;
}

/** A name can be anything. */
const HIGHEST_NAME = HIGHEST_SEQUENCE - NUMBERS_OF_ONE_RUN;
