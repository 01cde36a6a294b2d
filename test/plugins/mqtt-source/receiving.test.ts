import assert from "node:assert/strict";
import { test } from "node:test";
import { QuotaBuckets } from "../../../core/pipeline/quota-buckets.js";
import { ServiceQuota } from "../../../core/pipeline/service-quota.js";
import { AgentError } from "../../../core/sdk/index.js";
import { until } from "../../support/until.js";
import { notification, receivedAt, runningSource, sharedBroker } from "./running-source.js";

test("the entities of a notification become events of the service and service path of its topic", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const topic_pattern = `${broker.topic}/+service/#path`;
  const { logged, received, emitted, accounted } = await runningSource(context, {
    config: { ...broker.config, topic_pattern },
  });
  await logged("subscribed");

  await broker.publish(`${broker.topic}/openiot/park/east`, notification(1));

  assert.deepEqual(await received(1), ["1"]);
  const {
    "fiware-correlator": correlator,
    "transaction-id": transaction,
    "fiware-service": service,
    "fiware-servicepath": servicePath,
    timestamp,
  } = emitted[0]?.headers ?? {};
  assert.equal(correlator, transaction);
  assert.deepEqual([service, servicePath, timestamp], ["openiot", "/park/east", String(receivedAt.getTime())]);
  const requestBytes = notification(1).length;
  assert.deepEqual(accounted, [
    { service: "openiot", servicePath: "/park/east", requestBytes, responseBytes: 0, failed: false, milliseconds: 0 },
  ]);
});

test("where the topic does not tell them, service and service path are those of the configuration", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const { logged, received, emitted } = await runningSource(context, {
    config: { ...broker.config, service: "smartcity", service_path: "/lights" },
  });
  await logged("subscribed");

  await broker.publish(`${broker.topic}/a`, notification(1));

  await received(1);
  assert.equal(emitted[0]?.headers["fiware-service"], "smartcity");
  assert.equal(emitted[0]?.headers["fiware-servicepath"], "/lights");
});

const origins = [
  { metadata: {}, services: ["openiot", "smartcity"], paths: ["/park", "/lights"] },
  { metadata: { "NGSILD-Tenant": "farm" }, services: ["openiot", "farm"], paths: ["/park", "/lights"] },
  {
    metadata: { "Fiware-Service": "city", "NGSILD-Tenant": "farm", "Fiware-ServicePath": "/sea" },
    services: ["openiot", "city"],
    paths: ["/park", "/sea"],
  },
] as const;
for (const { metadata, services, paths } of origins)
  test(`the topic goes before metadata ${JSON.stringify(metadata)}, which goes before the configuration`, async (context) => {
    const broker = await sharedBroker(context);
    if (broker === undefined) return;
    const topic_pattern = `${broker.topic}/+service/#path`;
    const { logged, received, emitted } = await runningSource(context, {
      config: { ...broker.config, topic_pattern, service: "smartcity", service_path: "/lights" },
    });
    await logged("subscribed");

    const message = JSON.stringify({ metadata, body: JSON.parse(notification(1)) });
    await broker.publish(`${broker.topic}/openiot/park`, message);
    await broker.publish(broker.topic, message);

    assert.deepEqual(await received(2), ["1", "1"]);
    assert.deepEqual(
      emitted.map(({ headers }) => headers["fiware-service"]),
      services,
    );
    assert.deepEqual(
      emitted.map(({ headers }) => headers["fiware-servicepath"]),
      paths,
    );
  });

test("link, correlator, content type and format of a message are those of its metadata", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const { logged, received, emitted, refused } = await runningSource(context, { config: broker.config });
  await logged("subscribed");
  const room = { id: "urn:r", type: "Room", n: { value: 7, unitCode: "CEL" } };
  const body = { type: "Notification", data: [room] };
  const metadata = { "Ngsild-Attribute-Format": "Simplified", Link: "<urn:c>; rel=x", "Fiware-Correlator": "c1" };

  await broker.publish(broker.topic, JSON.stringify({ metadata: { "Content-Type": "text/csv" }, body }));
  await broker.publish(broker.topic, JSON.stringify({ metadata, body }));

  assert.deepEqual(await received(1), ['{"value":7,"unitCode":"CEL"}']);
  assert.equal(emitted[0]?.headers["link"], "urn:c");
  assert.equal(emitted[0]?.headers["fiware-correlator"], "c1");
  assert.deepEqual(refused, [{ status: 400, cause: "content-type" }]);
});

test("a malformed message is acknowledged, counted by its cause and warned about, and those behind it go in", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const { logged, received, accounted, refused, lines } = await runningSource(context, { config: broker.config });
  await logged("subscribed");

  const odd = ['{"body":7}', '{"metadata":{},"body":"no JSON"}', '{"metadata":{"NGSILD-Tenant":"a\\nb"},"body":{}}'];
  for (const payload of ["", "{", '{"no":"data"}', '{"subscriptionId":"s","data":7}', ...odd, notification(2)]) {
    await broker.publish(broker.topic, payload);
  }

  assert.deepEqual(await received(1), ["2"]);
  assert.deepEqual(
    accounted.map(({ failed }) => failed),
    [true, true, true, true, true, true, true, false],
  );
  const notNotifications = Array.from({ length: 3 }, () => "400 not-a-notification");
  assert.deepEqual(
    refused.map(({ status, cause }) => `${status} ${cause}`),
    ["400 no-content", "400 content", ...notNotifications, "400 content", "400 metadata"],
  );
  const warned = lines.filter(({ level, message }) => level === "warn" && message === "requests refused");
  assert.equal(warned.length, 4);
  for (const { fields } of warned) {
    assert.ok("topic" in fields && String(fields.topic).startsWith(broker.topic), JSON.stringify(fields));
    assert.ok(!("path" in fields));
  }
});

test("a message larger than max_message_size is acknowledged and counted, and those behind it go in", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const config = { ...broker.config, max_message_size: notification(1).length };
  const { logged, received, accounted, refused } = await runningSource(context, { config });
  await logged("subscribed");

  await broker.publish(broker.topic, notification(10));
  await broker.publish(broker.topic, notification(2));

  assert.deepEqual(await received(1), ["2"]);
  assert.deepEqual(refused, [{ status: 413, cause: "content-too-large" }]);
  assert.deepEqual(
    accounted.map(({ failed, requestBytes }) => [failed, requestBytes]),
    [
      [true, notification(10).length],
      [false, notification(2).length],
    ],
  );
});

test("a message over the quota of its service is acknowledged and counted, and those behind it go in", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const config = { ...broker.config, topic_pattern: `${broker.topic}/+service` };
  const blocked = { flood: { eventsPerSecond: 0, burst: 1 } };
  const limits = { usual: undefined, services: blocked, mostServices: 10 };
  const quota = new ServiceQuota({ source: "mqtt-source", quota: limits, buckets: new QuotaBuckets() });
  const { logged, received, refused } = await runningSource(context, { config, quota });
  await logged("subscribed");

  for (let sent = 0; sent < 3; sent += 1) await broker.publish(`${broker.topic}/flood`, notification(1));
  await broker.publish(`${broker.topic}/other`, notification(2));

  assert.deepEqual(await received(1), ["2"]);
  const one = { status: 429, cause: "quota", service: "flood" };
  assert.deepEqual(refused, [one, one, one]);
});

test("a handler that breaks costs its message only", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const decode = (): never => {
    throw new TypeError("broken handler");
  };
  const { logged, accounted, refused } = await runningSource(context, { config: broker.config, handler: { decode } });
  await logged("subscribed");

  await broker.publish(broker.topic, notification(1));
  await broker.publish(broker.topic, notification(2));

  await until(
    async () => accounted.length,
    (count) => count === 2,
  );
  assert.deepEqual(refused, [
    { status: 500, cause: "handler-failed" },
    { status: 500, cause: "handler-failed" },
  ]);
  assert.equal((await logged("requests refused"))[0]?.level, "error");
  assert.deepEqual(
    accounted.map(({ failed }) => failed),
    [true, true],
  );
});

test("a full channel holds its message and all behind it, until it has room, with one warning", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  let refusals = 0;
  const emit = async () => {
    refusals += 1;
    if (refusals % 4 !== 0)
      throw new AgentError("CHANNEL_FULL", "putting events in a full channel", { retryable: true });
  };
  const { logged, received, lines, accounted } = await runningSource(context, { config: broker.config, emit });
  await logged("subscribed");

  for (const value of [1, 2, 3]) await broker.publish(broker.topic, notification(value));

  assert.deepEqual(await received(3), ["1", "2", "3"]);
  const held = lines.filter(({ message }) => message === "message held until the channels take it");
  assert.deepEqual(
    held.map(({ level }) => level),
    ["warn", ...Array.from({ length: 8 }, () => "debug")],
  );
  assert.equal(accounted.filter(({ failed }) => failed).length, 0);
});

test("an event on which an interceptor always throws is refused after ten attempts", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  let tries = 0;
  const emit = async () => {
    tries += 1;
    if (tries <= 10) throw new TypeError("broken interceptor");
  };
  const { logged, received, accounted } = await runningSource(context, { config: broker.config, emit });
  await logged("subscribed");

  await broker.publish(broker.topic, notification(1));
  await broker.publish(broker.topic, notification(2));

  assert.deepEqual(await received(1), ["2"]);
  assert.equal((await logged("requests refused"))[0]?.level, "error");
  assert.deepEqual(
    accounted.map(({ failed }) => failed),
    [true, false],
  );
});
