import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Event } from "../../../../core/sdk/index.js";
import { codeOf, retryableOf } from "../../../../core/sdk/index.js";
import { until } from "../../../support/until.js";
import { runningSink } from "../running-sink.js";
import { notificationRecord, numberOf, runningSource } from "../running-source.js";
import { topicClient } from "../topic-client.js";
import { kafka, skip } from "./broker.js";

const room = (id: string): Event => ({
  headers: { "fiware-service": "openiot", "fiware-servicepath": "/" },
  body: { id, type: "Room", attributes: [] },
});

test("a source goes on in order after its broker was killed, and puts nothing twice that it had put", {
  skip,
}, async (context) => {
  const bootstrap_servers = [kafka.address];
  const client = await topicClient({ bootstrap_servers });
  context.after(() => client.close());
  const topic = randomUUID();
  await client.make(topic, 2);
  await client.write(topic, 0, [notificationRecord(1), notificationRecord(2)]);
  const { received, logged, emitted } = await runningSource(context, {
    config: { bootstrap_servers, topics: [topic], group: topic, request_timeout: 3000 },
  });
  await received(2);

  await kafka.halt();
  await logged("no reading from Kafka");
  await kafka.resume();
  await client.write(topic, 0, [notificationRecord(3)]);
  await client.write(topic, 1, [notificationRecord(4)]);

  await until(
    async () => new Set(emitted.map(({ body }) => JSON.stringify(body))).size,
    (different) => different === 4,
  );
  const origins = emitted.map(({ headers }) => headers["deneb-origin"]);
  // The last commit may have been under way: what comes again has the same origin.
  assert.equal(new Set(origins).size, 4);
});

test("a source stops although its broker does not answer, and the next one goes on", {
  skip,
}, async (context) => {
  const bootstrap_servers = [kafka.address];
  const client = await topicClient({ bootstrap_servers });
  context.after(() => client.close());
  const topic = randomUUID();
  await client.make(topic);
  await client.write(topic, 0, [notificationRecord(1)]);
  const config = { bootstrap_servers, topics: [topic], group: topic, commit_interval: 600_000 };
  const { received, stop } = await runningSource(context, { config });
  await received(1);

  await kafka.freeze();
  context.after(() => kafka.thaw());
  await stop();
  kafka.thaw();
  await client.write(topic, 0, [notificationRecord(2)]);
  const next = await runningSource(context, { config });

  // What was sent to be committed may be, once the broker goes on.
  await until(
    async () => next.emitted.map(numberOf),
    (numbers) => numbers.at(-1) === 2,
  );
});

test("a sink writes what it could not while its broker was away, in order", { skip }, async (context) => {
  const bootstrap_servers = [kafka.address];
  const topic = randomUUID();
  const sink = await runningSink(context, { bootstrap_servers, topic, partitions: 1, request_timeout: 3000 });
  const untilWritten = (...events: readonly Event[]) =>
    until(
      () =>
        sink.persist({ events }).then(
          () => true,
          () => false,
        ),
      (written) => written,
    );
  await untilWritten(room("a"));

  await kafka.halt();
  const error = await sink.persist({ events: [room("b"), room("c")] }).catch((thrown: unknown) => thrown);
  await kafka.resume();
  await untilWritten(room("b"), room("c"));

  assert.deepEqual([codeOf(error), retryableOf(error)], ["KAFKA_UNAVAILABLE", true]);
  const client = await topicClient({ bootstrap_servers });
  context.after(() => client.close());
  const ids = (await client.read(topic)).map(({ value }) => JSON.parse(value).id);
  assert.deepEqual([...new Set(ids)], ["a", "b", "c"]);
});
