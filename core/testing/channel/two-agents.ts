import assert from "node:assert/strict";
import { type Channel, codeOf } from "../../sdk/index.js";
import { collect, drain, type FurtherCase, never, put, take, upTo } from "../channel-fixture.js";
import { failure } from "../expectations.js";

/** A channel that belongs to one agent: `another` opens a second one with the same values. */
export const refusingCases: readonly FurtherCase[] = [
  {
    name: "of two channels with the same values the second does not start, and the first goes on",
    async run(open, another) {
      const first = await open();
      await put(first, 1);

      const refused = await another(first).catch((error: unknown) => error);

      if (!(refused instanceof Error)) throw failure("the start of the second channel must fail, and it did not");
      if (codeOf(refused) === undefined)
        throw failure("the start of the second channel must fail with a code", refused);
      await put(first, 2);
      assert.deepEqual((await collect(first, 2)).bodies, [1, 2]);
    },
  },
  {
    name: "when the first of two channels has stopped the second starts, and has its events",
    async run(open, another) {
      const first = await open();
      await put(first, 1, 2);
      await first.stop(never);

      const second = await another(first);

      assert.deepEqual((await collect(second, 2)).bodies, [1, 2]);
    },
  },
];

/** A channel that several agents share. */
export const sharedCases: readonly FurtherCase[] = [
  {
    name: "what one of two agents puts, each of them takes; what one holds the other does not get",
    async run(open, another) {
      const first = await open();
      const second = await another(first);
      await put(first, 1, 2);
      await put(second, 3, 4);

      const held = await collect(first, 2);
      const others = await collect(second, 2);

      assert.deepEqual([...held.bodies, ...others.bodies].sort(), [1, 2, 3, 4]);
    },
  },
  {
    name: "what one of two agents rolls back, the other may take",
    async run(open, another) {
      const first = await open();
      const second = await another(first);
      await put(first, 1, 2, 3, 4);
      const held = await take(first, 2);
      await held.transaction.rollback();
      await first.stop(never);

      assert.deepEqual([...(await collect(second, 4)).bodies].sort(), [1, 2, 3, 4]);
    },
  },
  {
    name: "two agents that put and take at once lose nothing and see nothing twice",
    async run(open, another) {
      const first = await open({ capacity: 200, transactionCapacity: 7, waitSeconds: 60 });
      const second = await another(first);
      const each = 60;
      const seen: number[] = [];
      const enough = new AbortController();

      const takers = [first, second].map(async (channel) => {
        for (;;) {
          const transaction = channel.openTake();
          const events = await transaction.take(5, enough.signal);
          if (events.length === 0) return await transaction.rollback();
          await transaction.commit();
          seen.push(...events.map(({ body }) => Number(body)));
          if (seen.length >= 2 * each) enough.abort();
        }
      });
      const putters = [first, second].map((channel, agent) => putAll(channel, agent * 1000, each));
      await Promise.all([...takers, ...putters]);

      const wanted = [0, 1000].flatMap((from) => upTo(each).map((next) => from + next));
      assert.deepEqual(
        [...seen].sort((one, other) => one - other),
        wanted,
      );
      assert.deepEqual([await drain(first, 5), await drain(second, 5)], [[], []]);
    },
  },
  {
    name: "the ledger of an agent is not compared with a size that several agents share",
    async run(open, another) {
      const first = await open();
      await another(first);

      assert.ok(
        first.size === undefined || (first.sizeIs ?? "exact") !== "exact",
        'sizeIs is "shared", or size undefined',
      );
    },
  },
];

async function putAll(channel: Channel, from: number, count: number): Promise<void> {
  for (let next = 0; next < count; next += 3) await put(channel, ...[0, 1, 2].map((step) => from + next + step));
}
