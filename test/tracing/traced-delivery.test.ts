import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { startCollector } from "../support/collector.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { propertiesWith, send, sent, sqlite, startTraced, traced } from "./traced-agent.js";

const other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("a batch links to notifications that the process before received, and the link outlives a kill", async (context) => {
  const collector = await startCollector(context);
  const target = await startTarget(context);
  const folder = await tempFolder(context);
  const given = { properties: propertiesWith("file", target.lines), folder, env: traced(collector) };
  target.status = 503;
  const first = await startTraced(context, given);
  assert.equal(await send(first.notifyUrl, 1, { traceparent: sent.traceparent }), 200);
  assert.equal(await send(first.notifyUrl, 2, { traceparent: other }), 200);
  const receptions = await until(
    async () => collector.spans,
    ({ length }) => length === 2,
  );
  const links = receptions.map(({ traceId, spanId }) => ({ traceId, spanId }));
  await first.end("SIGKILL");

  target.status = 200;
  await startTraced(context, given);
  const spans = await until(
    async () => collector.spans,
    ({ length }) => length === 3,
  );

  assert.deepEqual(spans[2]?.links, links);
  assert.deepEqual(spans[2]?.attributes["deneb.events.traced"], 2);
});

test("a batch that fails has an event for each failed write, and its log line has the ids of its span", async (context) => {
  const collector = await startCollector(context);
  const target = await startTarget(context);
  target.status = 503;
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", [...target.lines, "batch_ttl = -1", "batch_retry_intervals = 100"]),
    folder: await tempFolder(context),
    env: traced(collector),
  });

  await send(agent.notifyUrl, 1);
  await until(
    async () => target.requests,
    ({ length }) => length >= 2,
  );
  target.status = 200;
  const spans = await until(
    async () => collector.spans,
    ({ length }) => length === 2,
  );

  const delivered = spans.find(({ name }) => name === "deliver k");
  assert.ok(delivered !== undefined);
  const writes = Number(delivered.attributes["deneb.writes"]);
  assert.equal(writes, target.requests.length);
  assert.equal(delivered.attributes["deneb.outcome"], "stored");
  assert.deepEqual(
    delivered.events.map(({ name, attributes }) => [name, attributes["deneb.attempt"], attributes["error.type"]]),
    Array.from({ length: writes - 1 }, (_, at) => ["write failed", at + 1, "HTTP_BUSY"]),
  );
  const line = agent.lines.find(({ msg }) => msg === "batch not stored, will be retried");
  assert.deepEqual([line?.["trace_id"], line?.["span_id"]], [delivered.traceId, delivered.spanId]);
});

test("an event that cannot be stored is marked in the span of its batch, and its dead letter keeps the context", async (context) => {
  const collector = await startCollector(context);
  const target = await startTarget(context);
  target.status = 400;
  const folder = await tempFolder(context);
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", target.lines),
    folder,
    env: traced(collector),
  });

  await send(agent.notifyUrl, 1, { traceparent: sent.traceparent });
  const spans = await until(
    async () => collector.spans,
    ({ length }) => length === 2,
  );

  const delivered = spans.find(({ name }) => name === "deliver k");
  const received = spans.find(({ name }) => name === "receive http-source");
  assert.equal(delivered?.attributes["deneb.outcome"], "dead-lettered");
  assert.equal(delivered?.attributes["deneb.events.dead_lettered"], 1);
  assert.equal(delivered?.attributes["error.type"], "HTTP_REFUSED");
  assert.equal(delivered?.status, "error");
  const letter = readFileSync(path.join(folder, "data/dead-letters/k.ndjson"), "utf8");
  assert.ok(letter.includes(`"traceparent":"00-${sent.traceId}-${received?.spanId}-01"`));
});

test("a batch that a stop interrupts is given back", async (context) => {
  const collector = await startCollector(context);
  const target = await startTarget(context);
  target.status = 503;
  const agent = await startTraced(context, {
    properties: propertiesWith("file", target.lines),
    folder: await tempFolder(context),
    env: traced(collector),
  });

  await send(agent.notifyUrl, 1);
  await until(
    async () => target.requests,
    ({ length }) => length >= 1,
  );
  await agent.end("SIGTERM");

  const delivered = collector.spans.find(({ name }) => name === "deliver k");
  assert.equal(delivered?.attributes["deneb.outcome"], "given-back");
  assert.equal(delivered?.status, "error");
});

test("the http sink sends the trace of an event, and that of the batch with events of several traces", async (context) => {
  const collector = await startCollector(context);
  const single = await startTarget(context);
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", single.lines),
    folder: await tempFolder(context),
    env: traced(collector),
  });
  await send(agent.notifyUrl, 1, { traceparent: sent.traceparent, tracestate: "vendor=1" });
  const received = await until(
    async () => collector.spans.find(({ name }) => name === "receive http-source"),
    (span) => span !== undefined,
  );
  await agent.end("SIGTERM");
  const many = await startTarget(context);
  const lines = [...many.lines, "send = batch", "batch_size = 2", "batch_timeout = 60"];
  const batching = await startTraced(context, {
    properties: propertiesWith("memory", lines),
    folder: await tempFolder(context),
    env: traced(collector),
  });
  await send(batching.notifyUrl, 1, { traceparent: sent.traceparent });
  await send(batching.notifyUrl, 2, { traceparent: other });
  await until(
    async () => many.requests,
    ({ length }) => length === 1,
  );
  await batching.end("SIGTERM");

  const delivered = collector.spans.findLast(({ name }) => name === "deliver k");
  assert.equal(single.requests[0]?.["traceparent"], `00-${sent.traceId}-${received?.spanId}-01`);
  assert.equal(single.requests[0]?.["tracestate"], "vendor=1");
  assert.equal(many.requests[0]?.["traceparent"], `00-${delivered?.traceId}-${delivered?.spanId}-01`);
  assert.equal(delivered?.links.length, 2);
});

test("rows are the same with and without tracing", async (context) => {
  const collector = await startCollector(context);
  const rows = async (env: Readonly<Record<string, string>>) => {
    const folder = await tempFolder(context);
    const agent = await startTraced(context, { properties: propertiesWith("file", sqlite), folder, env });
    await send(agent.notifyUrl, 1, { traceparent: sent.traceparent });
    assert.equal(await agent.end("SIGTERM"), 0);
    const query = "select * from openiot.urn_ngsi_ld_room_1";
    const { stdout } = await runCli(["sql", "--data-dir", path.join(folder, "data"), query]);
    return stdout.replaceAll(/\d{4}-\d\d-\d\dT\S+/g, "TIME");
  };

  const plain = await rows({});
  const withTracing = await rows(traced(collector));

  assert.match(plain, /urn:ngsi-ld:Room:1/);
  assert.equal(withTracing, plain);
  assert.ok(collector.spans.length > 0);
});

interface Target {
  /** The headers of its requests. */
  readonly requests: readonly IncomingHttpHeaders[];
  /** For a sink of type http. */
  readonly lines: readonly string[];
  status: number;
}

/** An HTTP service that answers with a status. */
async function startTarget(context: TestContext): Promise<Target> {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    request.resume().on("end", () => response.writeHead(target.status).end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close().closeAllConnections());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the target does not listen");
  const target: Target = {
    requests,
    lines: ["type = http", `url = http://127.0.0.1:${address.port}/`, "batch_retry_intervals = 100"],
    status: 200,
  };
  return target;
}
