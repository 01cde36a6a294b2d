import type { Batching, SinkGroupNode, SinkNode } from "../configuration/topology.js";
import { SinkCounters } from "../pipeline/counters.js";
import { ReplayedLetters } from "../pipeline/dead-letters/replayed-letters.js";
import type { ChannelOutlet } from "../pipeline/delivery/channel-outlet.js";
import { type DeliveryChainParts, deliveryChain } from "../pipeline/delivery/delivery-chain.js";
import type { RetryPolicy } from "../pipeline/delivery/retry-policy.js";
import { SharedFeed } from "../pipeline/delivery/shared-feed.js";
import { SinkFeed, type SinkFeedParts } from "../pipeline/delivery/sink-feed.js";
import { SinkGroup } from "../pipeline/delivery/sink-group.js";
import { SupervisedSink } from "../pipeline/delivery/supervised-sink.js";
import { isOfOthers } from "../sdk/plugins-of-others.js";
import type { RunningSink } from "./component.js";
import { type AssemblyParts, contextOf } from "./component-context.js";
import { createComponent } from "./create-component.js";
import { ReportedHealth } from "./reported-health.js";

/** A sink that has its channel for itself. */
export function runningSink(node: SinkNode, outlet: ChannelOutlet, parts: AssemblyParts): RunningSink {
  const { name, sink, counters, running } = createSupervised(node, outlet, parts);
  const account = parts.ledger.account(node.channel).sink(name);
  const batching = { batchLinger: sink.batchLinger, ...node.batching };
  const { largestBatch } = sink;
  const { channel } = node;
  const keepers = [{ name, sink }];
  const feed = createFeed({ name, sink, counters, account, batching, outlet, largestBatch, keepers, channel }, parts);
  return running(feed);
}

interface GroupInput {
  /** The sinks of the group, in the order of the file. */
  readonly nodes: readonly SinkNode[];
  readonly outlet: ChannelOutlet;
  readonly parts: AssemblyParts;
}

/** The sinks of a group: one feed takes from the channel and hands each batch to one of them. */
export function runningGroup(node: SinkGroupNode, { nodes, outlet, parts }: GroupInput): readonly RunningSink[] {
  const inOrder = node.sinks.flatMap((name) => nodes.find((sink) => sink.name === name) ?? []);
  const [first] = inOrder;
  if (first === undefined) return [];
  const { name } = node;
  const groupReported = new ReportedHealth(parts.clock);
  const context = contextOf(name, parts, groupReported);
  const account = parts.ledger.account(first.channel);
  const sinks = inOrder.map((sink) => ({
    ...createSupervised(sink, outlet, parts, node),
    account: account.sink(sink.name),
  }));
  const processor = createComponent("sink-processor", node.processor, context);
  const processorType = node.processor.definition.type;
  const { log } = context;
  const group = new SinkGroup({ name, members: sinks, processor, processorType, log, account: account.sink(name) });
  const batching = { batchLinger: sinks[0]?.sink.batchLinger, ...first.batching };
  const timeLimit = { milliseconds: node.positionsTimeout * 1000, channel: outlet.channel };
  const input = {
    name,
    sink: group,
    counters: group.counters,
    account: group,
    batching,
    outlet,
    others: node.sinks,
    channel: first.channel,
  };
  const { feed, ...others } = createFeed({ ...input, keepers: sinks, timeLimit }, parts);
  const shared = { feed: new SharedFeed(feed, sinks.length), groupReported, ...others };
  return sinks.map(({ running }) => running(shared));
}

/** What feeds a sink, and what goes with it. */
type FeedOfSink = Pick<RunningSink, "feed" | "replayed" | "keeping" | "holding" | "groupReported">;

interface Supervised extends Pick<RunningSink, "name" | "sink" | "counters"> {
  /** The sink with what feeds it. */
  readonly running: (feed: FeedOfSink) => RunningSink;
}

function createSupervised(
  node: SinkNode,
  outlet: ChannelOutlet,
  parts: AssemblyParts,
  group?: SinkGroupNode,
): Supervised {
  const { name } = node;
  const reported = new ReportedHealth(parts.clock);
  const context = contextOf(name, parts, reported);
  const counters = new SinkCounters();
  let tell: (status: "ERROR" | "START") => void = () => {};
  const sink = new SupervisedSink({
    name,
    create: () => createComponent("sink", node, context),
    isOfOthers: isOfOthers(node.definition),
    persistTimeout: node.batching.persistTimeout ?? 0,
    ...(parts.startTimeout === undefined ? {} : { startTimeout: parts.startTimeout }),
    log: context.log,
    clock: parts.clock,
    tell: (status) => tell(status),
  });
  const running = (feed: FeedOfSink): RunningSink => {
    const common = {
      name,
      node,
      channel: outlet.channel,
      sink,
      counters,
      reported,
      ...feed,
      ...(group === undefined ? {} : { group }),
    };
    const made: RunningSink = { ...common, setupTime: parts.clock.now(), status: "IDLE" };
    tell = (status) => {
      made.status = status;
      if (status === "ERROR") reported.clear();
    };
    return made;
  };
  return { name, sink, counters, running };
}

interface FeedInput extends Pick<SinkFeedParts, "counters" | "largestBatch"> {
  /** Of the sink or the group; its dead letters and log lines are kept under it. */
  readonly name: string;
  readonly sink: DeliveryChainParts["sink"];
  readonly keepers: Positions["keepers"];
  readonly timeLimit?: Positions["timeLimit"];
  readonly account: NonNullable<SinkFeedParts["account"]>;
  readonly batching: SinkFeedParts["batching"] & Retrying;
  readonly outlet: ChannelOutlet;
  readonly others?: readonly string[];
  /** The name of the channel. */
  readonly channel: string;
}

type Retrying = Pick<Batching, "batchTtl" | "batchTtlGiven" | "batchRetryIntervals">;
type Positions = NonNullable<DeliveryChainParts["positions"]>;

function createFeed(input: FeedInput, parts: AssemblyParts): FeedOfSink {
  const { deadLetters, clock, loggers, observer, crashWatch, erasures, tracing } = parts;
  const { name, sink, counters, account, batching, outlet, others = [], keepers, timeLimit, largestBatch } = input;
  const log = loggers.of(name);
  const replayed = new ReplayedLetters({ sink: name, others, deadLetters, log });
  const common = {
    name,
    sink,
    retry: retryOf(batching, outlet),
    erasures,
    deadLetters,
    replayed,
    counters,
    log,
    clock,
    observer,
    // Sinks of a group take what another one cannot store.
    holdsApart: outlet.channel.holdsApart && keepers.length === 1,
    redelivers: outlet.channel.redelivers && !outlet.channel.holdsApart,
  };
  const traced = tracing === undefined ? {} : { tracing, channel: input.channel };
  const shared = outlet.channel.sharesLetters ? { outlet } : {};
  const positions = { keepers, gate: outlet.gate, ...(timeLimit === undefined ? {} : { timeLimit }) };
  const chain = deliveryChain({
    ...common,
    ...traced,
    ...(outlet.channel.durable ? { positions, crashWatch } : {}),
    ...shared,
  });
  const feed = new SinkFeed({ outlet, chain, batching, counters, log, replayed, account, largestBatch });
  const holding = chain.holding === undefined ? {} : { holding: chain.holding };
  return { feed, replayed, keeping: chain.keeper.health, ...holding };
}

/** A durable channel keeps events for as long as it takes, unless the file says otherwise. */
function retryOf(batching: Retrying, { channel }: ChannelOutlet): RetryPolicy {
  const { batchTtl, batchTtlGiven = true, batchRetryIntervals } = batching;
  return { batchTtl, batchRetryIntervals, untilStored: channel.durable && !batchTtlGiven };
}
