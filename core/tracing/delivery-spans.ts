import type { Span, SpanContext, Tracer } from "@opentelemetry/api";
import { type Event, traceHeaders } from "../sdk/index.js";
import { type TraceFields, traceContextOf } from "../sdk/trace-context.js";
import type { DeliveryTrace, FailedWrite, TracedBatch } from "../tokens.js";
import { described, fieldsOf, parentOf, spanContextOf } from "./contexts.js";
import type { Packages } from "./packages.js";

interface DeliverySpansParts {
  readonly api: Packages["api"];
  /** Samples whatever it is asked to: a batch is traced if one of its notifications is. */
  readonly tracer: Tracer;
  readonly mostLinks: number;
}

/** Spans of batches: each is a trace of its own, with links to the spans of its notifications. */
export class DeliverySpans {
  readonly #parts: DeliverySpansParts;

  constructor(parts: DeliverySpansParts) {
    this.#parts = parts;
  }

  /** Undefined when no event is of a sampled notification. */
  begin({ sink, channel, events }: TracedBatch): DeliveryTrace | undefined {
    const { api, tracer } = this.#parts;
    const { linked, leftOut, traced } = this.#notificationsOf(events);
    if (linked.length === 0) return undefined;
    const attributes = {
      "deneb.sink": sink,
      "deneb.channel": channel,
      "deneb.events": events.length,
      "deneb.events.traced": traced,
      ...(leftOut === 0 ? {} : { "deneb.links.left_out": leftOut }),
    };
    const links = linked.map((context) => ({ context }));
    const options = { kind: api.SpanKind.CONSUMER, links, attributes };
    return new DeliverySpan(api, tracer.startSpan(`deliver ${sink}`, options, api.ROOT_CONTEXT));
  }

  /** The events of a notification follow each other and have the same header. */
  #notificationsOf(events: readonly Event[]) {
    const { api, mostLinks } = this.#parts;
    const seen = new Set<string>();
    const linked: SpanContext[] = [];
    let last: string | undefined;
    let traced = 0;
    for (const { headers } of events) {
      const text = headers[traceHeaders.parent];
      if (text === undefined) continue;
      traced += 1;
      if (text === last || seen.has(text)) continue;
      last = text;
      const context = linked.length < mostLinks ? traceContextOf(headers) : undefined;
      if (linked.length < mostLinks && context?.isSampled !== true) continue;
      seen.add(text);
      if (context !== undefined) linked.push(spanContextOf(api, context));
    }
    return { linked, leftOut: seen.size - linked.length, traced };
  }
}

class DeliverySpan implements DeliveryTrace {
  readonly fields: TraceFields;
  readonly traceparent: string;
  readonly #api: Packages["api"];
  readonly #span: Span;
  #writes = 0;
  #stored = 0;
  #deadLettered = 0;

  constructor(api: Packages["api"], span: Span) {
    this.#api = api;
    this.#span = span;
    const context = span.spanContext();
    this.fields = fieldsOf(context);
    this.traceparent = parentOf(context);
  }

  stored(events: number): void {
    this.#writes += 1;
    this.#stored += events;
  }

  failed({ attempt, events, stored, error }: FailedWrite): void {
    this.#writes += 1;
    this.#stored += stored;
    this.#span.addEvent("write failed", { "deneb.attempt": attempt, "deneb.events": events, ...described(error) });
  }

  deadLettered(events: number, error: unknown): void {
    this.#deadLettered += events;
    this.#span.addEvent("kept as dead letters", { "deneb.events": events, ...described(error) });
    this.#error(error);
  }

  ended(givenBack?: { readonly error: unknown }): void {
    if (givenBack !== undefined) this.#error(givenBack.error);
    this.#span.setAttributes({
      "deneb.outcome": givenBack === undefined ? this.#settled : "given-back",
      "deneb.writes": this.#writes,
      "deneb.events.stored": this.#stored,
      "deneb.events.dead_lettered": this.#deadLettered,
    });
    this.#span.end();
  }

  /** Events that were stored before, or erased, are left out. */
  get #settled(): string {
    if (this.#deadLettered > 0) return "dead-lettered";
    return this.#stored > 0 ? "stored" : "left-out";
  }

  #error(error: unknown): void {
    this.#span.setAttributes(described(error));
    this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
  }
}
