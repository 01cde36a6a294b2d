import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Receiver } from "../../core/pipeline/receiver.js";
import { TracedRequests } from "../../core/pipeline/traced-requests.js";
import { type Event, type Handler, type InboundRequest, RejectedRequest } from "../../core/sdk/index.js";
import { RequestSpans } from "../../core/tracing/request-spans.js";
import { recordingLog } from "../support/recording-log.js";

const receivedAt = new Date();
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const request: InboundRequest = {
  method: "POST",
  path: "/notify?token=secret",
  headers: { traceparent },
  body: Buffer.from("{}"),
  receivedAt,
};

const events: readonly Event[] = [
  { headers: { "fiware-service": "s" }, body: 1 },
  { headers: { "fiware-service": "s" }, body: 2 },
];
const fine: Handler = { decode: () => ({ events, service: "s", servicePath: "/p" }) };

/** A traced source with this handler; its channels are full as often as the test says. */
function tracedSource(handler: Handler, { full = 0 } = {}) {
  const exporter = new InMemorySpanExporter();
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer("test");
  const spans = new RequestSpans({ api, tracer, parents: "continue" });
  const traced = new TracedRequests("src", { request: (source, one) => spans.begin(source, one) });
  const { log, lines } = recordingLog();
  const emitted: Event[] = [];
  let isFull = full;
  const receiver = new Receiver({
    name: "src",
    handler: traced.handler(handler),
    emit: async (all) => {
      isFull -= 1;
      if (isFull >= 0) throw Object.assign(new Error("no room"), { code: "CHANNEL_FULL", retryable: true });
      emitted.push(...all);
    },
    observer: { received: () => {} },
    log,
    traceFields: (one) => traced.fieldsOf(one),
    now: () => receivedAt,
  });
  return { receive: traced.receive(receiver.receive), exporter, emitted, lines };
}

test("each event of a request carries the context of its span, and the events of the handler do not change", async () => {
  const { receive, exporter, emitted } = tracedSource(fine);

  await receive(request);

  const [span] = exporter.getFinishedSpans();
  const { traceId, spanId } = span?.spanContext() ?? {};
  assert.equal(traceId, "4bf92f3577b34da6a3ce929d0e0e4736");
  for (const { headers } of emitted)
    assert.deepEqual(headers, { "fiware-service": "s", traceparent: `00-${traceId}-${spanId}-01` });
  assert.equal(emitted.length, 2);
  assert.deepEqual(events[0]?.headers, { "fiware-service": "s" });
  assert.equal(span?.attributes["deneb.entities"], 2);
  assert.equal(span?.attributes["fiware.service_path"], "/p");
  assert.ok(!JSON.stringify(span?.attributes).includes("secret"));
});

test("a notification without entities has a span, and the warning about it has its ids", async () => {
  const { receive, exporter, lines } = tracedSource({ decode: () => ({ events: [], service: "s", servicePath: "/" }) });

  await receive(request);

  const [span] = exporter.getFinishedSpans();
  assert.equal(span?.attributes["deneb.entities"], 0);
  assert.deepEqual(lines[0]?.fields, {
    service: "s",
    servicePath: "/",
    trace_id: span?.spanContext().traceId,
    span_id: span?.spanContext().spanId,
    count: 1,
  });
});

test("a message of MQTT is consumed from its topic", async () => {
  const { receive, exporter } = tracedSource(fine);

  await receive({ ...request, topic: "/a/b" });

  const [span] = exporter.getFinishedSpans();
  assert.equal(span?.kind, api.SpanKind.CONSUMER);
  assert.equal(span?.parentSpanContext?.spanId, "00f067aa0ba902b7");
  assert.equal(span?.attributes["messaging.destination.name"], "/a/b");
  assert.ok(!Object.keys(span?.attributes ?? {}).some((name) => name.startsWith("http.")));
});

test("a request that its source keeps has one span, of the call that ends it", async () => {
  const { receive, exporter } = tracedSource(fine, { full: 2 });

  for (let attempt = 1; attempt <= 3; attempt += 1) await receive(request, () => undefined);

  const spans = exporter.getFinishedSpans();
  assert.equal(spans.length, 1);
  assert.equal(spans[0]?.attributes["http.response.status_code"], 200);
});

test("a request for which the channels have no room ends as an error with its cause", async () => {
  const { receive, exporter, lines } = tracedSource(fine, { full: 1 });

  const reception = await receive(request);

  const [span] = exporter.getFinishedSpans();
  assert.equal(reception.accepted, false);
  assert.equal(span?.attributes["deneb.refusal.cause"], "channel-full");
  assert.equal(span?.attributes["deneb.refusal.status"], 503);
  assert.equal(span?.status.code, api.SpanStatusCode.ERROR);
  const { fields } = lines.find(({ level }) => level === "warn") ?? {};
  assert.equal(fields && "span_id" in fields && fields.span_id, span?.spanContext().spanId);
});

const broken: readonly { readonly what: string; readonly handler: Handler; readonly status: number }[] = [
  {
    what: "refuses",
    handler: {
      decode: () => {
        throw new RejectedRequest(400, "no", {}, { service: "other", servicePath: "/" }, "content");
      },
    },
    status: 400,
  },
  {
    what: "throws",
    handler: {
      decode: () => {
        throw new Error("broken");
      },
    },
    status: 500,
  },
  { what: "returns nothing", handler: { decode: () => JSON.parse("null") }, status: 500 },
  { what: "returns no list", handler: { decode: () => JSON.parse('{"events":{"a":1}}') }, status: 500 },
  { what: "returns no events", handler: { decode: () => JSON.parse('{"events":["a",null]}') }, status: 500 },
];

for (const { what, handler, status } of broken)
  test(`a request whose handler ${what} is answered as without tracing, and its span says so`, async () => {
    const { receive, exporter } = tracedSource(handler);

    const reception = await receive(request);

    assert.equal(reception.accepted ? 200 : reception.status, status);
    const [span] = exporter.getFinishedSpans();
    assert.equal(span?.attributes["deneb.refusal.status"], status);
    assert.equal(span?.status.message, undefined);
  });

test("a source without a handler fails as without tracing, and its span has the error", async () => {
  const { exporter, receive } = tracedSource(fine);
  const failing = new TracedRequests("src", {
    request: (source, one) => spansInto(exporter).begin(source, one),
  }).receive(async () => await Promise.reject(new Error("no handler")));

  await assert.rejects(failing(request), /no handler/);
  await receive(request);

  const [span] = exporter.getFinishedSpans();
  assert.equal(span?.status.code, api.SpanStatusCode.ERROR);
});

function spansInto(exporter: InMemorySpanExporter): RequestSpans {
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer("test");
  return new RequestSpans({ api, tracer, parents: "continue" });
}
