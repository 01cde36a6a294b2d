import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AgentError, type Event } from "../../../core/sdk/index.js";
import { Coordinator } from "../../../plugins/kafka/source/coordinator.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { until } from "../../support/until.js";
import { putOutMembers } from "./put-out-members.js";
import { notificationRecord, numberOf, runningSource } from "./running-source.js";
import { ownTopic } from "./topic-client.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

/** Numbers of the records of partition 0 begin here. */
const HELD = 1000;

test("a record that the channels do not take holds its own partition only, which goes on in its order", {
  skip,
}, async (context) => {
  const { write, received, free, logged } = await heldSource(context);
  await write(0, [0, 1]);
  await logged("record held until the channels take it");

  for (const n of [0, 1, 2]) await write(1, [n]);

  assert.deepEqual(await received(3), [0, 1, 2]);
  free();
  await write(0, [2]);
  assert.deepEqual(await received(6), [0, 1, 2, HELD, HELD + 1, HELD + 2]);
});

test("offsets of a partition that is held stay, those of others are committed, and a source that joins again reads nothing twice", {
  skip,
}, async (context) => {
  const { write, received, free, logged, committed, putOut } = await heldSource(context);
  await write(0, [0, 1]);
  await logged("record held until the channels take it");
  await write(1, [0, 1, 2]);
  await received(3);
  await committed([0, 3]);
  const before = (await logged("reading")).length;

  await putOut();
  await until(
    () => logged("reading"),
    ({ length }) => length > before,
  );
  await write(1, [3]);
  await received(4);
  free();

  assert.deepEqual(await received(6), [0, 1, 2, 3, HELD, HELD + 1]);
  await committed([2, 4]);
});

test("a source whose record is held stops at once, and the next one puts it", { skip }, async (context) => {
  const { write, received, logged, stop, again } = await heldSource(context);
  await write(1, [0]);
  await received(1);
  await write(0, [0]);
  await logged("record held until the channels take it");

  await stop();
  const next = await again();

  assert.deepEqual(await next.received(1), [HELD]);
});

/** A source of a topic of two partitions; the channels take no record of partition 0 until they are free. */
async function heldSource(context: TestContext) {
  const { topic, make, write, cluster } = await ownTopic(context);
  await make(topic, 2);
  let isHeld = true;
  const emit = async ([event]: readonly Event[]) => {
    if (event !== undefined && isHeld && numberOf(event) >= HELD)
      throw new AgentError("FULL", "full", { retryable: true });
  };
  const config = { topics: [topic], group: topic };
  const source = await runningSource(context, { config, emit });
  const coordinator = new Coordinator(cluster, topic);
  const places = [0, 1].map((partition) => ({ topic, partition }));
  return {
    ...source,
    write: async (partition: number, numbers: readonly number[]) => {
      const first = partition === 0 ? HELD : 0;
      const records = numbers.map((n) => notificationRecord(first + n));
      await write(topic, partition, records);
    },
    free: () => {
      isHeld = false;
    },
    again: () => runningSource(context, { config }),
    putOut: () => putOutMembers(cluster, topic),
    committed: (offsets: readonly number[]) =>
      until(
        async () => (await coordinator.committed(places)).map(({ offset }) => offset),
        (known) => String(known) === String(offsets),
      ),
  };
}
