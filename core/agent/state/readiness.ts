import { counted } from "../../sdk/counted.js";
import type { Clock } from "../../tokens.js";
import type { Agent } from "../agent.js";
import {
  keeperOf,
  type LackingComponent,
  type Running,
  type RunningChannel,
  type RunningSink,
  type Status,
} from "../component.js";
import {
  elapsed,
  type Finding,
  findingsOfChannel,
  findingsOfLetters,
  findingsOfPartitions,
  findingsOfProcessor,
  findingsOfSink,
  findingsOfSource,
  findingsOfStatus,
  secondsBetween,
} from "./findings.js";
import type { RecentActivity } from "./recent-activity.js";
import { isUnattended } from "./shared-log-view.js";

/** Why an agent does not do its work, or not all of it, and which component is the reason. */
interface Obstacle {
  readonly component: string;
  readonly reason: string;
  /** ISO 8601 UTC. */
  readonly since: string;
}

/** The health of one component: the worst of what is found. */
export interface ComponentCondition {
  readonly kind: "source" | "channel" | "sink";
  readonly name: string;
  readonly state: "up" | "degraded" | "down";
  readonly findings: readonly Finding[];
}

interface ReadinessParts {
  readonly agent: Agent;
  readonly activity: RecentActivity;
  readonly clock: Clock;
  readonly stallSeconds: number;
}

/** Tells whether an agent takes notifications and stores them. */
export class Readiness {
  readonly #parts: ReadinessParts;
  /** Since when a component was seen with its status. */
  readonly #seen = new WeakMap<Running, { readonly status: Status; readonly since: Date }>();

  /** Since when partitions of a channel were seen without an agent. */
  readonly #unattended = new WeakMap<Running, Date>();

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Empty when it is ready. */
  obstacles(): readonly Obstacle[] {
    return this.#obstaclesOf("down");
  }

  /** What is wrong and does not keep it from its work. */
  warnings(): readonly Obstacle[] {
    return this.#obstaclesOf("degraded");
  }

  conditions(): readonly ComponentCondition[] {
    const { agent, activity, clock } = this.#parts;
    const { sources, channels, sinks } = agent.assembly;
    const now = clock.now();
    const own = new Map(sinks.map((sink) => [sink.name, this.#ofSink(sink, now)]));
    const isDown = (name: string) => (own.get(name) ?? []).some(({ state }) => state === "down");
    return [
      ...sources.map((source) =>
        conditionOf("source", source, [...this.#ofStatus(source, now), ...findingsOfSource(source, activity, now)]),
      ),
      ...channels.map((channel) =>
        conditionOf("channel", channel, [
          ...this.#ofStatus(channel, now),
          ...findingsOfChannel(channel, now),
          ...this.#ofPartitions(channel, now),
        ]),
      ),
      ...sinks.map((sink) => {
        const { name, group } = sink;
        const findings = own.get(name) ?? [];
        // One sink of a group that stores is enough.
        const isSpared = group?.sinks.some((member) => own.has(member) && !isDown(member)) === true;
        const spared = isSpared ? findings.map((one): Finding => ({ ...one, state: "degraded" })) : findings;
        const letters = findingsOfLetters(sink, activity.outcomes(keeperOf(sink)), now);
        return conditionOf("sink", sink, [...spared, ...findingsOfProcessor(sink, now), ...letters]);
      }),
      ...agent.lacking.map((component) => conditionOf(component.kind, component, [notStarted(component)])),
    ];
  }

  #obstaclesOf(state: Finding["state"]): readonly Obstacle[] {
    return this.conditions().flatMap(({ name, findings }) =>
      findings
        .filter((finding) => finding.state === state)
        .map(({ reason, since }) => ({ component: name, reason, since: since.toISOString() })),
    );
  }

  #ofSink(sink: RunningSink, now: Date): readonly Finding[] {
    const findings = [...this.#ofStatus(sink, now), ...findingsOfSink(sink, now)];
    return findings.some(({ state }) => state === "down") ? findings : [...findings, ...this.#stall(sink, now)];
  }

  #ofStatus(running: Running, now: Date): Finding[] {
    const { status } = running;
    const seen = this.#seen.get(running);
    const since = seen?.status === status ? seen.since : now;
    this.#seen.set(running, { status, since });
    return findingsOfStatus(status, since);
  }

  #ofPartitions(running: RunningChannel, now: Date): Finding[] {
    const unattended = running.channel.parts().filter(isUnattended).length;
    // Where the log cannot be reached nobody knows who works on what.
    if (unattended === 0 || running.channel.log()?.unreachable !== undefined) {
      this.#unattended.delete(running);
      return [];
    }
    const since = this.#unattended.get(running) ?? now;
    this.#unattended.set(running, since);
    return findingsOfPartitions(unattended, since, now);
  }

  /** A sink stalls when its channel has held events for too long and it has settled none of them in that time. */
  #stall(sink: RunningSink, now: Date): Finding[] {
    const { node, channel, setupTime } = sink;
    const { activity, stallSeconds } = this.#parts;
    // Of events that are not in its ledger an agent cannot say that its sink should have them.
    if (!channel.mayHold || !channel.isExact) return [];
    const since = nearest([setupTime, channel.filledAt, activity.lastSettled(keeperOf(sink))], now);
    const seconds = secondsBetween(since, now);
    const { batchSize, batchTimeout } = node.batching;
    if (seconds <= stallSeconds + (batchSize > 1 ? batchTimeout : 0)) return [];
    const held = `channel "${node.channel}" holds ${channel.size === undefined ? "events" : counted(channel.size, "event")}`;
    return [
      {
        state: "down",
        cause: "no-progress",
        reason: `${held} and the sink has not progressed for ${counted(seconds, "second")}`,
        since,
      },
    ];
  }
}

function notStarted({ reason, since }: LackingComponent): Finding {
  return { state: "down", cause: "not-started", reason: `it does not run since a reload failed: ${reason}`, since };
}

function conditionOf(
  kind: ComponentCondition["kind"],
  { name }: Pick<Running, "name">,
  findings: readonly Finding[],
): ComponentCondition {
  const isDown = findings.some(({ state }) => state === "down");
  return { kind, name, state: isDown ? "down" : findings.length > 0 ? "degraded" : "up", findings };
}

/** The time that is least ago; one that a clock which was set back has not reached yet counts as far from now. */
function nearest(times: readonly (Date | undefined)[], now: Date): Date {
  const known = times.filter((time) => time !== undefined);
  return known.reduce((one, other) => (elapsed(other, now) < elapsed(one, now) ? other : one), new Date(0));
}
