import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf } from "../../../core/sdk/index.js";
import { event, never, openChannel, put, take } from "./open-channel.js";

test("a take waits until an event arrives and is woken at once", async () => {
  const channel = openChannel();

  const taken = take(channel, 5);
  await put(channel, 1, 2);

  assert.deepEqual((await taken).bodies, [1, 2]);
  assert.equal(channel.size, 2);
});

test("several takes are served in the order in which they came", async () => {
  const channel = openChannel();

  const takes = [take(channel, 2), take(channel, 2), take(channel, 2)];
  await put(channel, 1, 2, 3);
  await put(channel, 4);

  assert.deepEqual(
    (await Promise.all(takes)).map(({ bodies }) => bodies),
    [[1, 2], [3], [4]],
  );
});

test("a rollback wakes a take that waits", async () => {
  const channel = openChannel();
  await put(channel, 1);
  const { transaction } = await take(channel, 1);

  const waiting = take(channel, 1);
  await transaction.rollback();

  assert.deepEqual((await waiting).bodies, [1]);
});

test("an aborted take returns no event and takes none", async () => {
  const channel = openChannel();
  const abort = new AbortController();

  const taken = channel.openTake().take(1, abort.signal);
  abort.abort();
  await put(channel, 1);

  assert.deepEqual(await taken, []);
  assert.deepEqual((await take(channel, 1)).bodies, [1]);
});

test("a take whose signal has aborted returns what is there", async () => {
  const channel = openChannel();
  await put(channel, 1);

  const events = await channel.openTake().take(5, AbortSignal.abort());

  assert.deepEqual(events, [event(1)]);
});

test("a take that was rolled back while it waited leaves the events to others", async () => {
  const channel = openChannel();
  const transaction = channel.openTake();

  const taken = transaction.take(1, never);
  await transaction.rollback();
  await put(channel, 1);

  assert.deepEqual(await taken, []);
  assert.deepEqual((await take(channel, 1)).bodies, [1]);
  assert.equal(channel.size, 1);
});

test("a put waits for room and is let in by the commit of a take", async () => {
  const channel = openChannel({ capacity: 2, "keep-alive": 60 });
  await put(channel, 1, 2);

  const waiting = put(channel, 3);
  const { transaction } = await take(channel, 1);
  await transaction.commit();
  await waiting;

  assert.deepEqual((await take(channel, 5)).bodies, [2, 3]);
});

test("puts that wait are let in first come first served: a small one does not overtake a large one", async () => {
  const channel = openChannel({ capacity: 3, "keep-alive": 60 });
  await put(channel, 1, 2, 3);
  const order: string[] = [];

  const large = put(channel, 4, 5).then(() => order.push("large"));
  const small = put(channel, 6).then(() => order.push("small"));
  await (await take(channel, 1)).transaction.commit();
  await (await take(channel, 2)).transaction.commit();
  await Promise.all([large, small]);

  assert.deepEqual(order, ["large", "small"]);
  assert.deepEqual((await take(channel, 5)).bodies, [4, 5, 6]);
});

test("a put that waited in vain is refused, and one behind it that fits is let in", async () => {
  const channel = openChannel({ capacity: 3, "keep-alive": 1 });
  await put(channel, 1, 2);

  const large = put(channel, 3, 4);
  const small = put(channel, 5);

  await assert.rejects(large, (error) => codeOf(error) === "CHANNEL_FULL");
  await small;
  assert.deepEqual((await take(channel, 5)).bodies, [1, 2, 5]);
});

test("stop refuses the puts that wait, wakes the takes and is safe twice", async () => {
  const full = openChannel({ capacity: 1, "keep-alive": 60, transactionCapacity: 1 });
  await put(full, 1);
  const empty = openChannel();

  const waiting = assert.rejects(put(full, 2), (error) => codeOf(error) === "CHANNEL_STOPPED");
  const taken = take(empty, 1);
  await Promise.all([full.stop(), empty.stop(), empty.stop()]);

  await waiting;
  assert.deepEqual((await taken).bodies, []);
  await assert.rejects(put(empty, 1), (error) => codeOf(error) === "CHANNEL_STOPPED");
});
