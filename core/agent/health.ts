import type { Agent } from "./agent.js";
import type { Status } from "./component.js";

/** Whether one component does its work. */
export interface ComponentHealth {
  readonly kind: "source" | "channel" | "sink";
  readonly name: string;
  readonly status: Status;
  /** Why not, and since when; absent when nothing keeps it. */
  readonly failure?: { readonly since: string; readonly reason: string };
}

export interface AgentHealth {
  /** True when every component runs and no sink fails; of a group one sink that runs and does not fail is enough. */
  readonly ready: boolean;
  readonly components: readonly ComponentHealth[];
}

/** The health of an agent as a probe wants to know it. */
export function healthOf({ assembly }: Agent): AgentHealth {
  const { sources, channels, sinks } = assembly;
  const components: readonly ComponentHealth[] = [
    ...sources.map(({ name, status }) => ({ kind: "source", name, status }) as const),
    ...channels.map(({ name, status }) => ({ kind: "channel", name, status }) as const),
    ...sinks.map(({ name, status, sink }) => {
      const { failure } = sink.health;
      const common = { kind: "sink", name, status } as const;
      return failure === undefined
        ? common
        : { ...common, failure: { since: failure.since.toISOString(), reason: failure.reason } };
    }),
  ];
  const wellSinks = sinks.filter(({ status, sink }) => status === "START" && sink.health.failure === undefined);
  const isSpared = (name: string) => {
    const group = sinks.find((sink) => sink.name === name)?.group;
    return group !== undefined && wellSinks.some((sink) => group.sinks.includes(sink.name));
  };
  const isWell = ({ kind, name, status, failure }: ComponentHealth) =>
    (status === "START" && failure === undefined) || (kind === "sink" && isSpared(name));
  return { ready: components.every(isWell), components };
}
