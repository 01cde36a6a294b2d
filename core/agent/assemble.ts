import { isDeepStrictEqual } from "node:util";
import type { ComponentNode, SinkGroupNode, SinkNode, SourceNode, Topology } from "../configuration/topology.js";
import { ChannelProcessor } from "../pipeline/channel-processor.js";
import { CountedChannel } from "../pipeline/counted-channel.js";
import { ChannelOutlet } from "../pipeline/delivery/channel-outlet.js";
import { Receiver } from "../pipeline/receiver.js";
import { AgentError, type Context, type Handler, type IncomingTransaction } from "../sdk/index.js";
import { type Assembly, atPath, type RunningChannel, type RunningSink, type RunningSource } from "./component.js";
import {
  type AssemblyParts,
  channelContextOf,
  contextOf,
  createComponent,
  plainContextOf,
  ReportedHealth,
} from "./create-component.js";
import { runningGroup, runningSink } from "./running-sink.js";

export type { AssemblyParts } from "./create-component.js";

/**
 * Creates every component of a topology and links them; those of a previous assembly that are described in the same
 * way, and whose channels stay, are taken as they are. No I/O happens here.
 */
export function assemble(topology: Topology, parts: AssemblyParts, previous: Assembly = nothing): Assembly {
  const channels = topology.channels.map((node) => sameOf(previous.channels, node) ?? runningChannel(node, parts));
  const byName = new Map(channels.map((running) => [running.name, running]));
  const stays = (name: string) => previous.channels.some((running) => running === byName.get(name));
  const sinks = assembledSinks(topology, {
    stays,
    outletOf: (name) => channelOf(byName, name).outlet,
    parts,
    previous,
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

interface SinkEnvironment {
  readonly stays: (channel: string) => boolean;
  readonly outletOf: (name: string) => ChannelOutlet;
  readonly parts: AssemblyParts;
  readonly previous: Assembly;
}

/** In the order of the topology. A group is taken unchanged only as a whole: its sinks have one loop. */
function assembledSinks(
  { sinks, groups = [] }: Topology,
  { stays, outletOf, parts, previous }: SinkEnvironment,
): readonly RunningSink[] {
  const sameIn = (node: SinkNode, group: SinkGroupNode | undefined) => {
    const same = stays(node.channel) ? sameOf(previous.sinks, node) : undefined;
    return same !== undefined && isDeepStrictEqual(same.group, group) ? same : undefined;
  };
  const grouped = groups.flatMap((group) => {
    const nodes = sinks.filter(({ name }) => group.sinks.includes(name));
    const same = nodes.flatMap((node) => sameIn(node, group) ?? []);
    const [first] = nodes;
    if (first === undefined || same.length === nodes.length) return same;
    return runningGroup(group, { nodes, outlet: outletOf(first.channel), parts });
  });
  return sinks.map((node) => {
    const member = grouped.find(({ name }) => name === node.name);
    return member ?? sameIn(node, undefined) ?? runningSink(node, outletOf(node.channel), parts);
  });
}

function runningChannel(node: ComponentNode, parts: AssemblyParts): RunningChannel {
  const reported = new ReportedHealth(parts.clock);
  const context = channelContextOf(node.name, parts, reported);
  const component = createComponent("channel", node, context);
  const account = parts.ledger.account(node.name);
  const channel = new CountedChannel(component, account, context.now);
  const outlet = new ChannelOutlet(channel, account, `"${node.name}" of type "${node.definition.type}"`);
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
  const interceptors = node.interceptors.map((own) =>
    createComponent("interceptor", atPath(node.name, own), nested(own)),
  );
  const selector = { ...nested(node.selector), ...plainContextOf(node.name, parts), channels: node.channels };
  const processor = new ChannelProcessor({
    interceptors,
    interceptorNames: node.interceptors.map(({ name }) => name),
    interceptorTypes: node.interceptors.map(({ definition }) => definition.type),
    sourceTitle: `"${node.name}" of type "${node.definition.type}"`,
    selectorName: node.selector.definition.type,
    selector: createComponent("selector", atPath(node.name, node.selector), selector),
    channels: new Map(node.channels.map((name) => [name, channelOf(channels, name).channel])),
    log: context.log,
    unrouted: (events) => parts.observer.unrouted?.(node.name, events),
  });
  const { slots, handler, handlerType } = filledSlots(node, parts, reported);
  const receiver = new Receiver({
    ...context,
    handler,
    handlerType,
    emit: processor.emit,
    observer: parts.observer,
  });
  const source = createComponent("source", node, {
    ...context,
    receive: receiver.receive,
    refused: receiver.refused,
    emit: processor.emitChecked,
    slots,
    incoming: (transaction: IncomingTransaction) => parts.observer.received(node.name, transaction),
  });
  const created = { name: node.name, node, source, interceptors, processor, receiver, reported };
  return { ...created, setupTime: parts.clock.now(), status: "IDLE" };
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
