import assert from "node:assert/strict";
import { type Channel, codeOf } from "../../sdk/index.js";
import {
  bodiesOf,
  collect,
  drain,
  type FurtherCase,
  MOST_MILLIS,
  never,
  put,
  type Taken,
  upTo,
} from "../channel-fixture.js";
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
    name: "what two agents put they take together, each event once",
    async run(open, another) {
      const first = await open();
      const second = await another(first);
      await put(first, 1, 2);
      await put(second, 3, 4);

      const taken = await collectOf([first, second], 4);

      assert.deepEqual(taken.flatMap(({ bodies }) => bodies).sort(), [1, 2, 3, 4]);
    },
  },
  {
    name: "what one of two agents rolls back before it stops, the other has",
    async run(open, another) {
      const first = await open();
      const second = await another(first);
      await put(first, 1, 2, 3, 4);
      const taken = await collectOf([first, second], 4);
      for (const { transaction } of taken) await transaction.rollback();
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

/** Takes from all of them at once, without committing, until this number of events is there. */
async function collectOf(channels: readonly Channel[], count: number): Promise<readonly Taken[]> {
  const taken: Taken[] = [];
  const enough = new AbortController();
  const timer = setTimeout(() => enough.abort(), MOST_MILLIS);
  await Promise.all(
    channels.map(async (channel) => {
      while (!enough.signal.aborted) {
        const transaction = channel.openTake();
        const events = await transaction.take(1, enough.signal);
        if (events.length === 0) await transaction.rollback();
        else taken.push({ transaction, bodies: bodiesOf(events) });
        if (taken.length >= count) enough.abort();
      }
    }),
  );
  clearTimeout(timer);
  return taken;
}

async function putAll(channel: Channel, from: number, count: number): Promise<void> {
  for (let next = 0; next < count; next += 3) await put(channel, ...[0, 1, 2].map((step) => from + next + step));
}
