import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { drain, never, put, take, upTo } from "../../../core/testing/channel-fixture.js";
import { positionOf } from "../../support/position.js";
import { tempFolder } from "../../support/temp-folder.js";
import { contents, copyOf, openIn } from "./channel-folder.js";

test("a stored position leaves out what was done before it after a crash, whoever took it", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(path.join(folder, "live"));
  await put(channel, ...upTo(10));
  const one = await take(channel, 3);
  const two = await take(channel, 3);
  const three = await take(channel, 2);

  const positions = [positionOf(two.transaction), one.transaction.positions?.after(2)].map(String);
  await copyOf(path.join(folder, "live"), path.join(folder, "killed"));
  const { channel: again } = await openIn(path.join(folder, "killed"));
  for (const position of positions) await again.skipTo(position);
  const size = again.size;
  const bodies = await drain(again, 10);
  await Promise.all([channel.stop(), again.stop()]);

  assert.deepEqual(three.bodies, [6, 7]);
  assert.deepEqual([size, bodies], [5, [2, 6, 7, 8, 9]]);
});

test("a position is the number of the last event, and includes what other takes committed", async (context) => {
  const { channel } = await openIn(await tempFolder(context));
  await put(channel, ...upTo(9));
  const one = await take(channel, 3);
  const two = await take(channel, 3);
  const id = String(positionOf(one.transaction)).split(":").slice(0, 2).join(":");

  assert.match(id, /^[0-9a-f]{16}:[0-9a-f]{12}$/);
  assert.equal(positionOf(one.transaction), `${id}:3`);
  assert.equal(positionOf(two.transaction), `${id}:0,4-6`);
  await two.transaction.commit();
  assert.equal(one.transaction.positions?.after(1), `${id}:1,4-6`);
  assert.equal(positionOf(one.transaction), `${id}:6`);
  await channel.stop();
});

const strange = ["0123456789abcdef:5", "", "x", "0123456789abcdef", "5"] as const;
for (const position of strange)
  test(`the position ${JSON.stringify(position)} is of another channel and leaves nothing out`, async (context) => {
    const { channel } = await openIn(await tempFolder(context));
    await put(channel, 0, 1);

    await channel.skipTo(position);

    assert.deepEqual(await drain(channel, 5), [0, 1]);
    await channel.stop();
  });

test("what was committed out of order is not seen again after a restart", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  await put(channel, ...upTo(9));
  await take(channel, 3);
  await (await take(channel, 3)).transaction.commit();
  await channel.openTake().take(1, never);
  await channel.stop();

  assert.deepEqual((await contents(folder)).bodies, [0, 1, 2, 6, 7, 8]);
});

test("an event that is put after a crash is not left out by the position of one that was in memory alone", async (context) => {
  const folder = await tempFolder(context);
  const memory = { memoryCapacity: 100 };
  const { channel } = await openIn(path.join(folder, "live"), memory);
  await put(channel, 9);
  await (await take(channel, 1)).transaction.commit();
  await copyOf(path.join(folder, "live"), path.join(folder, "killed"));
  await put(channel, ...upTo(5));
  const position = String(positionOf((await take(channel, 5)).transaction));
  await channel.stop();

  // The store is away at the start, so its position is read when events have come already.
  const { channel: again } = await openIn(path.join(folder, "killed"), memory);
  await put(again, 5);
  const skipped = await again.skipTo(position);
  const bodies = await drain(again, 10);
  await again.stop();

  assert.deepEqual([skipped, bodies], [0, [5]]);
});

test("a take says which of its events an earlier position covers", async (context) => {
  const { channel } = await openIn(await tempFolder(context));
  await put(channel, ...upTo(6));
  const first = await take(channel, 2);
  const position = String(positionOf(first.transaction));
  await first.transaction.rollback();

  const { transaction } = await take(channel, 5);

  assert.deepEqual(
    transaction.positions?.coveredBy(position).map(({ body }) => body),
    [0, 1],
  );
  assert.deepEqual(transaction.positions?.coveredBy("0123456789abcdef:5"), []);
  await channel.stop();
});
