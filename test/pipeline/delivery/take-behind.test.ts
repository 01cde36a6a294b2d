import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { takeBehind } from "../../../core/pipeline/delivery/take-batch.js";
import type { LogConfig } from "../../../plugins/file-channel/file-channel.js";
import { openIn } from "../../plugins/file-channel/channel-folder.js";
import { put } from "../../support/delivering.js";
import { tempFolder } from "../../support/temp-folder.js";

/** So long that no test ends by it. */
const LONG = 3_600_000;
const never = new AbortController().signal;

/** A channel with two events that were held back, and a take of them that was just begun. */
async function setUp(context: TestContext, config: Partial<LogConfig> = {}) {
  const { channel } = await openIn(await tempFolder(context), config);
  context.after(() => channel.stop());
  await put(channel, 1, 2);
  const before = channel.openTake();
  const held = await before.take(2, never);
  await before.rollback();
  const transaction = channel.openTake();
  context.after(() => transaction.rollback());
  const begun = (behind: { readonly rest: number; readonly most: number }, signal = never) =>
    takeBehind({ held, ...behind }, transaction, signal).then((events) => events.map(({ body }) => body));
  return { channel, begun };
}

for (const fair_taking of [false, true])
  test(`what is held back rests until another event comes, which is taken with it${fair_taking ? ", also where services have turns" : ""}`, async (context) => {
    const { channel, begun } = await setUp(context, { fair_taking });
    const taken = begun({ rest: LONG, most: 10 });
    const first = await Promise.race([taken, put(channel, 3)]);

    assert.equal(first, undefined);
    assert.deepEqual(await taken, [1, 2, 3]);
  });

test("what waits behind it already is taken with it at once", async (context) => {
  const { channel, begun } = await setUp(context);
  await put(channel, 3);

  assert.deepEqual(await begun({ rest: LONG, most: 10 }), [1, 2, 3]);
});

test("what is held back is taken alone when its rest is over, also where no others may be taken with it", async (context) => {
  for (const most of [10, 2]) {
    const { channel, begun } = await setUp(context);
    if (most === 2) await put(channel, 3);

    assert.deepEqual(await begun({ rest: 1, most }), [1, 2]);
  }
});

test("where no others may be taken with it, it rests nevertheless, and a stop ends that", async (context) => {
  const { channel, begun } = await setUp(context);
  const stop = new AbortController();
  const taken = begun({ rest: LONG, most: 2 }, stop.signal);
  const first = await Promise.race([taken, put(channel, 3)]);

  stop.abort();

  assert.equal(first, undefined);
  assert.deepEqual(await taken, [1, 2]);
});
