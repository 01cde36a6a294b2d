import type { LogState } from "../../metrics/log-instruments.js";
import type { ComponentState, ComponentStates } from "../../metrics/state-instruments.js";
import type { CountedChannel } from "../../pipeline/counted-channel.js";
import { codeLabel } from "../../sdk/error-codes.js";
import type { Clock } from "../../tokens.js";
import type { Agent } from "../agent.js";
import { byteCapacityOf, capacityOf } from "../channel-room.js";
import { keeperOf, type Running, type RunningChannel, type RunningSink } from "../component.js";
import { causes } from "./findings.js";
import type { ComponentCondition } from "./readiness.js";
import type { RecentActivity } from "./recent-activity.js";
import { isUnattended } from "./shared-log-view.js";

interface Observed {
  readonly activity: RecentActivity;
  readonly clock: Clock;
  readonly conditions: () => readonly ComponentCondition[];
}

/** Reads the state of an agent's components, for the metrics. */
export function componentStates(agent: Agent, { activity, clock, conditions }: Observed): ComponentStates {
  const { sources, channels, sinks } = agent.assembly;
  const now = clock.now().getTime();
  return {
    components: [
      ...sources.map((running) => stateOf("source", running)),
      ...channels.map((running) => stateOf("channel", running)),
      ...sinks.map((running) => stateOf("sink", running)),
    ],
    conditions: conditions().map(conditionState),
    channels: channels.map(({ name, node, channel }) => {
      const since = channel.waitingSince?.since;
      return {
        name,
        events: channel.size,
        capacity: capacityOf(node),
        bytes: channel.bytes,
        capacityBytes: byteCapacityOf(node),
        secondsOfOldest: since === undefined ? unknownOr0(channel) : Math.max(0, now - since) / 1000,
        ...channel.counters.totals,
      };
    }),
    sinks: sinks.map((running) => sinkState(running, activity.lastStored(running.name), now)),
    logs: channels.flatMap((running) => logState(running, now) ?? []),
  };
}

/** Every cause of its kind, so that a series is there before the first problem. */
function conditionState({ kind, name, state, findings }: ComponentCondition) {
  const problems = causes[kind].map((cause) => {
    const own = findings.filter((finding) => finding.cause === cause);
    const isDown = own.some((finding) => finding.state === "down");
    return { cause, state: isDown ? "down" : own.length > 0 ? "degraded" : "up" } as const;
  });
  return { kind, name, state, problems };
}

function sinkState(running: RunningSink, storedAt: Date | undefined, now: number) {
  const { health, busySince } = running.sink;
  const { failure } = health;
  return {
    name: running.name,
    keeper: keeperOf(running),
    storedAt,
    secondsOfCall: busySince === undefined ? 0 : Math.max(0, now - busySince.getTime()) / 1000,
    secondsSinceLastWrite: storedAt === undefined ? undefined : Math.max(0, now - storedAt.getTime()) / 1000,
    failing:
      failure === undefined
        ? undefined
        : { code: codeLabel(failure.code), cause: failure.causedBy === undefined ? "" : codeLabel(failure.causedBy) },
  };
}

/** Undefined for a channel of one agent. */
function logState({ name, channel }: RunningChannel, now: number): LogState | undefined {
  const log = channel.log();
  if (log === undefined) return undefined;
  const parts = channel.parts();
  const mine = parts.filter((part) => part.mine);
  const none = parts.filter(isUnattended).length;
  const { appended, stored, deadLettered, filtered, lost, unaccounted } = log;
  return {
    channel: name,
    agents: log.agents.length,
    isReachable: log.unreachable === undefined,
    ...{ appended, stored, dead_lettered: deadLettered, filtered, lost, unaccounted },
    partitions: { mine: mine.length, none, others: parts.length - mine.length - none },
    mine: mine.map(({ part, waiting, oldest }) => ({
      partition: part,
      waiting,
      secondsOfOldest: oldest === undefined ? (waiting === 0 ? 0 : undefined) : Math.max(0, now - oldest) / 1000,
    })),
  };
}

function unknownOr0({ isExact, mayHold }: Pick<CountedChannel, "isExact" | "mayHold">): 0 | undefined {
  return isExact || !mayHold ? 0 : undefined;
}

function stateOf(kind: ComponentState["kind"], { name, status }: Running): ComponentState {
  return { kind, name, started: status === "START" };
}
