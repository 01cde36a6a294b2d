import type { ComponentNode, SinkGroupNode, SinkNode, SourceNode } from "../configuration/topology.js";
import { fullTables, OPEN_FILES_REMEDY } from "../files/open-files.js";
import type { ChannelProcessor } from "../pipeline/channel-processor.js";
import type { CountedChannel } from "../pipeline/counted-channel.js";
import type { SinkCounters } from "../pipeline/counters.js";
import type { ReplayedLetters } from "../pipeline/dead-letters/replayed-letters.js";
import type { ChannelRoom } from "../pipeline/delivery/batcher.js";
import type { ChannelOutlet } from "../pipeline/delivery/channel-outlet.js";
import type { Feed } from "../pipeline/delivery/sink-feed.js";
import type { SupervisedSink } from "../pipeline/delivery/supervised-sink.js";
import type { ChainedInterceptor } from "../pipeline/interceptor-chain.js";
import type { Receiver } from "../pipeline/receiver.js";
import type { FailureState } from "../pipeline/supervision.js";
import { thrownCause } from "../sdk/causes.js";
import {
  AgentError,
  type AnyPlugin,
  codeOf,
  type Lifecycle,
  reasonOf,
  retryableOf,
  type Source,
} from "../sdk/index.js";
import type { ReportedHealth } from "./reported-health.js";

/** `IDLE` before start, `START` while it runs, `STOP` after stop, `ERROR` when its start failed or it had to be stopped. */
export type Status = "IDLE" | "START" | "STOP" | "ERROR";

/** What every running component has beside its work. */
export interface Running {
  readonly name: string;
  readonly setupTime: Date;
  /** What it, and what is nested in it, reports by itself. */
  readonly reported: ReportedHealth;
  status: Status;
}

export interface RunningSource extends Running {
  readonly node: SourceNode;
  readonly source: Source;
  /** In the order of execution. */
  readonly interceptors: readonly RunningInterceptor[];
  readonly processor: ChannelProcessor;
  readonly receiver: Receiver;
}

export interface RunningInterceptor extends ChainedInterceptor {
  /** With the path from its source as its name. */
  readonly node: ComponentNode;
}

export interface RunningChannel extends Running {
  readonly node: ComponentNode;
  readonly channel: CountedChannel;
  /** Where its sinks take from it. */
  readonly outlet: ChannelOutlet;
}

export interface RunningSink extends Running {
  readonly node: SinkNode;
  readonly channel: CountedChannel;
  readonly sink: SupervisedSink;
  readonly replayed: ReplayedLetters;
  readonly feed: Feed;
  /** Whether its dead letters can be kept. */
  readonly keeping: FailureState;
  readonly counters: SinkCounters;
  /** The group it is in; its feed and its replayed letters are those of the whole group. */
  readonly group?: SinkGroupNode;
  /** What the sink processor of the group reports; the same object for all of its sinks. */
  readonly groupReported?: ReportedHealth;
}

/** The name under which the dead letters of a sink are kept: that of its group, where it is in one. */
export function keeperOf({ name, group }: Pick<RunningSink, "name" | "group">): string {
  return group?.name ?? name;
}

/** All components of an agent, created but not started. */
export interface Assembly {
  readonly sources: readonly RunningSource[];
  readonly channels: readonly RunningChannel[];
  readonly sinks: readonly RunningSink[];
}

/** The assembly without these of its components. */
export function without({ sources, channels, sinks }: Assembly, gone: readonly Running[]): Assembly {
  const stays = (running: Running) => !gone.includes(running);
  return { sources: sources.filter(stays), channels: channels.filter(stays), sinks: sinks.filter(stays) };
}

/** A component of the configuration that could not be started when the agent went back to it. */
export interface LackingComponent {
  readonly kind: "source" | "channel" | "sink";
  readonly name: string;
  readonly reason: string;
  readonly since: Date;
}

/** A component of the file, nested ones included, and where it reports to. */
export interface Part {
  readonly name: string;
  readonly definition: AnyPlugin;
  readonly config: ComponentNode["config"];
  readonly reported: ReportedHealth;
  /** Ends the calls that are made of it, with an error. */
  readonly abandon?: (error: unknown) => void;
}

/** All components, those included that are nested in others. */
export function partsOf({ sources, channels, sinks }: Assembly): readonly Part[] {
  const part = ({ name, definition, config }: ComponentNode, { reported }: Running) => ({
    name,
    definition,
    config,
    reported,
  });
  return [
    ...sources.flatMap((running) => {
      const { node } = running;
      const own = [...node.interceptors, node.selector].map((one) => atPath(node.name, one));
      return [node, ...own, ...nestedIn(node)].map((one) => part(one, running));
    }),
    ...channels.map((running) => part(running.node, running)),
    ...sinks.flatMap((running): readonly Part[] => {
      const { node, group, groupReported: reported } = running;
      const isFirst = sinks.find((one) => one.groupReported === reported) === running;
      const processor =
        group === undefined || reported === undefined || !isFirst
          ? []
          : [{ ...group.processor, name: group.name, reported }];
      return [{ ...part(node, running), abandon: (error) => running.sink.abandon(error) }, ...processor];
    }),
  ];
}

function nestedIn({ name, slots }: ComponentNode): readonly ComponentNode[] {
  return Object.values(slots)
    .map((node) => atPath(name, node))
    .flatMap((node) => [node, ...nestedIn(node)]);
}

/** How messages call a component. */
export function titleOf({ name, definition }: ComponentNode): string {
  return `"${name}" of type "${definition.type}"`;
}

/** With the path from its owner as its name: names of nested components are unique there only. */
export function atPath(owner: string, node: ComponentNode): ComponentNode {
  return { ...node, name: `${owner}.${node.name}` };
}

interface Startable extends Running {
  readonly node: ComponentNode;
}

/** Starts a component and keeps its status. */
export async function startComponent(running: Startable, lifecycle: Lifecycle): Promise<void> {
  try {
    await lifecycle.start();
    running.status = "START";
  } catch (error) {
    running.status = "ERROR";
    throw named(error, running);
  }
}

/** Messages of strangers need not name their component. The code stays, because callers decide by it. */
export function named(error: unknown, { name, node }: Pick<Startable, "name" | "node">): unknown {
  const { kind, type } = node.definition;
  if (reasonOf(error).includes(`"${name}"`)) return error;
  const code = codeOf(error) ?? "COMPONENT_NOT_STARTED";
  const remedy = fullTables.includes(code) ? ` (${OPEN_FILES_REMEDY})` : "";
  return new AgentError(code, `starting ${kind} "${name}" of type "${type}"${remedy}`, {
    cause: thrownCause(error),
    retryable: retryableOf(error) ?? false,
  });
}

type Configured = Pick<ComponentNode, "config">;

/** The most events of a channel, those in memory and on disk together; undefined when its configuration names no number. */
export function capacityOf({ config }: Configured): number | undefined {
  const { capacity, memoryCapacity, overflowCapacity } = config;
  if (typeof capacity === "number") return capacity;
  return typeof memoryCapacity === "number" && typeof overflowCapacity === "number"
    ? memoryCapacity + overflowCapacity
    : undefined;
}

/** Likewise of bytes. */
export function byteCapacityOf({ config: { byteCapacity } }: Configured): number | undefined {
  return typeof byteCapacity === "number" && byteCapacity > 0 ? byteCapacity : undefined;
}

/** The most that one service may hold in a channel: all that the channel holds, or the part that its configuration gives to each. */
export function roomOf(node: Configured): ChannelRoom {
  const { service_percentage: percentage = 100 } = node.config;
  const part = typeof percentage === "number" ? percentage / 100 : 1;
  const [events, bytes] = [capacityOf(node), byteCapacityOf(node)].map((most) =>
    most === undefined ? undefined : Math.floor(most * part),
  );
  return { events, bytes };
}
