import type { ComponentNode, SourceNode, Topology } from "../../configuration/topology.js";
import { ChannelProcessor } from "../../pipeline/channel-processor.js";
import { frozenEvent } from "../../sdk/frozen.js";
import {
  AgentError,
  type Channel,
  type Context,
  type Event,
  type Explanation,
  type InboundRequest,
  reasonOf,
} from "../../sdk/index.js";
import { isOfOthers } from "../../sdk/plugins-of-others.js";
import type { Clock, Loggers } from "../../tokens.js";
import { titleOf } from "../component.js";
import { createComponent } from "../create-component.js";

export interface ExplainParts {
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly dataDir: string;
}

/** One event of a request, and what becomes of it; without channels an interceptor dropped it. */
export interface ExplainedEvent {
  readonly source: string;
  readonly event: Event;
  readonly channels: readonly string[];
  readonly sinks: readonly ExplainedSink[];
}

export interface ExplainedSink {
  readonly sink: string;
  readonly type: string;
  /** Absent for a sink whose plugin does not explain itself, or failed to. */
  readonly explanation?: Explanation;
  /** Why the sink could not explain this event, for example because it would refuse it. */
  readonly failure?: string;
}

/** What the agent would do with a request at each of its sources with a handler; no channel, sink or source starts. */
export async function explain(
  topology: Topology,
  requestTo: (handler: ComponentNode) => InboundRequest,
  parts: ExplainParts,
): Promise<readonly ExplainedEvent[]> {
  const events: ExplainedEvent[] = [];
  for (const source of topology.sources) {
    const { handler } = source.slots;
    if (handler === undefined) continue;
    const decoded = decodedBy(handler, requestTo(handler), parts);
    for (const routed of await routes(source, decoded, parts)) {
      const sinks = topology.sinks.filter(({ channel }) => routed.channels.has(channel));
      events.push({
        source: source.name,
        event: routed.event,
        channels: [...routed.channels.keys()],
        sinks: await Promise.all(sinks.map((sink) => explainedSink(sink, routed.channels.get(sink.channel), parts))),
      });
    }
  }
  return events;
}

/** The events of a request; throws what the handler throws. */
export function decodedBy(handler: ComponentNode, request: InboundRequest, parts: ExplainParts): readonly Event[] {
  return createComponent("handler", handler, contextOf(handler.name, parts)).decode(request).events;
}

/** The path that a handler takes requests at. */
export function targetOf(handler: ComponentNode): string {
  const target = handler.config["notification_target"];
  return typeof target === "string" ? target : "/notify";
}

interface Routed {
  readonly event: Event;
  /** What was put into each channel. */
  readonly channels: ReadonlyMap<string, Event>;
}

/** Where the interceptors and the selector of a source send its events. */
export async function routes(
  node: SourceNode,
  events: readonly Event[],
  parts: ExplainParts,
): Promise<readonly Routed[]> {
  const context = contextOf(node.name, parts);
  let taken = new Map<string, Event>();
  const interceptors = node.interceptors.map((own) => ({
    interceptor: createComponent("interceptor", own, contextOf(own.name, parts)),
    title: `"${own.name}"`,
    isOfOthers: isOfOthers(own.definition),
  }));
  const processor = new ChannelProcessor({
    interceptors,
    sourceTitle: titleOf(node),
    selector: createComponent("selector", node.selector, { ...context, channels: node.channels }),
    isSelectorOfOthers: isOfOthers(node.selector.definition),
    channels: new Map(node.channels.map((name) => [name, noting((event) => taken.set(name, event))])),
    log: context.log,
  });
  const routed: Routed[] = [];
  try {
    for (const { interceptor } of interceptors) await interceptor.start?.();
    for (const event of events) {
      taken = new Map();
      await processor.emit([event]);
      routed.push({ event, channels: taken });
    }
  } finally {
    for (const { interceptor } of interceptors) await interceptor.stop?.(AbortSignal.abort());
  }
  return routed;
}

/** A channel that keeps nothing. */
function noting(note: (event: Event) => void): Channel {
  const done = async () => undefined;
  return {
    size: 0,
    transactionCapacity: Number.MAX_SAFE_INTEGER,
    openPut: () => ({ put: note, commit: done, rollback: done }),
    openTake: () => {
      throw new AgentError("NOTHING_TO_TAKE", "taking from a channel that only notes what is put into it", {
        retryable: false,
      });
    },
    start: done,
    stop: done,
  };
}

export async function explainedSink(
  { name, definition, config }: ComponentNode,
  event: Event | undefined,
  parts: ExplainParts,
): Promise<ExplainedSink> {
  const sink = { sink: name, type: definition.type };
  if (event === undefined || definition.explain === undefined) return sink;
  try {
    const given = isOfOthers(definition) ? frozenEvent(event) : event;
    return { ...sink, explanation: await definition.explain(config, given, contextOf(name, parts)) };
  } catch (error) {
    return { ...sink, failure: reasonOf(error) };
  }
}

function contextOf(name: string, { loggers, clock, dataDir }: ExplainParts): Context {
  return { name, log: loggers.of(name), dataDir, run: "", now: () => clock.now() };
}
