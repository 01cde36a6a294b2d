import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, retryableOf } from "../../../core/sdk/index.js";
import { event, never, openChannel, put, take } from "./open-channel.js";

test("events come out in the order in which they were put", async () => {
  const channel = openChannel();
  await put(channel, 1, 2, 3);
  await put(channel, 4);

  const first = await take(channel, 2);
  const second = await take(channel, 5);

  assert.deepEqual(
    [first.bodies, second.bodies],
    [
      [1, 2],
      [3, 4],
    ],
  );
});

test("nobody sees what was put before the commit", async () => {
  const channel = openChannel();
  const transaction = channel.openPut();

  transaction.put(event(1));

  assert.equal(channel.size, 0);
  assert.deepEqual(await channel.openTake().take(1, AbortSignal.abort()), []);
});

test("a put that is rolled back leaves nothing, and its commit afterwards does nothing", async () => {
  const channel = openChannel();
  const transaction = channel.openPut();
  transaction.put(event(1));

  await transaction.rollback();
  await transaction.commit();

  assert.equal(channel.size, 0);
});

test("events that were taken count until the commit, and a second commit does nothing", async () => {
  const channel = openChannel();
  await put(channel, 1, 2, 3);

  const { transaction } = await take(channel, 2);
  const before = channel.size;
  await transaction.commit();
  await transaction.commit();
  await transaction.rollback();

  assert.deepEqual([before, channel.size], [3, 1]);
});

test("a rollback puts everything that was taken back at the front, in order", async () => {
  const channel = openChannel();
  await put(channel, 1, 2, 3, 4);
  const { transaction } = await take(channel, 1);
  await transaction.take(2, never);

  await transaction.rollback();

  assert.deepEqual((await take(channel, 5)).bodies, [1, 2, 3, 4]);
  assert.equal(channel.size, 4);
});

test("a put beyond the transactionCapacity is refused with the property to raise", () => {
  const transaction = openChannel({ transactionCapacity: 2 }).openPut();
  transaction.put(event(1));
  transaction.put(event(2));

  assert.throws(
    () => transaction.put(event(3)),
    (error: Error) => {
      assert.equal(codeOf(error), "TRANSACTION_TOO_LARGE");
      assert.match(error.message, /channel "c1".* 2 events.*"transactionCapacity"/);
      return true;
    },
  );
});

test("a take transaction holds no more than the transactionCapacity", async () => {
  const channel = openChannel({ transactionCapacity: 2 });
  await put(channel, 1, 2);
  await put(channel, 3);

  const { transaction, bodies } = await take(channel, 5);

  assert.deepEqual(bodies, [1, 2]);
  await assert.rejects(transaction.take(1, never), (error) => codeOf(error) === "TRANSACTION_TOO_LARGE");
});

test("a transaction cannot be used after its end", async () => {
  const channel = openChannel();
  const putting = channel.openPut();
  await putting.commit();
  const taking = channel.openTake();
  await taking.commit();

  assert.throws(
    () => putting.put(event(1)),
    (error) => codeOf(error) === "TRANSACTION_ENDED",
  );
  await assert.rejects(taking.take(1, never), (error) => codeOf(error) === "TRANSACTION_ENDED");
});

test("a put without room is refused as a whole, naming the channel and its capacity, and may be tried again", async () => {
  const channel = openChannel({ capacity: 3 });
  await put(channel, 1, 2);

  await assert.rejects(put(channel, 3, 4), (error: Error) => {
    assert.equal(codeOf(error), "CHANNEL_FULL");
    assert.equal(retryableOf(error), true);
    assert.equal(error.message, 'channel "c1" is full: no room for 2 events within 0 s, its capacity is 3');
    return true;
  });

  assert.equal(channel.size, 2);
});

test("the order is kept however full and empty the channel becomes", async () => {
  const channel = openChannel({ capacity: 1000, transactionCapacity: 300 });
  const seen: unknown[] = [];
  let next = 0;

  for (let round = 0; round < 40; round += 1) {
    const count = 1 + ((round * 53) % 290);
    if (channel.size + count <= 1000) await put(channel, ...Array.from({ length: count }, () => next++));
    const { transaction, bodies } = await take(channel, 1 + ((round * 31) % 200));
    if (round % 3 === 0) await transaction.rollback();
    else {
      seen.push(...bodies);
      await transaction.commit();
    }
  }
  while (channel.size > 0) {
    const { transaction, bodies } = await take(channel, 300);
    seen.push(...bodies);
    await transaction.commit();
  }

  assert.deepEqual(
    seen,
    Array.from({ length: next }, (_, index) => index),
  );
});
