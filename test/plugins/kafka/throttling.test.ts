import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { openCluster } from "../../../plugins/kafka/client/open-cluster.js";
import { QUOTA, Throttling } from "../../../plugins/kafka/client/throttling.js";
import { answersKafka, kafkaOfTests, NO_KAFKA } from "../../support/provided-kafka.js";
import { recordingLog } from "../../support/recording-log.js";
import { logConfig, removeTopics } from "./kafka-engine.js";
import { never, ownLog } from "./own-log.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;
const server = { address: kafkaOfTests() };
const BYTES_PER_SECOND = 100;

/** A client id whose writes are limited until the end of the test, and a topic. */
async function limited(context: TestContext) {
  const client_id = `throttled-${randomUUID()}`;
  const topic = `throttled-${randomUUID()}`;
  const alter = async (op: { key: "producer_byte_rate"; value: number; remove: false } | Removal) => {
    const cluster = await openCluster(logConfig(topic), "the test", never());
    const entities = [{ entityType: "client-id", entityName: client_id } as const];
    await cluster.askAny(
      async (connection, library) =>
        await library.alterClientQuotasV1.api.async(connection, [{ entities, ops: [op] }], false),
    );
    cluster.close();
  };
  context.after(async () => {
    await alter({ key: "producer_byte_rate", remove: true });
    await removeTopics(topic);
  });
  await ownLog(context, server, { topic }).open(never());
  await alter({ key: "producer_byte_rate", value: BYTES_PER_SECOND, remove: false });
  return { client_id, topic };
}

interface Removal {
  readonly key: "producer_byte_rate";
  readonly remove: true;
}

test("a log at a quota of Kafka warns of it", { skip }, async (context) => {
  const log = ownLog(context, server, await limited(context));
  const { warnings } = await log.open(never());
  assert.ok(!warnings.includes(QUOTA));
  await log.append(0, Buffer.alloc(20_000));
  const settings = await log.settings();
  assert.ok(settings.warnings.includes(QUOTA), settings.warnings.join("\n"));
});

test("a client that is throttled logs it once, and that it has been over for a minute", () => {
  const { log, lines } = recordingLog();
  let now = 0;
  const throttling = new Throttling(() => now);
  throttling.watch(log);
  throttling.note({ throttleTimeMs: 0 });
  throttling.note({ throttleTimeMs: 500 });
  throttling.note({ throttleTimeMs: 700 });
  assert.ok(throttling.isRecent);
  assert.equal(lines.length, 1);
  now = 60_700;
  throttling.note({ throttleTimeMs: 0 });
  assert.equal(lines.length, 1);
  now = 60_701;
  assert.ok(!throttling.isRecent);
  throttling.note({ throttleTimeMs: 0 });
  throttling.note({ throttleTimeMs: 0 });
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["warn", "info"],
  );
});
