import assert from "node:assert/strict";
import { test } from "node:test";
import { QueueTake } from "../../../core/sdk/channel/index.js";
import { codeOf, type Event } from "../../../core/sdk/index.js";
import { never } from "../../../core/testing/channel-fixture.js";
import { BoundedQueue } from "../../../plugins/memory-channel/bounded-queue.js";
import type { MemoryLimits } from "../../../plugins/memory-channel/config.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { weightOf } from "../../../plugins/memory-channel/weight.js";
import { recordingLog } from "../../support/recording-log.js";

function channel(limits: Partial<MemoryLimits>): MemoryChannel {
  const usual = { capacity: 1000, transactionCapacity: 10, byteCapacityBufferPercentage: 0, "keep-alive": 0 };
  return new MemoryChannel(
    { ...usual, ...limits },
    { name: "c1", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) },
  );
}

async function put(into: MemoryChannel, ...bodies: readonly unknown[]): Promise<void> {
  const transaction = into.openPut();
  for (const body of bodies) transaction.put({ headers: {}, body });
  await transaction.commit();
}

const text = (length: number) => "x".repeat(length);

test("a put beyond byteCapacity is refused with its bytes, and let in when events are stored", async () => {
  const made = channel({ byteCapacity: 1000 });
  await put(made, text(400), text(400));

  await assert.rejects(put(made, text(400)), (error: Error) => {
    assert.equal(codeOf(error), "CHANNEL_FULL");
    assert.match(error.message, /"c1" is full: no room for 4\d\d bytes within 0 s, its byteCapacity is 1000$/);
    return true;
  });
  const transaction = made.openTake();
  await transaction.take(1, never);
  await assert.rejects(put(made, text(400)));
  await transaction.commit();
  await put(made, text(400));

  assert.equal(made.size, 2);
});

test("events that are taken back count again, however often", async () => {
  const made = channel({ byteCapacity: 1000 });
  await put(made, text(800));
  for (let round = 0; round < 5; round += 1) {
    const transaction = made.openTake();
    await transaction.take(1, never);
    await transaction.rollback();
  }

  await assert.rejects(put(made, text(400)));
  const transaction = made.openTake();
  await transaction.take(1, never);
  await transaction.commit();
  await put(made, text(900));

  assert.equal(made.size, 1);
});

test("a notification larger than byteCapacity is refused for good, naming the property", async () => {
  await assert.rejects(put(channel({ byteCapacity: 100 }), text(200)), (error: Error) => {
    assert.equal(codeOf(error), "NOTIFICATION_TOO_LARGE");
    assert.match(error.message, /2\d\d bytes .*byteCapacity 100; raise its property "byteCapacity"/);
    return true;
  });
});

test("a part of byteCapacity is kept free", async () => {
  const made = channel({ byteCapacity: 1000, byteCapacityBufferPercentage: 50 });

  await put(made, text(450));

  await assert.rejects(put(made, text(100)));
});

test("without a limit in bytes anything fits", async () => {
  const made = channel({ byteCapacity: 0 });

  await put(made, text(20_000_000));

  assert.equal(made.size, 1);
});

const bodies: readonly unknown[] = [
  "text",
  12.5,
  null,
  {
    id: "urn:ngsi-ld:Room:1",
    type: "Room",
    attributes: [{ name: "a", value: { kind: "number", text: "1" }, members: [] }],
  },
  [[[["deep"]]], true, { a: { b: { c: "d" } } }],
];
for (const body of bodies) {
  const event: Event = { headers: { "fiware-service": "s" }, body };
  test(`${JSON.stringify(body)} weighs about as much as it is long`, () => {
    assert.ok(Math.abs(weightOf(event) - JSON.stringify(event).length) <= 30);
  });
}

test("a body without an end is refused, not weighed without an end", async () => {
  const body: { one?: unknown; two?: unknown } = {};
  body.one = body;
  body.two = body;
  const made = channel({ byteCapacity: 1000 });

  await assert.rejects(put(made, body), (error) => codeOf(error) === "EVENT_TOO_DEEP");

  assert.equal(made.size, 0);
});

for (const fair_taking of [false, true])
  test(`a take holds no more bytes than the heap has room for, with fair_taking = ${fair_taking}, and the next one goes on`, async () => {
    const queue = new BoundedQueue(
      { channel: "c1", capacity: 100, byteCapacity: 10_000, waitSeconds: 0 },
      { fair_taking },
      250,
    );
    await queue.add([1, 2, 3, 4, 5].map((n) => ({ headers: {}, body: `${n}${text(90)}` })));

    const taken: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const take = new QueueTake(queue, { channel: "c1", most: 100, mostBytes: 250 });
      const events = [...(await take.take(100, AbortSignal.abort())), ...(await take.take(97, AbortSignal.abort()))];
      taken.push(events.length);
      await take.commit();
    }

    assert.deepEqual(taken, [3, 2, 0]);
  });
