import { randomBytes } from "node:crypto";
import type { Logger } from "deneb/sdk";
import type { ChannelState } from "./checkpoint.js";
import { DoneRanges } from "./done-ranges.js";
import { type FoundSegment, findSegments } from "./find-segments.js";
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
}

export interface RestoreParts {
  readonly folders: readonly string[];
  /** True when events may be in memory alone. */
  readonly inMemory: boolean;
  /** True when the channel goes on under another id. */
  readonly newId: boolean;
  readonly log: Logger;
}

/** More than one process gives to events, and so few that a million crashes leave enough. */
const NUMBERS_OF_ONE_RUN = 2 ** 32;

/** Puts together what the checkpoint and the segments say. Damage is reported and never stops a start. */
export async function restoreState(
  saved: ChannelState | undefined,
  { folders, inMemory, newId, log }: RestoreParts,
): Promise<Restored> {
  const found = await findSegments(folders);
  if (saved === undefined && found.length > 0) {
    log.error({ segments: found.length }, "checkpoint lost: everything in the segments is delivered again");
  }
  const { id, formerIds, runs } = identityOf(saved, found, newId);
  const segments = found.filter((one) => isOurs(one, [id, ...formerIds], log)).map(({ segment }) => segment);
  const used = Math.max(
    saved?.next ?? 1,
    (saved?.done.highest ?? 0) + 1,
    ...found.map(({ segment }) => Math.max(segment.first, segment.last) + 1),
  );
  // Without a close nobody knows which numbers were used in memory alone, and a database may keep a position above them:
  // what gets such a number again would be taken for stored.
  const orderly = saved?.closed === true || (saved === undefined && runs !== undefined);
  const next = orderly ? used : used + NUMBERS_OF_ONE_RUN;
  // What was on disk alone is there, or in the checkpoint.
  const earlier = (saved?.inMemory ?? inMemory) ? next - 1 : used - 1;
  const done = saved?.done ?? new DoneRanges();
  let from = 1;
  for (const segment of segments) {
    done.add({ from, to: segment.first - 1 });
    from = segment.last + 1;
  }
  done.add({ from, to: next - 1 });
  const run = randomBytes(6).toString("hex");
  return { state: { id, formerIds, run, runs, done, earlier, next }, segments };
}

/** Who the channel is: as the checkpoint says, else as its files say, else somebody new. */
function identityOf(
  saved: ChannelState | undefined,
  found: readonly FoundSegment[],
  newId: boolean,
): Pick<LogState, "id" | "formerIds" | "runs"> {
  const known = saved?.id ?? found.find(({ id }) => id !== undefined)?.id;
  const fresh = randomBytes(8).toString("hex");
  if (known === undefined) return { id: fresh, formerIds: [], runs: [] };
  const formerIds = saved?.formerIds ?? [];
  const runs = saved?.runs;
  return newId ? { id: fresh, formerIds: [...formerIds, known], runs } : { id: known, formerIds, runs };
}

function isOurs({ segment, id, incomplete }: FoundSegment, own: readonly string[], log: Logger): boolean {
  if (id !== undefined && !own.includes(id)) {
    log.error({ file: segment.file, channel: id }, "segment of another channel left alone");
    return false;
  }
  if (incomplete > 0) {
    log.warn({ file: segment.file, bytes: incomplete }, "incomplete or damaged end of a segment left out");
  }
  return true;
}
