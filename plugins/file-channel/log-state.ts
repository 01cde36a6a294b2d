import { randomBytes } from "node:crypto";
import type { Logger } from "deneb/sdk";
import type { ChannelState } from "./checkpoint.js";
import { DoneRanges } from "./done-ranges.js";
import { type FoundSegment, findSegments } from "./find-segments.js";
import { missingEvents, NUMBERS_OF_ONE_RUN } from "./missing-events.js";
import { commonId, ownSegments } from "./own-segments.js";
import { HIGHEST_SEQUENCE } from "./record.js";
import type { Segment } from "./segment.js";

/** What a running channel knows of its events besides the events. */
export interface LogState {
  readonly id: string;
  readonly formerIds: readonly string[];
  /** This opening of the channel. */
  readonly run: string;
  /** Those that handed out events; undefined when they were lost with the checkpoint. */
  runs: readonly string[] | undefined;
  readonly done: DoneRanges;
  /** The largest number that a position of an earlier run can have. */
  readonly earlier: number;
  /** The next sequence number. */
  next: number;
}

export interface Restored {
  readonly state: LogState;
  readonly segments: readonly Segment[];
  /** Events that were accepted, are not done and are in no file. */
  readonly lost: number;
}

/** What is on disk, and how it is to be read. */
export interface Remains {
  readonly folders: readonly string[];
  /** A newer checkpoint may have been there than the one that was read. */
  readonly damaged: boolean;
  /** True when events may have had numbers without ever being on disk. */
  readonly inMemory: boolean;
  /** True when the channel goes on under another id. */
  readonly newId: boolean;
}

/** Puts together what the checkpoint and the segments say. Damage is reported and does not stop a start. */
export async function restoreState(saved: ChannelState | undefined, remains: Remains, log: Logger): Promise<Restored> {
  const all = await findSegments(remains.folders);
  if (saved === undefined && all.length > 0) {
    log.error({ segments: all.length }, "checkpoint lost: everything in the segments is delivered again");
  }
  const { id, formerIds, runs } = identityOf(saved, all, remains.newId);
  const found = ownSegments(all, [id, ...formerIds], log);
  const highest = Math.max(saved?.done.highest ?? 0, ...found.map(({ segment }) => segment.last));
  // What was written after it shows that a state is not that of the last close.
  const closed = saved?.closed === true && highest < saved.next;
  const isNew = saved === undefined && runs !== undefined;
  // Without a close nobody knows which numbers were used in memory alone, and a database may keep a position above them:
  // what gets such a number again would be taken for stored.
  const jump = closed || isNew ? 0 : NUMBERS_OF_ONE_RUN;
  const names = all.map(({ named }) => named + (jump > 0 ? 0 : 1)).filter((name) => name < HIGHEST_NAME);
  const used = Math.max(saved?.next ?? 1, highest + 1);
  const next = Math.max(used, ...names) + jump;
  const inMemory = saved?.inMemory ?? remains.inMemory;
  // What was on disk alone is there, or in the checkpoint.
  const earlier = inMemory ? next - 1 : used - 1;
  const lost = reportLost(found, { saved, closed, damaged: remains.damaged, inMemory, log });
  const done = saved?.done ?? new DoneRanges();
  const segments = found.map(({ segment }) => segment);
  finishBetween(segments, done, next);
  const run = randomBytes(6).toString("hex");
  return { state: { id, formerIds, run, runs, done, earlier, next }, segments, lost };
}

/** Who the channel is: as the checkpoint says, else as most of its files say, else a new one. */
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

interface Known {
  readonly saved: ChannelState | undefined;
  readonly closed: boolean;
  readonly damaged: boolean;
  readonly inMemory: boolean;
  readonly log: Logger;
}

/** Reports what must have been on disk and is not; returns the number of these events. */
function reportLost(found: readonly FoundSegment[], { saved, closed, damaged, inMemory, log }: Known): number {
  // Events in memory had numbers too: only after a close everything is on disk.
  const unknown = inMemory && !closed;
  const missing = missingEvents({
    found,
    done: saved?.done ?? new DoneRanges(),
    // What a lost or older checkpoint does not know to be done may have been, and its files removed.
    from: saved === undefined || damaged ? (found[0]?.segment.first ?? 1) : 1,
    written: unknown ? 0 : writtenUntil(saved, closed),
  });
  const lost = missing.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  if (unknown && lost > 0)
    log.warn({ events: lost }, "events that were in memory alone are not there: stored, or lost with the process");
  if (unknown) return 0;
  for (const { file, from, to } of missing) {
    log.error({ file, from, to, events: to - from + 1 }, "events are missing: their file was removed, cut or replaced");
  }
  return lost;
}

function writtenUntil(saved: ChannelState | undefined, closed: boolean): number {
  if (saved === undefined) return 0;
  return closed ? saved.next - 1 : (saved.written ?? 0);
}

/** What is in no segment cannot be delivered. */
function finishBetween(segments: readonly Segment[], done: DoneRanges, next: number): void {
  let from = 1;
  for (const { first, last } of segments.filter(({ isEmpty }) => !isEmpty)) {
    done.add({ from, to: first - 1 });
    from = last + 1;
  }
  done.add({ from, to: next - 1 });
}

/** A name can be anything. */
const HIGHEST_NAME = HIGHEST_SEQUENCE - NUMBERS_OF_ONE_RUN;
