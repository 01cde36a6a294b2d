import assert from "node:assert/strict";
import type { Channel } from "../../sdk/index.js";
import {
  bodiesOf,
  collect,
  type FurtherCase,
  holds,
  isExact,
  never,
  numbered,
  put,
  rejectsWith,
  take,
} from "../channel-fixture.js";

/**
 * What a durable channel does after a crash. The previous channel is abandoned, its transactions open; `reopen` opens
 * another one over what it left.
 */
export const durableCases: readonly FurtherCase[] = [
  {
    name: "after a crash there is what was committed, in order, and nothing else",
    async run(open, reopen) {
      const before = await open();
      await put(before, 1, 2);
      await put(before, 3);
      before.openPut().put(numbered(4));

      const after = await reopen(before);

      assert.equal(after.durable, true, "a channel that can be reopened is durable");
      holds(after, 3);
      assert.deepEqual((await collect(after, 3)).bodies, [1, 2, 3]);
      assert.deepEqual(await after.openTake().take(5, AbortSignal.abort()), []);
    },
  },
  {
    name: "what was taken and not committed before a crash comes again, in its place",
    async run(open, reopen) {
      const before = await open();
      await put(before, 1, 2, 3, 4);
      const held = await take(before, 2);

      const after = await reopen(before);
      const { bodies, redelivered, transactions } = await collect(after, 4);

      assert.deepEqual(held.bodies, [1, 2]);
      assert.deepEqual(bodies, [1, 2, 3, 4]);
      // Positions say it without being asked.
      if (transactions.some(({ isRedelivered, positions }) => isRedelivered === undefined || positions !== undefined))
        return;
      assert.deepEqual(redelivered.slice(0, 2), [1, 2], "events that were taken before are redelivered");
    },
  },
  {
    name: "what was committed before a crash does not come again, in whatever order, unless it is said to be redelivered",
    async run(open, reopen) {
      const before = await open();
      await put(before, 1, 2, 3, 4, 5);
      const [first, , third] = [await take(before, 2), await take(before, 2), await take(before, 1)];
      await third.transaction.commit();
      await first.transaction.commit();

      const after = await reopen(before);
      assert.deepEqual(await unsaid(after, [3, 4]), [3, 4], "what must come, and what came again without a word");
    },
  },
  {
    name: "what a crash left takes its room",
    async run(open, reopen) {
      const before = await open({ capacity: 3, transactionCapacity: 3 });
      await put(before, 1, 2);

      const after = await reopen(before);

      // An agent that shares the channel may not know yet what others have left.
      if (isExact(after)) await rejectsWith("CHANNEL_FULL", put(after, 3, 4));
      await put(after, 3);
      assert.deepEqual((await collect(after, 3)).bodies, [1, 2, 3]);
    },
  },
  {
    name: "a position leaves out what was done before it, after a crash",
    async run(open, reopen) {
      const before = await open();
      await put(before, 1, 2, 3, 4);
      const position = (await take(before, 3)).transaction.positions?.after(2);
      if (position === undefined) return;

      const after = await reopen(before);
      const skipped = [await after.skipTo?.(position), await after.skipTo?.(position)];

      assert.deepEqual(skipped, [2, 0]);
      holds(after, 2);
      assert.deepEqual((await collect(after, 2)).bodies, [3, 4]);
    },
  },
  {
    name: "a position covers what is done and never what another transaction holds, and has the name of the channel",
    async run(open) {
      const channel = await open();
      await put(channel, 1, 2, 3, 4);
      const [one, other] = [await take(channel, 2), await take(channel, 2)];
      const { positions } = other.transaction;
      if (positions === undefined) return;

      const early = positions.after(1);
      const heldByOne = one.transaction.positions?.coveredBy(early) ?? [];
      await one.transaction.commit();
      const late = positions.after(1);

      assert.deepEqual(bodiesOf(heldByOne), []);
      assert.deepEqual(bodiesOf(positions.coveredBy(late)), [3]);
      assert.deepEqual(bodiesOf(positions.coveredBy("another-channel:7")), []);
      assert.match(late, /^[^:]+:/);
      assert.equal(early.split(":")[0], late.split(":")[0]);
    },
  },
  {
    name: "the position of another channel leaves out nothing",
    async run(open, reopen) {
      const before = await open();
      await put(before, 1, 2);
      const after = await reopen(before);
      if (after.skipTo === undefined) return;

      assert.equal(await after.skipTo("another-channel:7"), 0);
      assert.deepEqual((await collect(after, 2)).bodies, [1, 2]);
    },
  },
  {
    name: "an event has the same id whenever it is taken, and no other event has it",
    async run(open, reopen) {
      const before = await open();
      await put(before, 1, 2, 3);
      const ids = await idsOf(before, 3);
      if (ids === undefined) return;

      const after = await reopen(before);

      assert.equal(new Set(ids).size, 3);
      assert.deepEqual(await idsOf(after, 3), ids);
    },
  },
  {
    name: "events that have a dead letter are left out after a crash, and no others",
    async run(open, reopen) {
      const before = await open();
      await put(before, 1, 2, 3);
      const [, second] = (await idsOf(before, 3)) ?? [];
      if (second === undefined) return;

      const after = await reopen(before);
      const left = await after.leaveOut?.(oneByOne(`${second}-0123456789ab`, "another-channel.2-0123456789ab"));

      assert.equal(left, 1);
      assert.deepEqual((await collect(after, 2)).bodies, [1, 3]);
    },
  },
];

/** What a channel that is durable does after a stop. */
export const stoppedCases: readonly FurtherCase[] = [
  {
    name: "a channel that was stopped goes on where it was",
    async run(open, restart) {
      const before = await open();
      await put(before, 1, 2, 3);
      await (await take(before, 1)).transaction.commit();
      await before.stop(never);

      const after = await restart(before);
      await put(after, 4);

      assert.deepEqual(await unsaid(after, [2, 3, 4]), [2, 3, 4], "what must come, and what came again without a word");
    },
  },
];

/** Takes until these bodies have come, and what is there then; leaves out others that are said to be redelivered. */
async function unsaid(channel: Channel, wanted: readonly unknown[]): Promise<readonly unknown[]> {
  const bodies: unknown[] = [];
  const redelivered: unknown[] = [];
  const note = (some: { readonly bodies: readonly unknown[]; readonly redelivered: readonly unknown[] }) => {
    bodies.push(...some.bodies);
    redelivered.push(...some.redelivered);
  };
  while (!wanted.every((body) => bodies.includes(body))) note(await collect(channel, 1));
  const transaction = channel.openTake();
  const rest = await transaction.take(channel.transactionCapacity, AbortSignal.abort());
  const again = rest.filter((event) => transaction.isRedelivered?.(event) === true);
  note({ bodies: bodiesOf(rest), redelivered: bodiesOf(again) });
  return bodies.filter((body) => wanted.includes(body) || !redelivered.includes(body));
}

/** The ids of the next events; undefined for a channel without positions. */
async function idsOf(channel: Channel, count: number): Promise<readonly string[] | undefined> {
  const transaction = channel.openTake();
  const events = await transaction.take(count, never);
  const { positions } = transaction;
  return positions === undefined ? undefined : events.map((event) => positions.idOf(event) ?? "");
}

async function* oneByOne(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}
