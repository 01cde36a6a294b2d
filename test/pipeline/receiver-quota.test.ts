import assert from "node:assert/strict";
import { test } from "node:test";
import { QuotaBuckets } from "../../core/pipeline/quota-buckets.js";
import { ServiceQuota } from "../../core/pipeline/service-quota.js";
import { AgentError, type Emit, type Handler, type InboundRequest } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";
import { tracedContext } from "../support/traced-context.js";

const request: InboundRequest = {
  method: "POST",
  path: "/notify",
  headers: {},
  body: Buffer.from("twelve bytes"),
  receivedAt: new Date(0),
};
const sender = { service: "openiot", servicePath: "/a" };

/** A source that accepts three events of a service, each notification with two. */
function limitedReceiver(more: Partial<Handler> = {}, emit?: Emit) {
  const { log, lines } = recordingLog();
  const quota = new ServiceQuota({
    source: "s",
    quota: { usual: { eventsPerSecond: 1, burst: 3 }, services: {}, mostServices: 10 },
    buckets: new QuotaBuckets(),
    now: () => 0,
  });
  let decoded = 0;
  const handler: Handler = {
    decode: () => {
      decoded += 1;
      return { events: [1, 2].map((body) => ({ headers: {}, body })), ...sender };
    },
    ...more,
  };
  const traced = tracedContext({ name: "s", log, now: () => new Date(0), handler, quota, ...(emit && { emit }) });
  return { ...traced, lines, decoded: () => decoded };
}

test("a notification over the quota of its service is refused as a whole with 429, counted, accounted and warned about", async () => {
  const { receiver, emitted, refused, accounted, lines } = limitedReceiver();

  assert.deepEqual(await receiver.receive(request), { accepted: true });
  const reception = await receiver.receive(request);

  assert.ok(!reception.accepted);
  const { status, cause, retryable, retryAfter } = reception;
  assert.deepEqual(
    { status, cause, retryable, retryAfter },
    { status: 429, cause: "quota", retryable: true, retryAfter: 1000 },
  );
  assert.equal(emitted.length, 2);
  assert.deepEqual(refused, [{ status: 429, cause: "quota", service: "openiot" }]);
  assert.deepEqual(
    accounted.map(({ service, failed }) => [service, failed]),
    [
      ["openiot", false],
      ["openiot", true],
    ],
  );
  assert.deepEqual(receiver.overQuota.largest(5), [{ service: "openiot", refusals: 1 }]);
  assert.ok(lines.some(({ level, message }) => level === "warn" && message === "requests refused"));
});

test("a request of a service whose quota is used up is not decoded where its sender is known", async () => {
  const { receiver, decoded } = limitedReceiver({ senderOf: () => ({ ...sender }) });

  await receiver.receive(request);
  await receiver.receive({ ...request, body: Buffer.from("1") });
  assert.equal(decoded(), 2, "one event is left, so it is not known before whether it is enough");

  const one = limitedReceiver({
    senderOf: () => sender,
    decode: () => ({ events: [1, 2, 3].map((body) => ({ headers: {}, body })), ...sender }),
  });
  assert.equal((await one.receiver.receive(request)).accepted, true);
  const reception = await one.receiver.receive(request);
  assert.equal(!reception.accepted && reception.status, 429);
});

test("a handler that cannot tell the sender is asked to decode", async () => {
  for (const senderOf of [
    () => undefined,
    () => {
      throw new Error("broken");
    },
  ]) {
    const { receiver } = limitedReceiver({ senderOf });
    assert.equal((await receiver.receive(request)).accepted, true);
  }
});

test("a service that holds its part of a channel is refused with 429", async () => {
  const full = new AgentError("CHANNEL_SHARE_FULL", "no more of it", { retryable: true });
  const { receiver, refused } = limitedReceiver({}, () => Promise.reject(full));

  for (let times = 0; times < 5; times += 1) {
    const reception = await receiver.receive(request);
    assert.equal(!reception.accepted && reception.status, 429);
  }

  const one = { status: 429, cause: "channel-share-full", service: "openiot" };
  assert.deepEqual(refused, [one, one, one, one, one], "what a channel refused does not use up the quota");
});
