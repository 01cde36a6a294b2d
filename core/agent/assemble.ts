import type { ComponentNode, SourceNode, Topology } from "../configuration/topology.js";
import { CountedChannel } from "../pipeline/counted-channel.js";
import { ChannelOutlet } from "../pipeline/delivery/channel-outlet.js";
import { AgentError } from "../sdk/index.js";
import { isOfOthers } from "../sdk/plugins-of-others.js";
import { roomOf } from "./channel-room.js";
import { type Assembly, type RunningChannel, type RunningSink, titleOf } from "./component.js";
import { type AssemblyParts, type ChannelAssembly, channelContextOf } from "./component-context.js";
import { createComponent } from "./create-component.js";
import { type KeptComponents, keptComponents } from "./kept-components.js";
import { ReportedHealth } from "./reported-health.js";
import { runningGroup, runningSink } from "./running-sink.js";
import { runningSource } from "./running-source.js";

/**
 * Creates every component of a topology and links them; those of a previous assembly that are described in the same
 * way, and whose channels stay, are taken as they are. No I/O happens here.
 */
export function assemble(topology: Topology, parts: AssemblyParts, previous: Assembly = nothing): Assembly {
  const kept = keptComponents(topology, previous);
  const channels = topology.channels.map((node) => {
    const hasSinks = topology.sinks.some(({ channel }) => channel === node.name);
    return kept.channels.get(node.name) ?? channelAfter(previous, node, { ...parts, hasSinks });
  });
  const byName = new Map(channels.map((running) => [running.name, running]));
  const sinks = assembledSinks(topology, { kept, outletOf: (name) => channelOf(byName, name).outlet, parts });
  const sources = topology.sources.map(
    (node) => kept.sources.get(node.name) ?? runningSource(node, channelsOf(node, byName), parts),
  );
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
function channelAfter(previous: Assembly, node: ComponentNode, parts: ChannelAssembly): RunningChannel {
  const running = runningChannel(node, parts);
  const before = previous.channels.find(({ name }) => name === node.name);
  if (before !== undefined) running.channel.counters.follow(before.channel.counters);
  return running;
}

function runningChannel(node: ComponentNode, parts: ChannelAssembly): RunningChannel {
  const reported = new ReportedHealth(parts.clock);
  const context = channelContextOf(node.name, parts, reported);
  const component = createComponent("channel", node, context);
  const account = parts.ledger.account(node.name);
  const title = titleOf(node);
  const channel = new CountedChannel(component, {
    account,
    now: context.now,
    title: `channel ${title}`,
    isOfOthers: isOfOthers(node.definition),
  });
  const outlet = new ChannelOutlet(channel, { account, title, room: roomOf(node) });
  return { name: node.name, node, channel, outlet, reported, setupTime: parts.clock.now(), status: "IDLE" };
}

/** Not a function: what a source keeps of its channels must not keep the assembly before. */
function channelsOf({ channels: names }: SourceNode, channels: ReadonlyMap<string, RunningChannel>) {
  return new Map(names.map((name) => [name, channelOf(channels, name).channel]));
}

function channelOf(channels: ReadonlyMap<string, RunningChannel>, name: string): RunningChannel {
  const channel = channels.get(name);
  if (channel === undefined)
    throw new AgentError("UNKNOWN_CHANNEL", `linking to channel "${name}", which is not there`, { retryable: false });
  return channel;
}
