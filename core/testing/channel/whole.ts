import assert from "node:assert/strict";
import { type Channel, codeOf, type PutTransaction, retryableOf } from "../../sdk/index.js";
import {
  type ChannelCase,
  drain,
  holds,
  numbered,
  type OpenChannel,
  put,
  rejectsWith,
  take,
  upTo,
} from "../channel-fixture.js";

/** Room that is kept before a commit, and notifications larger than a transaction; both are a channel's choice. */
export const wholeCases: readonly ChannelCase[] = [
  {
    name: "room that is reserved is kept from other puts until the rollback, and holds no event",
    async run(open) {
      const channel = await open({ capacity: 3, transactionCapacity: 3 });
      const transaction = filled(channel, 1, 2);
      if (!(await reserved(transaction))) return;

      holds(channel, 0);
      await rejectsWith("CHANNEL_FULL", put(channel, 3, 4));
      await put(channel, 5);
      await transaction.rollback();
      await put(channel, 6, 7);

      assert.deepEqual(await drain(channel, 3), [5, 6, 7]);
    },
  },
  {
    name: "a put whose room is reserved goes in, however full the channel became",
    async run(open) {
      const channel = await open({ capacity: 3, transactionCapacity: 3 });
      const transaction = filled(channel, 1, 2);
      if (!(await reserved(transaction))) return;
      await put(channel, 3);

      await transaction.commit();
      await transaction.commit();
      await transaction.rollback();

      assert.deepEqual([...(await drain(channel, 3))].sort(), [1, 2, 3]);
      await put(channel, 4, 5, 6);
    },
  },
  {
    name: "a reservation without room is refused at once, or waits, and the transaction may try again",
    async run(open) {
      const channel = await open({ capacity: 2, transactionCapacity: 2, waitSeconds: 60 });
      await put(channel, 1);
      const transaction = filled(channel, 2, 3);
      if (transaction.reserve === undefined || !(await keepsRoom(open))) return;

      await rejectsWith("CHANNEL_FULL", transaction.reserve("at-once"));
      const waiting = transaction.reserve("wait");
      await (await take(channel, 1)).transaction.commit();

      assert.equal(await waiting, true);
      await transaction.commit();
      assert.deepEqual(await drain(channel, 2), [2, 3]);
    },
  },
  {
    name: "a transaction that is rolled back while it waits for room keeps none",
    async run(open) {
      const channel = await open({ capacity: 1, transactionCapacity: 1, waitSeconds: 60 });
      await put(channel, 1);
      const transaction = filled(channel, 2);
      if (transaction.reserve === undefined || !(await keepsRoom(open))) return;

      const waiting = rejectsWith("TRANSACTION_ENDED", transaction.reserve("wait"));
      await transaction.rollback();
      await (await take(channel, 1)).transaction.commit();
      await waiting;

      await put(channel, 3);
      assert.deepEqual(await drain(channel, 1), [3]);
    },
  },
  {
    name: "a put that is opened for more events than transactionCapacity takes them as a whole",
    async run(open) {
      const channel = await open({ capacity: 7, transactionCapacity: 3 });
      const transaction = whole(channel, upTo(7));
      if (transaction === undefined) return;

      await transaction.commit();

      holds(channel, 7);
      const again = whole(channel, upTo(4));
      await rejectsWith("CHANNEL_FULL", again?.commit() ?? Promise.resolve());
      assert.deepEqual(await drain(channel, 3), upTo(7));
    },
  },
  {
    name: "a put that would not fit into the empty channel is refused for good, naming the property",
    async run(open) {
      const channel = await open({ capacity: 4, transactionCapacity: 3, waitSeconds: 60 });
      const transaction = whole(channel, upTo(5));
      if (transaction === undefined) return;

      await assert.rejects(transaction.commit(), (error: Error) => {
        assert.equal(codeOf(error), "NOTIFICATION_TOO_LARGE");
        assert.equal(retryableOf(error), false);
        assert.match(error.message, /5 events.* capacity 4; raise its property "capacity"/);
        return true;
      });

      holds(channel, 0);
    },
  },
];

function filled(channel: Channel, ...bodies: readonly number[]): PutTransaction {
  const transaction = channel.openPut();
  for (const body of bodies) transaction.put(numbered(body));
  return transaction;
}

/** Whether a channel of this kind keeps room at all: an empty one would. */
async function keepsRoom(open: OpenChannel): Promise<boolean> {
  return await reserved(filled(await open(), 1));
}

async function reserved(transaction: PutTransaction): Promise<boolean> {
  return (await transaction.reserve?.("at-once")) ?? false;
}

/** Undefined for a channel whose transactions are never larger than transactionCapacity. */
function whole(channel: Channel, bodies: readonly number[]): PutTransaction | undefined {
  const transaction = channel.openPut(bodies.length);
  try {
    for (const body of bodies) transaction.put(numbered(body));
  } catch (error) {
    assert.equal(codeOf(error), "TRANSACTION_TOO_LARGE");
    return undefined;
  }
  return transaction;
}
