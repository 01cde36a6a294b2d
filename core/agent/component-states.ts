import type { SinkProgress } from "../metrics/observers.js";
import type { ComponentState, ComponentStates } from "../metrics/state-instruments.js";
import type { Clock } from "../tokens.js";
import type { Agent } from "./agent.js";
import { capacityOf, type Running } from "./component.js";
import type { ComponentCondition } from "./readiness.js";

export interface Observed {
  readonly progress: SinkProgress;
  readonly clock: Clock;
  readonly conditions: () => readonly ComponentCondition[];
}

/** Reads the state of an agent's components, for the metrics. */
export function componentStates(agent: Agent, { progress, clock, conditions }: Observed): ComponentStates {
  const { sources, channels, sinks } = agent.assembly;
  const now = clock.now().getTime();
  return {
    components: [
      ...sources.map((running) => stateOf("source", running)),
      ...channels.map((running) => stateOf("channel", running)),
      ...sinks.map((running) => stateOf("sink", running)),
    ],
    conditions: conditions(),
    channels: channels.map(({ name, node, channel }) => {
      const { putsOk, putsFailed, takesOk, takesFailed } = channel.counters;
      const since = channel.waitingSince?.since;
      return {
        name,
        events: channel.size,
        capacity: capacityOf(node),
        bytes: channel.bytes,
        secondsOfOldest: since === undefined ? 0 : Math.max(0, now - since) / 1000,
        putsOk,
        putsFailed,
        takesOk,
        takesFailed,
      };
    }),
    sinks: sinks.map(({ name }) => {
      const stored = progress.lastStored(name);
      return { name, secondsSinceLastWrite: stored === undefined ? undefined : (now - stored.getTime()) / 1000 };
    }),
  };
}

function stateOf(kind: ComponentState["kind"], { name, status }: Running): ComponentState {
  return { kind, name, started: status === "START" };
}
