import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { AgentError, type Event } from "../../core/sdk/index.js";
import type { DeliveryTrace } from "../../core/tokens.js";
import { DeliverySpans } from "../../core/tracing/delivery-spans.js";

const parent = (n: number, flags = "01") => `00-${"a".repeat(32)}-${n.toString(16).padStart(16, "0")}-${flags}`;

const event = (traceparent?: string): Event => ({
  headers: traceparent === undefined ? {} : { traceparent },
  body: {},
});

function deliverySpans(mostLinks: number) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const spans = new DeliverySpans({ api, tracer: provider.getTracer("test"), mostLinks });
  return { spans, finished: () => exporter.getFinishedSpans() };
}

function spansOf(events: readonly Event[], mostLinks: number) {
  const { spans, finished } = deliverySpans(mostLinks);
  spans.begin({ sink: "k", channel: "c", events })?.ended();
  return finished();
}

test("a batch links to each notification once, up to the limit, and says how many links were left out", () => {
  const numbers = Array.from({ length: 200 }, (_, at) => at + 1);
  const events = numbers.flatMap((n) => [event(parent(n)), event(parent(n)), event()]);

  const [span] = spansOf([...events, event(parent(1))], 128);

  assert.deepEqual(
    span?.links.map(({ context }) => context.spanId),
    numbers.slice(0, 128).map((n) => n.toString(16).padStart(16, "0")),
  );
  assert.equal(span?.attributes["deneb.links.left_out"], 72);
  assert.equal(span?.attributes["deneb.events"], 601);
  assert.equal(span?.attributes["deneb.events.traced"], 401);
});

const untraced = [
  { what: "without a traceparent", events: [event(), event()] },
  { what: "of notifications that are not sampled", events: [event(parent(1, "00"))] },
  {
    what: "whose traceparent is not valid",
    events: [event("00-x"), event(`${parent(1)}-more`), event(parent(0)), event(JSON.parse("5"))],
  },
] as const;

for (const { what, events } of untraced)
  test(`a batch of events ${what} has no span`, () => {
    assert.deepEqual(spansOf(events, 128), []);
  });

test("the outcome of a batch is what became of its events", () => {
  const outcomes = [
    () => {},
    (trace: DeliveryTrace) => trace.stored(1),
    (trace: DeliveryTrace) => trace.failed({ attempt: 1, events: 1, stored: 1, error: new Error("away") }),
    (trace: DeliveryTrace) => trace.deadLettered(1, new Error("no")),
  ].map((happen) => {
    const { spans, finished } = deliverySpans(128);
    const trace = spans.begin({ sink: "k", channel: "c", events: [event(parent(1))] });
    assert.ok(trace !== undefined);
    happen(trace);
    trace.ended();
    return finished()[0]?.attributes["deneb.outcome"];
  });

  assert.deepEqual(outcomes, ["left-out", "stored", "stored", "dead-lettered"]);
});

test("a span has the codes of an error and none of its text, which may quote a value or the name of an entity", () => {
  const { spans, finished } = deliverySpans(128);
  const trace = spans.begin({ sink: "k", channel: "c", events: [event(parent(1))] });
  const driver = Object.assign(new Error('invalid input syntax for type integer: "ill"'), { code: "22P02" });
  const error = new AgentError("DATA_REFUSED", 'storing into "city.urn_ngsi_ld_patient_joan"', {
    cause: driver,
    retryable: false,
  });
  const odd = Object.assign(new Error("ill"), { code: "patient joan is ill" });

  trace?.failed({ attempt: 1, events: 1, stored: 0, error });
  trace?.deadLettered(1, odd);
  trace?.ended();

  const [span] = finished();
  const codes = span?.events.map(({ attributes }) => [attributes?.["error.type"], attributes?.["deneb.error.cause"]]);
  const { attributes, events, status } = span ?? {};
  assert.deepEqual(codes, [
    ["DATA_REFUSED", "22P02"],
    ["other", undefined],
  ]);
  assert.equal(status?.code, api.SpanStatusCode.ERROR);
  assert.doesNotMatch(JSON.stringify([attributes, events, status]), /ill|joan/);
});
