import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { startCollector } from "../support/collector.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { propertiesWith, send, sent, sqlite, startTraced, traced } from "./traced-agent.js";

test("a notification continues the trace of its sender, and its batch is a trace that links to it", async (context) => {
  const collector = await startCollector(context);
  const folder = await tempFolder(context);
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", sqlite),
    folder,
    env: {
      ...traced(collector),
      OTEL_SERVICE_NAME: "history",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
    },
  });

  const headers = { traceparent: sent.traceparent, tracestate: "vendor=1", "Fiware-Correlator": "corr-7" };
  assert.equal(await send(agent.notifyUrl, 1, headers), 200);
  const spans = await until(
    async () => collector.spans,
    ({ length }) => length === 2,
  );

  const received = spans.find(({ name }) => name === "receive http-source");
  const delivered = spans.find(({ name }) => name === "deliver k");
  assert.ok(received !== undefined && delivered !== undefined);
  const { "deneb.transaction_id": transaction, "http.request.body.size": size, ...attributes } = received.attributes;
  assert.deepEqual(
    { ...received, attributes, milliseconds: 0, resource: undefined, spanId: "" },
    {
      traceId: sent.traceId,
      spanId: "",
      parentId: sent.spanId,
      traceState: "vendor=1",
      name: "receive http-source",
      kind: "server",
      milliseconds: 0,
      attributes: {
        "deneb.source": "http-source",
        "http.request.method": "POST",
        "url.path": "/notify",
        "fiware.service": "openiot",
        "fiware.service_path": "/",
        "fiware.correlator": "corr-7",
        "deneb.entities": 1,
        "http.response.status_code": 200,
      },
      events: [],
      links: [],
      status: "unset",
      resource: undefined,
    },
  );
  assert.match(String(transaction), /^[\da-f-]{36}$/);
  assert.ok(Number(size) > 100);
  assert.ok(received.milliseconds >= 0 && received.milliseconds < 60_000);
  assert.equal(received.resource["service.name"], "history");
  assert.equal(received.resource["deployment.environment"], "test");
  assert.equal(received.resource["deneb.agent"], "a");
  assert.notEqual(delivered.traceId, sent.traceId);
  assert.equal(delivered.parentId, "");
  assert.equal(delivered.kind, "consumer");
  assert.deepEqual(delivered.links, [{ traceId: sent.traceId, spanId: received.spanId }]);
  assert.deepEqual(delivered.attributes, {
    "deneb.sink": "k",
    "deneb.channel": "c",
    "deneb.events": 1,
    "deneb.events.traced": 1,
    "deneb.outcome": "stored",
    "deneb.writes": 1,
    "deneb.events.stored": 1,
    "deneb.events.dead_lettered": 0,
  });
});

const parents = [
  { use: "link", sent: sent.traceparent, sampler: "always_on", linked: true },
  { use: "ignore", sent: sent.traceparent, sampler: "always_on", linked: false },
  { use: "continue", sent: "00-zz-1-01", sampler: "always_on", linked: false },
  { use: "continue", sent: `ff${sent.traceparent.slice(2)}`, sampler: "always_on", linked: false },
  { use: "continue", sent: `00-${"0".repeat(32)}-00f067aa0ba902b7-01`, sampler: "always_on", linked: false },
] as const;

for (const { use, sent: traceparent, sampler, linked } of parents)
  test(`with --tracing-parents ${use} a notification with traceparent ${traceparent} begins a new trace`, async (context) => {
    const collector = await startCollector(context);
    const agent = await startTraced(context, {
      properties: propertiesWith("memory", ["type = logger"]),
      folder: await tempFolder(context),
      env: { ...traced(collector), DENEB_TRACING_PARENTS: use, OTEL_TRACES_SAMPLER: sampler },
    });

    assert.equal(await send(agent.notifyUrl, 1, { traceparent }), 200);
    const spans = await until(
      async () => collector.spans,
      ({ length }) => length === 2,
    );

    const received = spans.find(({ name }) => name === "receive http-source");
    assert.equal(received?.parentId, "");
    assert.notEqual(received?.traceId, sent.traceId);
    assert.deepEqual(received?.links, linked ? [{ traceId: sent.traceId, spanId: sent.spanId }] : []);
  });

test("what the sender does not sample has no span, and its events carry nothing", async (context) => {
  const collector = await startCollector(context);
  const folder = await tempFolder(context);
  const agent = await startTraced(context, {
    properties: propertiesWith("file", sqlite),
    folder,
    env: traced(collector),
  });

  const unsampled = sent.traceparent.replace(/01$/, "00");
  assert.equal(await send(agent.notifyUrl, 1, { traceparent: unsampled }), 200);
  assert.equal(await send(agent.notifyUrl, 2, { traceparent: sent.traceparent }), 200);
  await until(
    async () => collector.spans,
    (spans) => spans.some(({ name }) => name.startsWith("deliver")),
  );
  assert.equal(await agent.end("SIGTERM"), 0);

  assert.deepEqual(
    collector.spans.filter(({ name }) => name.startsWith("receive")).map(({ traceId }) => traceId),
    [sent.traceId],
  );
  assert.equal(textOf(path.join(folder, "data/channels")).split("traceparent").length - 1, 1);
});

test("a refused notification has a span with the cause, and its log line has the ids of the span", async (context) => {
  const collector = await startCollector(context);
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", ["type = logger"]),
    folder: await tempFolder(context),
    env: traced(collector),
  });

  const response = await fetch(agent.notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Fiware-Service": "openiot", traceparent: sent.traceparent },
    body: "[1",
  });
  const [span] = await until(
    async () => collector.spans,
    ({ length }) => length === 1,
  );

  assert.equal(response.status, 400);
  assert.equal(span?.attributes["deneb.refusal.cause"], "content");
  assert.equal(span?.attributes["http.response.status_code"], 400);
  assert.equal(span?.attributes["fiware.service"], "openiot");
  assert.equal(span?.status, "unset");
  const line = await until(
    async () => agent.lines.find(({ msg }) => msg === "requests refused"),
    (found) => found !== undefined,
  );
  assert.deepEqual([line?.["trace_id"], line?.["span_id"]], [sent.traceId, span?.spanId]);
});

test("without --tracing nothing of OpenTelemetry is loaded, and a traceparent leaves no trace on disk", async (context) => {
  const collector = await startCollector(context);
  const folder = await tempFolder(context);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_SAMPLER: "always_on" };
  const agent = await startTraced(context, { properties: propertiesWith("file", sqlite), folder, env });

  assert.equal(await send(agent.notifyUrl, 1, { traceparent: sent.traceparent }), 200);
  assert.equal(await agent.end("SIGTERM"), 0);

  assert.deepEqual(loadedIn(folder), []);
  assert.equal(collector.requests, 0);
  assert.ok(textOf(path.join(folder, "data/channels")).includes("urn:ngsi-ld:Room:1"));
  assert.ok(!textOf(path.join(folder, "data/channels")).includes(sent.traceId));
  assert.ok(
    agent.lines.some(
      ({ msg, variable }) => variable === "OTEL_EXPORTER_OTLP_ENDPOINT" && String(msg).includes("nothing is traced"),
    ),
  );
});

const switches = [{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }];

for (const off of switches)
  test(`with ${JSON.stringify(off)} --tracing traces nothing and loads nothing`, async (context) => {
    const collector = await startCollector(context);
    const folder = await tempFolder(context);
    const env = { ...traced(collector), ...off };
    const agent = await startTraced(context, { properties: propertiesWith("memory", sqlite), folder, env });

    assert.equal(await send(agent.notifyUrl, 1), 200);
    assert.equal(await agent.end("SIGTERM"), 0);

    assert.deepEqual(loadedIn(folder), []);
    assert.equal(collector.requests, 0);
  });

test("the probe of these tests sees the packages of OpenTelemetry in an agent that traces", async (context) => {
  const collector = await startCollector(context);
  const folder = await tempFolder(context);
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", sqlite),
    folder,
    env: traced(collector),
  });

  assert.equal(await agent.end("SIGTERM"), 0);

  assert.ok(loadedIn(folder).length > 10);
});

/** Modules of OpenTelemetry besides its API, which prom-client loads. */
function loadedIn(folder: string): readonly string[] {
  const all: readonly string[] = JSON.parse(readFileSync(path.join(folder, "modules.json"), "utf8"));
  assert.ok(all.length > 100);
  return all.filter((file) => /@opentelemetry[/\\](?!api[/\\])/.test(file));
}

/** All files below a folder, one after another. */
function textOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), "latin1")).join("\n");
}
