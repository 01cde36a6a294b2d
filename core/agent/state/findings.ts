import type { CountedChannel } from "../../pipeline/counted-channel.js";
import type { Failure } from "../../pipeline/failure-state.js";
import { counted } from "../../sdk/counted.js";
import { positionFaults } from "../../sdk/index.js";
import type { RunningChannel, RunningSink, RunningSource, Status } from "../component.js";
import type { ReportedHealth } from "../reported-health.js";
import { DEAD_LETTERS_REMEMBERED, type RecentActivity, type RecentOutcomes } from "./recent-activity.js";

/** What is wrong with a component; `down` makes the agent not ready. */
export interface Finding {
  readonly state: "degraded" | "down";
  /** What kind of thing it is, out of a fixed set; the metrics count by it. */
  readonly cause: Cause;
  /** For people. */
  readonly reason: string;
  readonly since: Date;
}

const ofAnyKind = ["not-started", "reported", "stray-error"] as const;

/** What can be wrong with a component, by its kind. */
export const causes = {
  source: [...ofAnyKind, "answers-5xx"],
  channel: [...ofAnyKind, "puts-refused", "log-unreachable", "partitions-unattended"],
  sink: [
    ...ofAnyKind,
    "store-failing",
    "position-conflict",
    "no-answer",
    "no-progress",
    "dead-letters",
    "dead-letters-full",
    "events-held-back",
  ],
} as const;

type Cause = (typeof causes)[keyof typeof causes][number];

/** Milliseconds that a failure lasts before it counts: what passes sooner is not reported. */
const SHORTEST_FAILURE = 10_000;
/** Milliseconds after its last occurrence during which a failure that nothing tries to repeat counts as present. */
const PRESENT = 60_000;
/** After that it is only shown, for so long. */
const SHOWN = 600_000;
/** Milliseconds that one call of a sink takes before it counts as unanswered. */
const LONGEST_CALL = 45_000;
/** Fewer dead letters than that within a minute are no stream of them: an idle agent goes on accepting. */
const FEWEST_DEAD_LETTERS = 10;
/** Milliseconds. A sink is asked of what is held back more often than that. */
const LONGEST_HOLD = 120_000;

export function findingsOfSource({ name, reported }: RunningSource, activity: RecentActivity, now: Date): Finding[] {
  return [...ofReports(reported, now), ...ofAnswers(activity.answers(name).failure, now)];
}

/** One refused request is no reason: the refusals must go on for a while. */
function ofAnswers(failure: Failure | undefined, now: Date): Finding[] {
  if (failure === undefined || elapsed(failure.since, failure.last) < SHORTEST_FAILURE) return [];
  return ofFailure(failure, { now, isTried: false, cause: "answers-5xx" });
}

export function findingsOfChannel({ channel, reported }: RunningChannel, now: Date): Finding[] {
  const circumstances = { now, isTried: false, cause: "puts-refused" } as const;
  const failure = ofFailure(channel.puts.failure, circumstances);
  const optional = ofFailure(channel.optionalPuts.failure, circumstances);
  return [
    ...ofReports(reported, now),
    ...failure.map((one) => ({ ...one, reason: `puts are refused: ${one.reason}` })),
    // The notifications are accepted without it.
    ...optional.map((one): Finding => ({ ...one, state: "degraded", reason: `events go without it: ${one.reason}` })),
    ...ofLog(channel, now),
  ];
}

/** A log that agents share; what is wrong for less than ten seconds is not said. */
function ofLog(channel: Pick<CountedChannel, "log">, now: Date): Finding[] {
  const { unreachable, unreachableSince } = channel.log() ?? {};
  if (unreachable === undefined) return [];
  const since = unreachableSince === undefined ? now : new Date(unreachableSince);
  if (unreachableSince !== undefined && elapsed(since, now) < SHORTEST_FAILURE) return [];
  return [{ state: "degraded", cause: "log-unreachable", reason: `the log cannot be reached: ${unreachable}`, since }];
}

/** Milliseconds in which another agent takes over what one that ended has left, and a moment more. */
const LONGEST_TAKEOVER = 20_000;

/** `since`: when some of its partitions were first seen without an agent. */
export function findingsOfPartitions(unattended: number, since: Date, now: Date): Finding[] {
  if (unattended === 0 || elapsed(since, now) < LONGEST_TAKEOVER) return [];
  const some = counted(unattended, "partition");
  const remedy = "start another agent of the group, or look why this one does not take over";
  const reason = `no agent works on ${some} of the log: ${remedy}`;
  return [{ state: "degraded", cause: "partitions-unattended", reason, since }];
}

/** Without what it has in common with the other sinks of its group. */
export function findingsOfSink({ sink, channel, reported, holding }: RunningSink, now: Date): Finding[] {
  const isTried = channel.mayHold;
  const { busySince } = sink;
  const seconds = busySince === undefined ? 0 : secondsBetween(busySince, now);
  const busy: Finding[] =
    busySince === undefined || seconds * 1000 < LONGEST_CALL
      ? []
      : [
          {
            state: "down",
            cause: "no-answer",
            reason: `the store has not answered for ${counted(seconds, "second")}`,
            since: busySince,
          },
        ];
  const { failure } = sink.health;
  const cause = isPositionFault(failure?.code) ? "position-conflict" : "store-failing";
  const held = ofHeldBack(holding?.failure, now);
  return [...ofReports(reported, now), ...ofFailure(failure, { now, isTried, cause }), ...held, ...busy];
}

/** The others are stored; where they are not, that is found by itself. */
function ofHeldBack(failure: Failure | undefined, now: Date): Finding[] {
  // Another agent has that part of a shared channel now.
  if (failure !== undefined && elapsed(failure.last, now) > LONGEST_HOLD) return [];
  const held = ofFailure(failure, { now, isTried: true, cause: "events-held-back" });
  return held.map((one) => ({
    ...one,
    state: "degraded",
    reason: `events are held back, others go on: ${one.reason}`,
  }));
}

function isPositionFault(code: string | undefined): boolean {
  return code === positionFaults.foreign || code === positionFaults.conflict;
}

/** What a sink shares with the others of its group: its sink processor. */
export function findingsOfProcessor({ groupReported }: RunningSink, now: Date): Finding[] {
  return groupReported === undefined ? [] : ofReports(groupReported, now);
}

/** Likewise where its dead letters are kept. */
export function findingsOfLetters({ channel, keeping }: RunningSink, outcomes: RecentOutcomes, now: Date): Finding[] {
  const full = ofFailure(keeping.failure, { now, isTried: channel.mayHold, cause: "dead-letters-full" });
  const { stored, deadLetters, deadLettersSince: since, lastDeadLetter: last } = outcomes;
  if (since === undefined || last === undefined) return full;
  if (deadLetters >= FEWEST_DEAD_LETTERS && deadLetters >= stored) {
    const reason = `in the last 60 seconds ${deadLetters} events became dead letters and ${stored} ${stored === 1 ? "was" : "were"} stored`;
    return [...full, { state: "down", cause: "dead-letters", reason, since }];
  }
  if (elapsed(last, now) > DEAD_LETTERS_REMEMBERED) return full;
  const reason = `events became dead letters, the last one at ${last.toISOString()}`;
  return [...full, { state: "degraded", cause: "dead-letters", reason, since }];
}

export function findingsOfStatus(status: Status, since: Date): Finding[] {
  return status === "START" ? [] : [{ state: "down", cause: "not-started", reason: `its status is ${status}`, since }];
}

function ofReports(reported: ReportedHealth, now: Date): Finding[] {
  const reports = reported.all
    .filter(({ since, lasting }) => lasting || elapsed(since, now) >= SHORTEST_FAILURE)
    .map(
      ({ state, reason, since, name }): Finding => ({
        state,
        cause: "reported",
        reason: `${name}: ${reason}`,
        since,
      }),
    );
  return [...reports, ...[...reported.strays].flatMap(([name, { failure }]) => ofStray(name, failure, now))];
}

/** What it did not catch may have left it in any state; it does its work as far as anyone can see. */
function ofStray(name: string, failure: Failure | undefined, now: Date): Finding[] {
  if (failure === undefined || elapsed(failure.last, now) > SHOWN) return [];
  const { reason, last, since } = failure;
  const what = `${name}: its plugin did not catch an error: ${reason} (last at ${last.toISOString()})`;
  return [{ state: "degraded", cause: "stray-error", reason: what, since }];
}

interface Circumstances {
  readonly now: Date;
  /** Whether it is tried again and again until it succeeds. */
  readonly isTried: boolean;
  readonly cause: Cause;
}

function ofFailure(failure: Failure | undefined, { now, isTried, cause }: Circumstances): Finding[] {
  if (failure === undefined) return [];
  const { since, last, reason, code } = failure;
  // That an operator has to decide: it does not pass by itself.
  const isLasting = code === positionFaults.foreign;
  if (!isLasting && elapsed(since, now) < SHORTEST_FAILURE) return [];
  const past = elapsed(last, now);
  if (isTried || past <= PRESENT) return [{ state: "down", cause, reason, since }];
  return past <= SHOWN
    ? [{ state: "degraded", cause, reason: `${reason} (last at ${last.toISOString()})`, since }]
    : [];
}

export function secondsBetween(from: Date, to: Date): number {
  return Math.floor(elapsed(from, to) / 1000);
}

/**
 * Milliseconds between two times, in either order: after the clock was set back what lasts would otherwise not be reported for as
 * long as it was set back, and what is over would not end.
 */
export function elapsed(from: Date, to: Date): number {
  return Math.abs(to.getTime() - from.getTime());
}
