import type { ComponentNode, SourceNode, Topology } from "../configuration/topology.js";
import { ChannelProcessor } from "../pipeline/channel-processor.js";
import { CountedChannel } from "../pipeline/counted-channel.js";
import { ChannelOutlet } from "../pipeline/delivery/channel-outlet.js";
import { Receiver } from "../pipeline/receiver.js";
import { ServiceQuota } from "../pipeline/service-quota.js";
import { SourceGate } from "../pipeline/source-gate.js";
import { TracedRequests } from "../pipeline/traced-requests.js";
import {
  AgentError,
  type Context,
  type Event,
  type Handler,
  type InboundRequest,
  type IncomingTransaction,
} from "../sdk/index.js";
import {
  type Assembly,
  atPath,
  type RunningChannel,
  type RunningSink,
  type RunningSource,
  titleOf,
} from "./component.js";
import {
  type AssemblyParts,
  channelContextOf,
  contextOf,
  createComponent,
  plainContextOf,
  ReportedHealth,
} from "./create-component.js";
import { type KeptComponents, keptComponents } from "./kept-components.js";
import { runningGroup, runningSink } from "./running-sink.js";

export type { AssemblyParts } from "./create-component.js";

/**
 * Creates every component of a topology and links them; those of a previous assembly that are described in the same
 * way, and whose channels stay, are taken as they are. No I/O happens here.
 */
export function assemble(topology: Topology, parts: AssemblyParts, previous: Assembly = nothing): Assembly {
  const kept = keptComponents(topology, previous);
  const channels = topology.channels.map((node) => kept.channels.get(node.name) ?? channelAfter(previous, node, parts));
  const byName = new Map(channels.map((running) => [running.name, running]));
  const sinks = assembledSinks(topology, { kept, outletOf: (name) => channelOf(byName, name).outlet, parts });
  const sources = topology.sources.map((node) => kept.sources.get(node.name) ?? runningSource(node, byName, parts));
  return { channels, sinks, sources };
}

const nothing: Assembly = { sources: [], channels: [], sinks: [] };

interface SinkEnvironment {
  readonly kept: KeptComponents;
  readonly outletOf: (name: string) => ChannelOutlet;
  readonly parts: AssemblyParts;
}

/** In the order of the topology. */
function assembledSinks({ sinks, groups = [] }: Topology, { kept, outletOf, parts }: SinkEnvironment) {
  const grouped = groups.flatMap((group): readonly RunningSink[] => {
    const nodes = sinks.filter(({ name }) => group.sinks.includes(name));
    const [first] = nodes;
    if (first === undefined || kept.sinks.has(first.name)) return [];
    return runningGroup(group, { nodes, outlet: outletOf(first.channel), parts });
  });
  return sinks.map((node) => {
    const member = grouped.find(({ name }) => name === node.name);
    return member ?? kept.sinks.get(node.name) ?? runningSink(node, outletOf(node.channel), parts);
  });
}

/** Its counts go on where those of the channel of this name stood. */
function channelAfter(previous: Assembly, node: ComponentNode, parts: AssemblyParts): RunningChannel {
  const running = runningChannel(node, parts);
  const before = previous.channels.find(({ name }) => name === node.name);
  if (before !== undefined) running.channel.counters.follow(before.channel.counters);
  return running;
}

function runningChannel(node: ComponentNode, parts: AssemblyParts): RunningChannel {
  const reported = new ReportedHealth(parts.clock);
  const context = channelContextOf(node.name, parts, reported);
  const component = createComponent("channel", node, context);
  const account = parts.ledger.account(node.name);
  const channel = new CountedChannel(component, account, context.now);
  const outlet = new ChannelOutlet(channel, account, titleOf(node));
  return { name: node.name, node, channel, outlet, reported, setupTime: parts.clock.now(), status: "IDLE" };
}

function runningSource(
  node: SourceNode,
  channels: ReadonlyMap<string, RunningChannel>,
  parts: AssemblyParts,
): RunningSource {
  const reported = new ReportedHealth(parts.clock);
  const context = contextOf(node.name, parts, reported);
  const nested = (own: ComponentNode) => nestedContext(own, node.name, { parts, reported });
  const interceptors = node.interceptors.map((own) => {
    const placed = atPath(node.name, own);
    return { interceptor: createComponent("interceptor", placed, nested(own)), title: titleOf(own), node: placed };
  });
  const selector = { ...nested(node.selector), ...plainContextOf(node.name, parts), channels: node.channels };
  const sourceTitle = titleOf(node);
  const processor = new ChannelProcessor({
    interceptors,
    sourceTitle,
    selectorName: node.selector.definition.type,
    selector: createComponent("selector", atPath(node.name, node.selector), selector),
    channels: new Map(node.channels.map((name) => [name, channelOf(channels, name).channel])),
    log: context.log,
    unrouted: (events) => parts.observer.unrouted?.(node.name, events),
  });
  const { slots, handler, handlerType } = filledSlots(node, parts, reported);
  const traced = parts.tracing === undefined ? undefined : new TracedRequests(node.name, parts.tracing);
  const quota = quotaOf(node, parts);
  const gate = new SourceGate(sourceTitle);
  const emit = gate.emit(quota?.limited(processor.emitChecked) ?? processor.emitChecked);
  const receiver = new Receiver({
    ...context,
    handler: handler && (traced?.handler(handler) ?? handler),
    handlerType,
    ...(traced === undefined ? {} : { traceFields: (request: InboundRequest) => traced.fieldsOf(request) }),
    emit: processor.emit,
    quota,
    observer: parts.observer,
    arrivals: parts.arrivals,
  });
  const source = createComponent("source", node, {
    ...context,
    receive: traced?.receive(receiver.receive) ?? receiver.receive,
    refused: receiver.refused,
    emit: (events: readonly Event[]) => {
      const emitting = emit(events);
      parts.arrivals.taker?.emitted(node.name, events, emitting);
      return emitting;
    },
    slots,
    incoming: (transaction: IncomingTransaction) => parts.observer.received(node.name, transaction),
  });
  const created = { name: node.name, node, source, interceptors, processor, receiver, reported };
  return { ...created, setupTime: parts.clock.now(), status: "IDLE" };
}

/** A source that replaces another one of its name goes on with what was used of the quotas. */
function quotaOf({ name, quota }: SourceNode, { quotas }: AssemblyParts): ServiceQuota | undefined {
  return quota && new ServiceQuota({ source: name, quota, buckets: quotas.of(name) });
}

/** The components in the slots of a source, and the first handler of them. */
function filledSlots(node: SourceNode, parts: AssemblyParts, reported: ReportedHealth) {
  const slots: Record<string, unknown> = {};
  let handler: Handler | undefined;
  let handlerType: string | undefined;
  for (const [slot, own] of Object.entries(node.slots)) {
    const { kind } = own.definition;
    const context = nestedContext(own, node.name, { parts, reported });
    const nested = atPath(node.name, own);
    if (kind === "handler" && handler === undefined) {
      handler = createComponent(kind, nested, context);
      slots[slot] = handler;
      handlerType = nested.definition.type;
    } else slots[slot] = createComponent(kind, nested, context);
  }
  return { slots, handler, handlerType };
}

/** Metrics and reports have its path; to itself and in the log it has its name. */
function nestedContext({ name }: ComponentNode, owner: string, { parts, reported }: Reporting): Context {
  return { ...contextOf(`${owner}.${name}`, parts, reported), ...plainContextOf(name, parts) };
}

interface Reporting {
  readonly parts: AssemblyParts;
  readonly reported: ReportedHealth;
}

function channelOf(channels: ReadonlyMap<string, RunningChannel>, name: string): RunningChannel {
  const channel = channels.get(name);
  if (channel === undefined)
    throw new AgentError("UNKNOWN_CHANNEL", `linking to channel "${name}", which is not there`, { retryable: false });
  return channel;
}
