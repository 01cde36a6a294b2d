import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { CountedChannel } from "../../../core/pipeline/counted-channel.js";
import { drain, never, put, take, upTo } from "../../../core/testing/channel-fixture.js";
import { tempFolder } from "../../support/temp-folder.js";
import { contents, copyOf, dataFolder, openIn } from "./channel-folder.js";

test("what fits in memory is not written, what does not is on disk, and the order is kept", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder, { memoryCapacity: 4 });

  await put(channel, 0, 1);
  await put(channel, 2, 3);
  const before = (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log"));
  await put(channel, 4, 5);
  const after = (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log"));

  assert.deepEqual([before.length, after.length], [0, 1]);
  assert.deepEqual(await drain(channel, 4), upTo(6));
  await channel.stop();
});

test("an orderly stop writes what is in memory to disk, in its place between what was there", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder, { memoryCapacity: 3 });
  await put(channel, 0, 1, 2);
  await put(channel, 3, 4);
  await (await take(channel, 2)).transaction.commit();
  await channel.openTake().take(2, never);
  await put(channel, 5, 6);
  await put(channel, 7);

  await channel.stop();

  assert.deepEqual((await contents(folder)).bodies, [2, 3, 4, 5, 6, 7]);
});

for (const { says, config, inMemory } of [
  { says: "spillable channel", config: { memoryCapacity: 3 }, inMemory: [3, 2, 0] },
  { says: "file channel", config: {}, inMemory: [0, 0, 0] },
])
  test(`of a ${says} the agent knows how many events its end would lose`, async (context) => {
    const { channel } = await openIn(await tempFolder(context), config);
    const counted = new CountedChannel(channel);
    await put(channel, 0, 1, 2);
    await put(channel, 3, 4);
    const seen = [counted.inMemory];

    await (await take(channel, 1)).transaction.commit();
    seen.push(counted.inMemory);
    await channel.stop();
    seen.push(counted.inMemory);

    assert.deepEqual(seen, inMemory);
  });

test("a crash loses what is in memory and nothing else", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(path.join(folder, "live"), { memoryCapacity: 3 });
  await put(channel, 0, 1, 2);
  await put(channel, 3, 4);
  await copyOf(path.join(folder, "live"), path.join(folder, "killed"));
  await channel.stop();

  assert.deepEqual((await contents(path.join(folder, "killed"))).bodies, [3, 4]);
});
