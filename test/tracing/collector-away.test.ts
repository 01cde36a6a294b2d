import assert from "node:assert/strict";
import { test } from "node:test";
import { startCollector } from "../support/collector.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { propertiesWith, send, sqlite, startTraced, traced } from "./traced-agent.js";

const QUEUE = 4;
// Each notification has two spans.
const MORE_THAN_WAIT = 4 * QUEUE;

test("a collector that does not answer costs spans and no notification: they are counted, and its return is a log line", async (context) => {
  const collector = await startCollector(context);
  collector.answer("hang");
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", sqlite),
    folder: await tempFolder(context),
    env: {
      ...traced(collector),
      OTEL_EXPORTER_OTLP_TIMEOUT: "300",
      OTEL_BSP_MAX_QUEUE_SIZE: String(QUEUE),
    },
  });
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${agent.managementUrl}/metrics`)).text();
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.split(" ").at(-1));
  };
  const told = () =>
    agent.lines.flatMap(({ component, msg }) => (component === "tracing" ? [String(msg).replace(/;.*/, "")] : []));
  const failed = () => metric('deneb_trace_spans_total{result="failed"}');
  const dropped = () => metric('deneb_trace_spans_total{result="dropped"}');

  assert.equal(await failed(), 0);
  await until(
    async () => {
      const statuses = await Promise.all(Array.from({ length: MORE_THAN_WAIT }, (_, n) => send(agent.notifyUrl, n)));
      assert.deepEqual([...new Set(statuses)], [200]);
      return [await failed(), await dropped()];
    },
    (counts) => counts.every((count) => count > 0),
  );
  await until(
    async () => told(),
    (lines) => lines.includes("spans not exported"),
  );
  collector.answer("take");
  await until(
    async () => {
      await send(agent.notifyUrl, 1);
      return told();
    },
    (lines) => lines.includes("spans are exported again"),
  );

  // A slow answer of the collector may be another failure behind it.
  const failures = told().slice(0, told().indexOf("spans are exported again"));
  assert.deepEqual(
    failures.filter((line) => line === "spans not exported"),
    ["spans not exported"],
  );
  assert.ok((await metric('deneb_trace_spans_total{result="exported"}')) > 0);
});

test("spans whose answer a collector never completes have failed, and the log says so", async (context) => {
  const collector = await startCollector(context);
  collector.answer("drip");
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", sqlite),
    folder: await tempFolder(context),
    env: { ...traced(collector), OTEL_BSP_EXPORT_TIMEOUT: "300" },
  });
  const failed = /^deneb_trace_spans_total\{result="failed"\} (\d+)/m;

  assert.equal(await send(agent.notifyUrl, 1), 200);

  await until(
    async () => Number(failed.exec(await (await fetch(`${agent.managementUrl}/metrics`)).text())?.[1]),
    (spans) => spans > 0,
  );
  const line = agent.lines.find(({ msg }) => String(msg).startsWith("spans not exported"));
  assert.equal(line?.["reason"], "the answer was not complete within 300 ms");
});

test("a collector that never answers does not keep an agent from stopping", async (context) => {
  const collector = await startCollector(context);
  collector.answer("hang");
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", sqlite),
    folder: await tempFolder(context),
    env: traced(collector),
  });

  for (let n = 1; n <= 5; n += 1) assert.equal(await send(agent.notifyUrl, n), 200);
  await until(
    async () => collector.requests,
    (count) => count > 0,
  );
  const code = await agent.end("SIGTERM");

  assert.equal(code, 0);
  assert.ok(agent.lines.some(({ msg }) => msg === "agent stopped"));
  assert.ok(agent.lines.some(({ msg }) => msg === "spans left at the stop"));
});

test("a stop exports the spans that wait", async (context) => {
  const collector = await startCollector(context);
  const agent = await startTraced(context, {
    properties: propertiesWith("memory", sqlite),
    folder: await tempFolder(context),
    env: { ...traced(collector), OTEL_BSP_SCHEDULE_DELAY: "600000" },
  });

  assert.equal(await send(agent.notifyUrl, 1), 200);
  assert.equal(await agent.end("SIGTERM"), 0);

  assert.deepEqual(collector.spans.map(({ name }) => name).sort(), ["deliver k", "receive http-source"]);
});
