import { isDeepStrictEqual } from "node:util";
import type { ComponentNode, SinkNode, SourceNode, Topology } from "../configuration/topology.js";
import { catchUpOf } from "../pipeline/catch-up.js";
import { ChannelProcessor } from "../pipeline/channel-processor.js";
import { CountedChannel } from "../pipeline/counted-channel.js";
import { SinkCounters } from "../pipeline/counters.js";
import type { DeadLetters } from "../pipeline/dead-letters.js";
import { SinkDelivery } from "../pipeline/delivery.js";
import type { Ledger } from "../pipeline/ledger.js";
import { ReplayedLetters } from "../pipeline/replayed-letters.js";
import { SinkRunner } from "../pipeline/sink-runner.js";
import { SupervisedSink } from "../pipeline/supervised-sink.js";
import { AgentError, type Context, type IncomingTransaction } from "../sdk/index.js";
import type { Clock, Loggers, TransactionObserver } from "../tokens.js";
import type { Assembly, RunningChannel, RunningSink, RunningSource } from "./component.js";
import { createComponent } from "./create-component.js";

export interface AssemblyParts {
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly deadLetters: DeadLetters;
  readonly ledger: Ledger;
  readonly observer: TransactionObserver;
}

/**
 * Creates every component of a topology and links them; those of a previous assembly that are described in the same
 * way, and whose channels stay, are taken as they are. No I/O happens here.
 */
export function assemble(topology: Topology, parts: AssemblyParts, previous: Assembly = nothing): Assembly {
  const channels = topology.channels.map((node) => sameOf(previous.channels, node) ?? runningChannel(node, parts));
  const byName = new Map(channels.map((running) => [running.name, running.channel]));
  const stays = (name: string) => previous.channels.some(({ channel }) => channel === byName.get(name));
  const sinks = topology.sinks.map((node) => {
    const same = stays(node.channel) ? sameOf(previous.sinks, node) : undefined;
    return same ?? runningSink(node, channelOf(byName, node.channel), parts);
  });
  const sources = topology.sources.map((node) => {
    const same = node.channels.every(stays) ? sameOf(previous.sources, node) : undefined;
    return same ?? runningSource(node, byName, parts);
  });
  return { channels, sinks, sources };
}

const nothing: Assembly = { sources: [], channels: [], sinks: [] };

function sameOf<R extends { readonly node: ComponentNode }>(
  previous: readonly R[],
  node: ComponentNode,
): R | undefined {
  return previous.find((running) => isDeepStrictEqual(running.node, node));
}

function contextOf(name: string, { loggers, clock, dataDir }: AssemblyParts): Context {
  return { name, log: loggers.of(name), dataDir, now: () => clock.now() };
}

function runningChannel(node: ComponentNode, parts: AssemblyParts): RunningChannel {
  const context = contextOf(node.name, parts);
  const component = createComponent("channel", node, context);
  const channel = new CountedChannel(component, parts.ledger.account(node.name), context.now);
  return { name: node.name, node, channel, setupTime: parts.clock.now(), status: "IDLE" };
}

function runningSink(node: SinkNode, channel: CountedChannel, parts: AssemblyParts): RunningSink {
  const context = contextOf(node.name, parts);
  const { deadLetters, clock, ledger, observer } = parts;
  const { log } = context;
  const counters = new SinkCounters();
  const replayed = new ReplayedLetters({ sink: node.name, deadLetters, log });
  const sink = new SupervisedSink({
    name: node.name,
    create: () => createComponent("sink", node, context),
    persistTimeout: node.batching.persistTimeout ?? 0,
    log,
    clock,
    tell: (status) => {
      running.status = status;
    },
  });
  const delivery = new SinkDelivery({
    name: node.name,
    sink,
    retry: node.batching,
    deadLetters,
    counters,
    log,
    clock,
    observer,
  });
  const runner = new SinkRunner({
    channel,
    delivery,
    batching: node.batching,
    counters,
    log,
    settlements: channel.settlements,
    replayed,
    ...(channel.durable ? { catchUp: catchUpOf({ sink, gate: channel.gate, retry: node.batching, log }) } : {}),
    account: ledger.account(node.channel).sink(node.name),
  });
  const common = { name: node.name, setupTime: clock.now(), status: "IDLE" } as const;
  const running: RunningSink = { ...common, node, channel, sink, replayed, runner, counters };
  return running;
}

function runningSource(
  node: SourceNode,
  channels: ReadonlyMap<string, CountedChannel>,
  parts: AssemblyParts,
): RunningSource {
  const context = contextOf(node.name, parts);
  const interceptors = node.interceptors.map((interceptor) =>
    createComponent("interceptor", interceptor, contextOf(interceptor.name, parts)),
  );
  const processor = new ChannelProcessor({
    interceptors,
    selector: createComponent("selector", node.selector, { ...context, channels: node.channels }),
    channels: new Map(node.channels.map((name) => [name, channelOf(channels, name)])),
    log: context.log,
  });
  const slots = Object.entries(node.slots).map(([slot, nested]) => [
    slot,
    createComponent(nested.definition.kind, nested, contextOf(nested.name, parts)),
  ]);
  const source = createComponent("source", node, {
    ...context,
    emit: processor.emit,
    slots: Object.fromEntries(slots),
    incoming: (transaction: IncomingTransaction) => parts.observer.received(node.name, transaction),
  });
  return { name: node.name, node, source, interceptors, processor, setupTime: parts.clock.now(), status: "IDLE" };
}

function channelOf(channels: ReadonlyMap<string, CountedChannel>, name: string): CountedChannel {
  const channel = channels.get(name);
  if (channel === undefined)
    throw new AgentError("UNKNOWN_CHANNEL", `linking to channel "${name}", which is not there`);
  return channel;
}
