import type { ComponentNode, SinkGroupNode, SinkNode, SourceNode } from "../configuration/topology.js";
import type { ChannelProcessor } from "../pipeline/channel-processor.js";
import type { CountedChannel } from "../pipeline/counted-channel.js";
import type { SinkCounters } from "../pipeline/counters.js";
import type { ReplayedLetters } from "../pipeline/dead-letters/replayed-letters.js";
import type { ChannelOutlet } from "../pipeline/delivery/channel-outlet.js";
import type { Feed } from "../pipeline/delivery/feed.js";
import type { SupervisedSink } from "../pipeline/delivery/supervised-sink.js";
import type { FailureState } from "../pipeline/failure-state.js";
import type { ChainedInterceptor } from "../pipeline/interceptor-chain.js";
import type { Receiver } from "../pipeline/receiver.js";
import type { Source } from "../sdk/index.js";
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
  /** Why events are held back while others go on; absent where none can be. */
  readonly holding?: FailureState;
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

/** How messages call a component. */
export function titleOf({ name, definition }: ComponentNode): string {
  return `"${name}" of type "${definition.type}"`;
}

/** With the path from its owner as its name: names of nested components are unique there only. */
export function atPath(owner: string, node: ComponentNode): ComponentNode {
  return { ...node, name: `${owner}.${node.name}` };
}
