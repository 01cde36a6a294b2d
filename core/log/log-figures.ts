import type { ChannelPart, LogAgent, LogSummary } from "../sdk/index.js";
import { type AgentReport, beganAt, type PartReport } from "./agent-report.js";
import type { LogFailure } from "./log-health.js";
import type { OpenedLog } from "./opened-log.js";

interface Asked {
  readonly run: string;
  /** By the steady clock. */
  readonly now: number;
}

/** What this agent knows of each part: its own by itself, the others by what their agents told last. */
export function channelParts(opened: OpenedLog, asked: Asked): readonly ChannelPart[] {
  return partsWith(opened, asked, opened.reported());
}

function partsWith(
  opened: OpenedLog,
  { run, now }: Asked,
  own: ReadonlyMap<number, PartReport>,
): readonly ChannelPart[] {
  const others = opened.members.alive(now).filter(({ member }) => member !== opened.member);
  // One that does not get on still reports what its sink holds, after another one has taken the part over.
  others.sort((one, other) => Number(one.stuck) - Number(other.stuck));
  return Array.from({ length: opened.facts.partitions }, (_, part) => {
    const mine = own.get(part);
    const worker = mine === undefined ? others.find(({ parts }) => parts.has(part)) : undefined;
    const told = mine ?? worker?.parts.get(part);
    return {
      part: String(part),
      agent: mine === undefined ? worker?.run : run,
      mine: mine !== undefined,
      lost: opened.own.all.get(part)?.queue.lost ?? 0,
      ...(told === undefined ? unknown(opened, part) : figures(told, opened.appends.newest(part))),
    };
  });
}

interface SummaryOf extends Asked {
  readonly engine: string;
  readonly failure: LogFailure | undefined;
}

/** The log as a whole. */
export function logSummary(opened: OpenedLog, { engine, failure, run, now }: SummaryOf): LogSummary {
  const own = opened.reported();
  const parts = partsWith(opened, { run, now }, own);
  const done = parts.map((_, part) => own.get(part)?.done ?? opened.members.done(part));
  const sum = (of: (part: ChannelPart) => number | undefined) =>
    parts.reduce<number | undefined>((total, part) => added(total, of(part)), 0);
  const books = (of: "stored" | "deadLettered" | "filtered" | "events") =>
    done.reduce((total, position) => total + (position?.[of] ?? 0), 0);
  const waiting = sum((part) => part.waiting);
  const [stored, deadLettered, filtered] = [books("stored"), books("deadLettered"), books("filtered")];
  return {
    engine,
    id: opened.facts.id,
    group: opened.owner.group,
    agents: opened.members.alive(now).map((report) => agentOf(report, opened.member)),
    appended: sum(({ appended }) => appended),
    stored,
    deadLettered,
    filtered,
    lost: opened.lost,
    uncounted: opened.uncounted.map(String),
    waiting,
    // What is not read yet is in none of these books.
    unaccounted: waiting === undefined ? undefined : books("events") - stored - deadLettered - filtered,
    exact: parts.every(({ exact }) => exact),
    unreachable: failure?.reason,
    unreachableSince: failure?.since,
  };
}

type Figures = Pick<ChannelPart, "waiting" | "exact" | "oldest" | "appended" | "passed">;

/** What this agent has appended and the agent of the part has not read, that one does not know of. */
function figures({ done, waiting, more, oldest, next }: PartReport, newest: number): Figures {
  const exact = !more && (next === undefined || next > newest);
  return { waiting, exact, oldest, appended: done.events + waiting, passed: done.events };
}

function unknown(opened: OpenedLog, part: number): Figures {
  const passed = opened.members.done(part)?.events;
  return { waiting: undefined, exact: false, oldest: undefined, appended: undefined, passed };
}

function agentOf({ member, run, parts, at }: AgentReport, own: string): LogAgent {
  return { run, since: beganAt(run) ?? at, parts: parts.size, mine: member === own };
}

function added(total: number | undefined, next: number | undefined): number | undefined {
  return total === undefined || next === undefined ? undefined : total + next;
}
