import assert from "node:assert/strict";
import { codeOf, retryableOf } from "../../sdk/index.js";
import { type ChannelCase, drain, holds, never, numbered, put, rejectsWith, take, upTo } from "../channel-fixture.js";

export const transactionCases: readonly ChannelCase[] = [
  {
    name: "events come out in the order in which they were put, as they were put",
    async run(open) {
      const channel = await open();
      const body = { text: "ä€😀 \u0000 \ud800", list: [1, { a: null }], empty: "" };
      await put(channel, 1, 2, 3);
      const transaction = channel.openPut();
      transaction.put({ headers: { "fiware-service": "s", "": "ü" }, body });
      await transaction.commit();

      const first = await take(channel, 2);
      const second = await channel.openTake().take(5, never);

      assert.deepEqual(first.bodies, [1, 2]);
      assert.deepEqual(second, [numbered(3), { headers: { "fiware-service": "s", "": "ü" }, body }]);
    },
  },
  {
    name: "what is taken for the first time is not redelivered",
    async run(open) {
      const channel = await open();
      await put(channel, 1, 2);

      const transaction = channel.openTake();
      const events = await transaction.take(5, never);

      assert.deepEqual(
        events.map((event) => transaction.isRedelivered?.(event) === true),
        [false, false],
      );
    },
  },
  {
    name: "what was put is not visible before the commit",
    async run(open) {
      const channel = await open();
      const transaction = channel.openPut();

      transaction.put(numbered(1));

      holds(channel, 0);
      assert.deepEqual(await channel.openTake().take(1, AbortSignal.abort()), []);
    },
  },
  {
    name: "a put that is rolled back leaves nothing, and its commit afterwards does nothing",
    async run(open) {
      const channel = await open();
      const transaction = channel.openPut();
      transaction.put(numbered(1));

      await transaction.rollback();
      await transaction.commit();

      holds(channel, 0);
    },
  },
  {
    name: "events that were taken count until the commit, and a second end does nothing",
    async run(open) {
      const channel = await open();
      await put(channel, 1, 2, 3);

      const { transaction } = await take(channel, 2);
      holds(channel, 3);
      await transaction.commit();
      await transaction.commit();
      await transaction.rollback();

      holds(channel, 1);
      assert.deepEqual(await drain(channel, 5), [3]);
    },
  },
  {
    name: "a rollback puts everything that was taken back at the front, in order",
    async run(open) {
      const channel = await open();
      await put(channel, 1, 2, 3, 4);
      const { transaction } = await take(channel, 1);
      await transaction.take(2, never);

      await transaction.rollback();

      holds(channel, 4);
      assert.deepEqual(await drain(channel, 5), [1, 2, 3, 4]);
    },
  },
  {
    name: "a put beyond the transactionCapacity is refused with the property to raise",
    async run(open) {
      const transaction = (await open({ transactionCapacity: 2 })).openPut();
      transaction.put(numbered(1));
      transaction.put(numbered(2));

      assert.throws(
        () => transaction.put(numbered(3)),
        (error: Error) => codeOf(error) === "TRANSACTION_TOO_LARGE" && error.message.includes("transactionCapacity"),
      );
    },
  },
  {
    name: "a take transaction holds no more than the transactionCapacity",
    async run(open) {
      const channel = await open({ transactionCapacity: 2 });
      await put(channel, 1, 2);
      await put(channel, 3);

      const { transaction, bodies } = await take(channel, 5);

      assert.deepEqual(bodies, [1, 2]);
      await rejectsWith("TRANSACTION_TOO_LARGE", transaction.take(1, never));
    },
  },
  {
    name: "a transaction cannot be used after its end",
    async run(open) {
      const channel = await open();
      const putting = channel.openPut();
      await putting.commit();
      const taking = channel.openTake();
      await taking.commit();

      assert.throws(
        () => putting.put(numbered(1)),
        (error) => codeOf(error) === "TRANSACTION_ENDED",
      );
      await rejectsWith("TRANSACTION_ENDED", taking.take(1, never));
    },
  },
  {
    name: "a put without room is refused as a whole, naming the capacity, and may be tried again",
    async run(open) {
      const channel = await open({ capacity: 3, transactionCapacity: 3 });
      await put(channel, 1, 2);

      await assert.rejects(put(channel, 3, 4), (error: Error) => {
        assert.equal(codeOf(error), "CHANNEL_FULL");
        assert.equal(retryableOf(error), true);
        assert.match(error.message, /no room for 2 events within 0 s, its capacity is 3/);
        return true;
      });

      holds(channel, 2);
      await put(channel, 5);
      assert.deepEqual(await drain(channel, 3), [1, 2, 5]);
    },
  },
  {
    name: "the order is kept however full and empty the channel becomes",
    async run(open) {
      const channel = await open({ capacity: 1000, transactionCapacity: 300 });
      const seen: unknown[] = [];
      let next = 0;

      for (let round = 0; round < 40; round += 1) {
        const count = 1 + ((round * 53) % 290);
        if (next - seen.length + count <= 1000) await put(channel, ...Array.from({ length: count }, () => next++));
        const { transaction, bodies } = await take(channel, 1 + ((round * 31) % 200));
        if (round % 3 === 0) await transaction.rollback();
        else {
          seen.push(...bodies);
          await transaction.commit();
        }
      }
      seen.push(...(await drain(channel, 300)));

      assert.deepEqual(seen, upTo(next));
    },
  },
];
