import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { connectAsync } from "mqtt";
import { notification } from "../end-to-end/notification.js";
import { startCollector } from "../support/collector.js";
import { brokerOfTests } from "../support/mosquitto-server.js";
import { reachable } from "../support/reachable.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { propertiesWith, sent, startTraced, traced } from "./traced-agent.js";

test("a message of MQTT continues the trace that its metadata names", async (context) => {
  const { host, port } = brokerOfTests();
  if (!(await reachable(host, port))) return context.skip("needs Mosquitto");
  const collector = await startCollector(context);
  const id = randomUUID();
  const source = ["type = mqtt", "channels = c", `url = mqtt://${host}:${port}`, `topics = deneb_test/${id}`];
  const mqtt = [...source, `client_id = ${id}`, "clean_session = true", "handler = ngsi"];
  const lines = ["a.sources = http-source m", ...mqtt.map((line) => `a.sources.m.${line}`)];
  const base = propertiesWith("memory", ["type = logger"]).split("\n").slice(1);
  const properties = [...lines, ...base].join("\n");
  const agent = await startTraced(context, { properties, folder: await tempFolder(context), env: traced(collector) });
  await until(async () => agent.lines.some(({ msg }) => msg === "subscribed"), Boolean);
  const publisher = await connectAsync(`mqtt://${host}:${port}`);
  context.after(() => publisher.endAsync());

  const body = JSON.parse(notification("urn:ngsi-ld:Room:1", 1));
  const metadata = { "NGSILD-Tenant": "openiot", "Content-Type": "application/json", traceparent: sent.traceparent };
  await publisher.publishAsync(`deneb_test/${id}`, JSON.stringify({ metadata, body }), { qos: 1 });
  const spans = await until(
    async () => collector.spans,
    ({ length }) => length === 2,
  );

  const received = spans.find(({ name }) => name === "receive m");
  assert.deepEqual([received?.kind, received?.traceId, received?.parentId], ["consumer", sent.traceId, sent.spanId]);
  assert.equal(received?.attributes["messaging.destination.name"], `deneb_test/${id}`);
  assert.equal(received?.attributes["fiware.service"], "openiot");
});
