import { AgentError } from "deneb/sdk";
import { MOST_RUNS } from "./checkpoint.js";
import { DoneRanges, type Range } from "./done-ranges.js";
import type { LogState } from "./restore.js";

/** Bounds the text; what is left out is delivered once more after a crash. */
const MOST_RANGES = 500;

/** What distinguishes the positions of a channel from those of a copy of it. */
export interface PositionScope {
  /** The channel, for messages. */
  readonly channel: string;
  readonly id: string;
  readonly run: string;
  /** Its runs that handed out events, oldest first; undefined when they were lost with the checkpoint. */
  readonly runs: readonly string[] | undefined;
  /** By run: the largest number that a position of it can have. */
  readonly limits: ReadonlyMap<string, number>;
  /** The largest number that a position of any earlier run can have. */
  readonly earlier: number;
  readonly next: number;
  readonly done: DoneRanges;
  /** A file that gives the channel a new id at the next start, for messages. */
  readonly newIdFile: string;
}

/** `channel-id:run:low` or, while other events are being stored, `channel-id:run:low,from-to,from-to`. */
export function positionText(
  { id, run }: Pick<PositionScope, "id" | "run">,
  { low, ranges }: Pick<DoneRanges, "low" | "ranges">,
): string {
  return [`${id}:${run}:${low}`, ...ranges.slice(0, MOST_RANGES).map(({ from, to }) => `${from}-${to}`)].join(",");
}

/**
 * The events that a position covers; undefined when it is of another channel. Throws `POSITION_FOREIGN` when it has the id of
 * this channel and cannot come from it: to accept it would lose the events that it covers.
 */
export function doneBefore(scope: PositionScope, position: string): DoneRanges | undefined {
  if (!position.startsWith(`${scope.id}:`)) return undefined;
  const match = /^[^:]+:(?:([0-9a-f]{12}):)?(\d+)((?:,\d+-\d+)*)$/.exec(position);
  if (match === null) throw foreign(scope, position, "this version of Deneb cannot read it");
  const [, run, low, ranges = ""] = match;
  const before = new DoneRanges(Number(low), rangesIn(ranges));
  const most = run === scope.run ? scope.next - 1 : scope.earlier;
  if (run !== undefined && run !== scope.run && !isOwn(scope, run, before))
    throw foreign(scope, position, strange(scope.runs));
  if (before.highest > most) throw foreign(scope, position, `this channel has numbered its events to ${most} only`);
  // These events were numbered here after that run, and there by it.
  const limit = run === undefined ? undefined : scope.limits.get(run);
  if (limit !== undefined && before.highest > limit)
    throw foreign(scope, position, `that run numbered its events to ${limit} at most here`);
  return before;
}

function isOwn({ runs = [], done }: PositionScope, run: string, before: DoneRanges): boolean {
  // A position of a forgotten run is accepted only when it covers nothing that is not done.
  return runs.includes(run) || (runs.length >= MOST_RUNS && done.hasAll(before));
}

function strange(runs: readonly string[] | undefined): string {
  if (runs === undefined) return "the checkpoint was lost, so it is not known whether this channel made it";
  return "it was made by a run that this channel does not have";
}

function foreign({ channel, id, newIdFile }: PositionScope, position: string, found: string): AgentError {
  const shown = position.length > 100 ? `${position.slice(0, 100)}...` : position;
  const message =
    `leaving out of channel "${channel}" what is stored up to position "${shown}": ${found}; its folder was copied or ` +
    "restored from a backup, or another agent runs with a copy of it. No event is taken, and none is lost. Stop the other " +
    `agent; to go on with this one, delete what the sink keeps for this channel (sink rdb: in deneb.positions, SQLite: ` +
    `deneb_positions, the rows with deneb_channel = '${id}' or beginning with 'part:${id}:'); to go on with both, create ` +
    `the empty file "${newIdFile}" and start this agent again: events that waited when the copy was made are then stored by both`;
  return new AgentError("POSITION_FOREIGN", message, { retryable: true });
}

function rangesIn(text: string): readonly Range[] {
  return [...text.matchAll(/(\d+)-(\d+)/g)].map(([, from, to]) => ({ from: Number(from), to: Number(to) }));
}

/** Whether a position was made by this opening of the channel. */
export function isOfRun({ id, run }: Pick<LogState, "id" | "run">, position: string): boolean {
  return position.startsWith(`${id}:${run}:`);
}

/** Names an event over all runs of its channel. */
export function idOf({ id }: Pick<LogState, "id">, sequence: number): string {
  return `${id}-${sequence}`;
}

/** The sequence number in such an id, or one that begins so; none in an id of another channel. */
export function sequencesIn(
  text: string,
  { id, formerIds, next }: Pick<LogState, "id" | "formerIds" | "next">,
): readonly number[] {
  const [, channel = "", sequence = ""] = /^([0-9a-f]+)-(\d+)(?:-|$)/.exec(text) ?? [];
  const isOwn = sequence !== "" && [id, ...formerIds].includes(channel);
  return isOwn && Number(sequence) < next ? [Number(sequence)] : [];
}
