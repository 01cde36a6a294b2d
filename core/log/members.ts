import { type AgentReport, beganAt } from "./agent-report.js";
import { type LogPosition, later } from "./log-position.js";

/** Who asks. */
interface MembersOf {
  readonly member: string;
  readonly group: string;
  /** Milliseconds without a report after which an agent counts as gone. */
  readonly sessionMillis: number;
  /** Groups that will not read any more. */
  readonly retired?: readonly string[];
}

interface Heard {
  readonly report: AgentReport;
  /** By the steady clock of this process. */
  readonly at: number;
}

/**
 * The agents of a log, by what they report, and up to where each group is done. Nothing that must be right depends on it: it
 * spreads the parts over the agents, and stored positions decide what is stored.
 */
export class Members {
  readonly #of: MembersOf;
  readonly #heard = new Map<string, Heard>();
  readonly #done = new Map<string, Map<number, LogPosition>>();
  #hasOthers = false;

  constructor(of: MembersOf) {
    this.#of = of;
  }

  /** `now` is a steady clock in milliseconds; `age` is how old the report is by the clocks of the agents. */
  hear(report: AgentReport, now: number, age = 0): void {
    this.#note(report);
    if (report.takes && report.member !== this.#of.member) this.#hasOthers = true;
    for (const [member, { report: other }] of this.#heard) if (isReplacedBy(other, report)) this.#heard.delete(member);
    if (report.left) this.#heard.delete(report.member);
    else this.#heard.set(report.member, { report, at: now - Math.min(Math.max(0, age), this.#of.sessionMillis) });
  }

  /** The reports of agents of the group that are not gone, in the order of their names. */
  alive(now: number): readonly AgentReport[] {
    const { group, sessionMillis } = this.#of;
    return [...this.#heard.values()]
      .filter(({ report, at }) => report.group === group && now - at < sessionMillis)
      .map(({ report }) => report)
      .sort((one, other) => (one.agent + one.member < other.agent + other.member ? -1 : 1));
  }

  /** Events that wait in the parts of the other agents of the group, as far as these have told. */
  waitingElsewhere(now: number): number {
    let events = 0;
    for (const { report, at } of this.#heard.values())
      if (report.member !== this.#of.member && report.group === this.#of.group && now - at < this.#of.sessionMillis)
        for (const { waiting } of report.parts.values()) events += waiting;
    return events;
  }

  /** True while no other agent, of whatever group, is there to append to the log. */
  isAlone(now: number): boolean {
    for (const { report, at } of this.#heard.values())
      if (report.member !== this.#of.member && now - at < this.#of.sessionMillis) return false;
    return true;
  }

  /** True when another agent was heard of that may have taken events, be it long ago. */
  get hasOthers(): boolean {
    return this.#hasOthers;
  }

  /** Discards the reports of agents that are long gone. */
  forgetGone(now: number): void {
    for (const [member, { at }] of this.#heard) if (now - at > 10 * this.#of.sessionMillis) this.#heard.delete(member);
  }

  /** The parts of this agent: each part belongs to one of the agents whose sinks take and get on. */
  share(partitions: number, now: number): ReadonlySet<number> {
    const takers = this.alive(now).filter(({ takes }) => takes);
    const working = takers.filter(({ stuck }) => !stuck);
    const workers = working.length > 0 ? working : takers;
    const own = workers.findIndex(({ member }) => member === this.#of.member);
    const parts = Array.from({ length: partitions }, (_, part) => part);
    return new Set(own < 0 ? [] : parts.filter((part) => part % workers.length === own));
  }

  /** The other agent that says it works on the part, and gets on. */
  worker(part: number, now: number): AgentReport | undefined {
    return this.alive(now).find(({ member, parts, stuck }) => member !== this.#of.member && parts.has(part) && !stuck);
  }

  /** Up to where the part is done for the group of this agent, as far as was heard. */
  done(part: number): LogPosition | undefined {
    return this.#done.get(this.#of.group)?.get(part);
  }

  /** Every group that was heard of and is not retired, and up to where it is done. */
  get groups(): ReadonlyMap<string, ReadonlyMap<number, LogPosition>> {
    return this.#done;
  }

  #note({ group, takes, parts, heard }: AgentReport): void {
    // Nothing of a group is removed before it was heard that it is done.
    if (takes && !this.#done.has(group) && !this.#isRetired(group)) this.#done.set(group, new Map());
    for (const [part, { done }] of parts) this.#noteDone(group, part, done);
    for (const [other, places] of heard) for (const [part, place] of places) this.#noteDone(other, part, place);
  }

  #isRetired(group: string): boolean {
    return group !== this.#of.group && this.#of.retired?.includes(group) === true;
  }

  #noteDone(group: string, part: number, done: LogPosition): void {
    if (this.#isRetired(group)) return;
    const known = this.#done.get(group) ?? new Map<number, LogPosition>();
    known.set(part, later(done, known.get(part)));
    this.#done.set(group, known);
  }
}

/** Whether the agent was started again since. Another one of its name, on a machine with the same host name, goes on reporting. */
function isReplacedBy({ agent, run, at }: AgentReport, next: AgentReport): boolean {
  return agent === next.agent && run !== next.run && at <= (beganAt(next.run) ?? next.at);
}
