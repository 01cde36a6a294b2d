import type { ComponentNode, SinkGroupNode, SinkNode, SourceNode } from "../configuration/topology.js";
import type { ChannelProcessor } from "../pipeline/channel-processor.js";
import type { CountedChannel } from "../pipeline/counted-channel.js";
import type { SinkCounters } from "../pipeline/counters.js";
import type { ReplayedLetters } from "../pipeline/dead-letters/replayed-letters.js";
import type { ChannelOutlet } from "../pipeline/delivery/channel-outlet.js";
import type { Feed } from "../pipeline/delivery/sink-feed.js";
import type { SupervisedSink } from "../pipeline/delivery/supervised-sink.js";
import type { Receiver } from "../pipeline/receiver.js";
import type { FailureState } from "../pipeline/supervision.js";
import type { Interceptor, Lifecycle, Source } from "../sdk/index.js";
import type { ReportedHealth } from "./create-component.js";

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
  readonly interceptors: readonly Interceptor[];
  readonly processor: ChannelProcessor;
  readonly receiver: Receiver;
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
}

/** All components of an agent, created but not started. */
export interface Assembly {
  readonly sources: readonly RunningSource[];
  readonly channels: readonly RunningChannel[];
  readonly sinks: readonly RunningSink[];
}

/** Starts a component and keeps its status. */
export async function startComponent(running: Running, lifecycle: Lifecycle): Promise<void> {
  try {
    await lifecycle.start();
    running.status = "START";
  } catch (error) {
    running.status = "ERROR";
    throw error;
  }
}

/** The most events of a channel; undefined when its configuration names no number. */
export function capacityOf({ config }: ComponentNode): number | undefined {
  const { capacity } = config;
  return typeof capacity === "number" ? capacity : undefined;
}
