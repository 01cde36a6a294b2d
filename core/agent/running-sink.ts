import type { SinkGroupNode, SinkNode } from "../configuration/topology.js";
import { catchUpOf } from "../pipeline/catch-up.js";
import type { CountedChannel } from "../pipeline/counted-channel.js";
import { SinkCounters } from "../pipeline/counters.js";
import { type RetryPolicy, SinkDelivery } from "../pipeline/delivery.js";
import { ReplayedLetters } from "../pipeline/replayed-letters.js";
import { SharedRunner } from "../pipeline/shared-runner.js";
import { SinkGroup } from "../pipeline/sink-group.js";
import { SinkRunner, type SinkRunnerParts } from "../pipeline/sink-runner.js";
import { SupervisedSink } from "../pipeline/supervised-sink.js";
import type { Sink } from "../sdk/index.js";
import { type AssemblyParts, contextOf } from "./assembly-parts.js";
import type { RunningSink } from "./component.js";
import { createComponent } from "./create-component.js";

/** A sink that has its channel for itself. */
export function runningSink(node: SinkNode, channel: CountedChannel, parts: AssemblyParts): RunningSink {
  const { name, sink, counters, made } = supervised(node, channel, parts);
  const account = parts.ledger.account(node.channel).sink(name);
  const batching = { batchLinger: sink.batchLinger, ...node.batching };
  const log = parts.loggers.of(name);
  const catchUp = channel.durable
    ? catchUpOf({ keepers: [{ name, sink }], gate: channel.gate, retry: batching, log })
    : undefined;
  const { largestBatch } = sink;
  const own = { name, sink, counters, account, batching, channel, largestBatch };
  const feed = catchUp === undefined ? own : { ...own, catchUp };
  return made(loopOf(feed, parts));
}

export interface GroupInput {
  /** The sinks of the group, in the order of the file. */
  readonly nodes: readonly SinkNode[];
  readonly channel: CountedChannel;
  readonly parts: AssemblyParts;
}

/** The sinks of a group: one loop takes from the channel and hands each batch to one of them. */
export function runningGroup(node: SinkGroupNode, { nodes, channel, parts }: GroupInput): readonly RunningSink[] {
  const inOrder = node.sinks.flatMap((name) => nodes.find((sink) => sink.name === name) ?? []);
  const [first] = inOrder;
  if (first === undefined) return [];
  const { name } = node;
  const context = contextOf(name, parts);
  const account = parts.ledger.account(first.channel);
  const sinks = inOrder.map((sink) => ({
    ...supervised(sink, channel, parts, node),
    account: account.sink(sink.name),
  }));
  const processor = createComponent("sink-processor", node.processor, context);
  const group = new SinkGroup({ name, members: sinks, processor, log: context.log, account: account.sink(name) });
  const batching = { batchLinger: sinks[0]?.sink.batchLinger, ...first.batching };
  const feed = { name, sink: group, counters: group.counters, account: group, batching, channel, others: node.sinks };
  const patience = () => (channel.size === 0 ? 0 : node.positionsTimeout * 1000);
  const { log } = context;
  const catchUp = channel.durable
    ? catchUpOf({ keepers: sinks, patience, gate: channel.gate, retry: batching, log })
    : undefined;
  const { runner, replayed } = loopOf({ ...feed, ...(catchUp === undefined ? {} : { catchUp }) }, parts);
  const shared = { runner: new SharedRunner(runner, sinks.length), replayed };
  return sinks.map(({ made }) => made(shared));
}

type Loop = Pick<RunningSink, "runner" | "replayed">;

interface Supervised extends Pick<RunningSink, "name" | "sink" | "counters"> {
  /** The sink with what feeds it. */
  readonly made: (loop: Loop) => RunningSink;
}

function supervised(node: SinkNode, channel: CountedChannel, parts: AssemblyParts, group?: SinkGroupNode): Supervised {
  const { name } = node;
  const context = contextOf(name, parts);
  const counters = new SinkCounters();
  let tell: (status: "ERROR" | "START") => void = () => {};
  const sink = new SupervisedSink({
    name,
    create: () => createComponent("sink", node, context),
    persistTimeout: node.batching.persistTimeout ?? 0,
    ...(parts.startTimeout === undefined ? {} : { startTimeout: parts.startTimeout }),
    log: context.log,
    clock: parts.clock,
    tell: (status) => tell(status),
  });
  const made = (loop: Loop): RunningSink => {
    const common = { name, node, channel, sink, counters, ...loop, ...(group === undefined ? {} : { group }) };
    const running: RunningSink = { ...common, setupTime: parts.clock.now(), status: "IDLE" };
    tell = (status) => {
      running.status = status;
    };
    return running;
  };
  return { name, sink, counters, made };
}

interface Feed extends Pick<SinkRunnerParts, "counters" | "catchUp" | "largestBatch"> {
  /** Of the sink or the group; its dead letters and log lines are kept under it. */
  readonly name: string;
  readonly sink: Pick<Sink, "persist" | "alreadyStored">;
  readonly account: NonNullable<SinkRunnerParts["account"]>;
  readonly batching: SinkRunnerParts["batching"] & RetryPolicy;
  readonly channel: CountedChannel;
  readonly others?: readonly string[];
}

function loopOf(feed: Feed, parts: AssemblyParts): Loop {
  const { name, sink, counters, account, batching, channel, others = [], catchUp, largestBatch } = feed;
  const { deadLetters, clock, loggers, observer } = parts;
  const log = loggers.of(name);
  const replayed = new ReplayedLetters({ sink: name, others, deadLetters, log });
  const delivery = new SinkDelivery({ name, sink, retry: batching, deadLetters, counters, log, clock, observer });
  const { settlements } = channel;
  const common = { channel, delivery, batching, counters, log, settlements, replayed, account, largestBatch };
  const runner = new SinkRunner(catchUp === undefined ? common : { ...common, catchUp });
  return { runner, replayed };
}
