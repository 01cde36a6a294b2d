import path from "node:path";
import type { ComponentNode, SinkNode, SourceNode, Topology } from "../configuration/topology.js";
import { ChannelProcessor } from "../pipeline/channel-processor.js";
import { CountedChannel } from "../pipeline/counted-channel.js";
import { SinkCounters } from "../pipeline/counters.js";
import { DeadLetters } from "../pipeline/dead-letters.js";
import { SinkDelivery } from "../pipeline/delivery.js";
import { SinkRunner } from "../pipeline/sink-runner.js";
import { AgentError, type Context, type IncomingTransaction } from "../sdk/index.js";
import type { Clock, Loggers, TransactionObserver } from "../tokens.js";
import type { Assembly, RunningChannel, RunningSink, RunningSource } from "./component.js";
import { createComponent } from "./create-component.js";

export interface AssemblyParts {
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly observer: TransactionObserver;
}

/** Creates every component of a topology and links them. No I/O happens here. */
export function assemble(topology: Topology, parts: AssemblyParts): Assembly {
  const channels = topology.channels.map((node) => runningChannel(node, parts));
  const byName = new Map(channels.map((running) => [running.name, running.channel]));
  return {
    channels,
    sinks: topology.sinks.map((node) => runningSink(node, channelOf(byName, node.channel), parts)),
    sources: topology.sources.map((node) => runningSource(node, byName, parts)),
  };
}

function contextOf(name: string, { loggers, clock, dataDir }: AssemblyParts): Context {
  return { name, log: loggers.of(name), dataDir, now: () => clock.now() };
}

function runningChannel(node: ComponentNode, parts: AssemblyParts): RunningChannel {
  const context = contextOf(node.name, parts);
  const channel = new CountedChannel(createComponent("channel", node, context), context.now);
  return { name: node.name, node, channel, setupTime: parts.clock.now(), status: "IDLE" };
}

function runningSink(node: SinkNode, channel: CountedChannel, parts: AssemblyParts): RunningSink {
  const context = contextOf(node.name, parts);
  const sink = createComponent("sink", node, context);
  const counters = new SinkCounters();
  const deadLetters = new DeadLetters(path.join(parts.dataDir, "dead-letters"));
  const delivery = new SinkDelivery({
    name: node.name,
    sink,
    retry: node.batching,
    deadLetters,
    counters,
    log: context.log,
    clock: parts.clock,
    observer: parts.observer,
  });
  const runner = new SinkRunner({ channel, delivery, batching: node.batching, counters, log: context.log });
  return { name: node.name, node, sink, runner, counters, setupTime: parts.clock.now(), status: "IDLE" };
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
