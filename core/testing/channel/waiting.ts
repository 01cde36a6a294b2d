import assert from "node:assert/strict";
import { type ChannelCase, drain, holds, never, numbered, put, rejectsWith, take } from "../channel-fixture.js";

export const waitingCases: readonly ChannelCase[] = [
  {
    name: "a take waits until an event arrives and is woken at once",
    async run(open) {
      const channel = await open();

      const taken = take(channel, 5);
      await put(channel, 1, 2);

      assert.deepEqual((await taken).bodies, [1, 2]);
      holds(channel, 2);
    },
  },
  {
    name: "several takes are served in the order in which they came",
    async run(open) {
      const channel = await open();

      const takes = [take(channel, 2), take(channel, 2), take(channel, 2)];
      await put(channel, 1, 2, 3);
      await put(channel, 4);

      assert.deepEqual(
        (await Promise.all(takes)).map(({ bodies }) => bodies),
        [[1, 2], [3], [4]],
      );
    },
  },
  {
    name: "a rollback wakes a take that waits",
    async run(open) {
      const channel = await open();
      await put(channel, 1);
      const { transaction } = await take(channel, 1);

      const waiting = take(channel, 1);
      await transaction.rollback();

      assert.deepEqual((await waiting).bodies, [1]);
    },
  },
  {
    name: "an aborted take returns no event and takes none",
    async run(open) {
      const channel = await open();
      const abort = new AbortController();

      const taken = channel.openTake().take(1, abort.signal);
      abort.abort();
      await put(channel, 1);

      assert.deepEqual(await taken, []);
      assert.deepEqual((await take(channel, 1)).bodies, [1]);
    },
  },
  {
    name: "a take whose signal has aborted returns what is there",
    async run(open) {
      const channel = await open();
      await put(channel, 1);

      const events = await channel.openTake().take(5, AbortSignal.abort());

      assert.deepEqual(events, [numbered(1)]);
    },
  },
  {
    name: "a take that was rolled back while it waited leaves the events to others",
    async run(open) {
      const channel = await open();
      const transaction = channel.openTake();

      const taken = transaction.take(1, never);
      await transaction.rollback();
      await put(channel, 1);

      assert.deepEqual(await taken, []);
      assert.deepEqual((await take(channel, 1)).bodies, [1]);
      holds(channel, 1);
    },
  },
  {
    name: "a put waits for room and is let in by the commit of a take",
    async run(open) {
      const channel = await open({ capacity: 2, transactionCapacity: 2, waitSeconds: 60 });
      await put(channel, 1, 2);

      const waiting = put(channel, 3);
      const { transaction } = await take(channel, 1);
      await transaction.commit();
      await waiting;

      assert.deepEqual(await drain(channel, 2), [2, 3]);
    },
  },
  {
    name: "puts that wait are let in first come first served: a small one does not overtake a large one",
    async run(open) {
      const channel = await open({ capacity: 3, transactionCapacity: 3, waitSeconds: 60 });
      await put(channel, 1, 2, 3);

      const large = put(channel, 4, 5);
      const small = put(channel, 6);
      await (await take(channel, 1)).transaction.commit();
      await (await take(channel, 2)).transaction.commit();
      await Promise.all([large, small]);

      assert.deepEqual(await drain(channel, 3), [4, 5, 6]);
    },
  },
  {
    name: "a put that waited in vain is refused, and one behind it that fits is let in",
    async run(open) {
      const channel = await open({ capacity: 3, transactionCapacity: 3, waitSeconds: 1 });
      await put(channel, 1, 2);

      const large = put(channel, 3, 4);
      const small = put(channel, 5);

      await rejectsWith("CHANNEL_FULL", large);
      await small;
      assert.deepEqual(await drain(channel, 3), [1, 2, 5]);
    },
  },
  {
    name: "stop refuses the puts that wait, wakes the takes and is safe twice",
    async run(open) {
      const full = await open({ capacity: 1, transactionCapacity: 1, waitSeconds: 60 });
      await put(full, 1);
      const empty = await open();

      const waiting = rejectsWith("CHANNEL_STOPPED", put(full, 2));
      const taken = take(empty, 1);
      await Promise.all([full.stop(never), empty.stop(never), empty.stop(never)]);

      await waiting;
      assert.deepEqual((await taken).bodies, []);
      await rejectsWith("CHANNEL_STOPPED", put(empty, 1));
    },
  },
];
