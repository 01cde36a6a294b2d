import type { ComponentNode, SourceNode } from "../configuration/topology.js";
import { ChannelProcessor } from "../pipeline/channel-processor.js";
import type { CountedChannel } from "../pipeline/counted-channel.js";
import { Receiver } from "../pipeline/receiver.js";
import { ServiceQuota } from "../pipeline/service-quota.js";
import { SourceGate } from "../pipeline/source-gate.js";
import { TracedRequests } from "../pipeline/traced-requests.js";
import type { Context, Event, Handler, InboundRequest, IncomingTransaction } from "../sdk/index.js";
import { isOfOthers } from "../sdk/plugins-of-others.js";
import { atPath, type RunningInterceptor, type RunningSource, titleOf } from "./component.js";
import { type AssemblyParts, contextOf, plainContextOf } from "./component-context.js";
import { createComponent } from "./create-component.js";
import { ReportedHealth } from "./reported-health.js";

/** A source with what is nested in it, and its way into its channels. */
export function runningSource(
  node: SourceNode,
  channels: ReadonlyMap<string, CountedChannel>,
  parts: AssemblyParts,
): RunningSource {
  const reported = new ReportedHealth(parts.clock);
  const reporting = { parts, reported };
  const context = contextOf(node.name, parts, reported);
  const interceptors = node.interceptors.map((own) => runningInterceptor(own, node.name, reporting));
  const processor = channelProcessor(node, { interceptors, channels, reporting });
  const { slots, handler, handlerType, isHandlerOfOthers } = filledSlots(node, reporting);
  const traced = parts.tracing === undefined ? undefined : new TracedRequests(node.name, parts.tracing);
  const quota = quotaOf(node, parts);
  const emit = new SourceGate(titleOf(node)).emit(quota?.limited(processor.emitChecked) ?? processor.emitChecked);
  const receiver = new Receiver({
    ...context,
    handler: handler && (traced?.handler(handler) ?? handler),
    handlerType,
    isHandlerOfOthers,
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

/** Where what a source makes reports to. */
interface Reporting {
  readonly parts: AssemblyParts;
  readonly reported: ReportedHealth;
}

function runningInterceptor(node: ComponentNode, source: string, reporting: Reporting): RunningInterceptor {
  const placed = atPath(source, node);
  const interceptor = createComponent("interceptor", placed, nestedContext(node, source, reporting));
  return { interceptor, title: titleOf(node), isOfOthers: isOfOthers(node.definition), node: placed };
}

interface ProcessorInput {
  readonly interceptors: readonly RunningInterceptor[];
  readonly channels: ReadonlyMap<string, CountedChannel>;
  readonly reporting: Reporting;
}

function channelProcessor(node: SourceNode, { interceptors, channels, reporting }: ProcessorInput): ChannelProcessor {
  const { parts } = reporting;
  const { name, selector } = node;
  const own = { ...nestedContext(selector, name, reporting), ...plainContextOf(name, parts) };
  return new ChannelProcessor({
    interceptors,
    sourceTitle: titleOf(node),
    isSourceOfOthers: isOfOthers(node.definition),
    selectorName: selector.definition.type,
    isSelectorOfOthers: isOfOthers(selector.definition),
    selector: createComponent("selector", atPath(name, selector), { ...own, channels: node.channels }),
    channels,
    log: parts.loggers.of(name),
    unrouted: (events) => parts.observer.unrouted?.(name, events),
  });
}

/** A source that replaces another one of its name goes on with what was used of the quotas. */
function quotaOf({ name, quota }: SourceNode, { quotas }: AssemblyParts): ServiceQuota | undefined {
  return quota && new ServiceQuota({ source: name, quota, buckets: quotas.of(name) });
}

/** The components in the slots of a source, and the first handler of them. */
function filledSlots(node: SourceNode, reporting: Reporting) {
  const slots: Record<string, unknown> = {};
  let handler: Handler | undefined;
  let handlerType: string | undefined;
  let isHandlerOfOthers = false;
  for (const [slot, own] of Object.entries(node.slots)) {
    const { kind } = own.definition;
    const context = nestedContext(own, node.name, reporting);
    const nested = atPath(node.name, own);
    if (kind === "handler" && handler === undefined) {
      handler = createComponent(kind, nested, context);
      slots[slot] = handler;
      handlerType = nested.definition.type;
      isHandlerOfOthers = isOfOthers(nested.definition);
    } else slots[slot] = createComponent(kind, nested, context);
  }
  return { slots, handler, handlerType, isHandlerOfOthers };
}

/** Metrics and reports have its path; to itself and in the log it has its name. */
function nestedContext({ name }: ComponentNode, owner: string, { parts, reported }: Reporting): Context {
  return { ...contextOf(`${owner}.${name}`, parts, reported), ...plainContextOf(name, parts) };
}
