import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { drain, put, take } from "../../../core/testing/channel-fixture.js";
import { type ChannelState, Checkpoint } from "../../../plugins/file-channel/log/checkpoint.js";
import { DoneRanges } from "../../../plugins/file-channel/log/done-ranges.js";
import { HIGHEST_SEQUENCE } from "../../../plugins/file-channel/log/records.js";
import { positionOf } from "../../support/position.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { copyOf, openIn } from "./channel-folder.js";

const folderOf = (dataDir: string) => path.join(dataDir, "channels", "c1", "checkpoint");

/** What is in the checkpoint of a channel that does not run. */
async function saved(dataDir: string, change?: ChannelState): Promise<ChannelState | undefined> {
  await mkdir(folderOf(dataDir), { recursive: true });
  const checkpoint = new Checkpoint(folderOf(dataDir));
  const state = await checkpoint.open();
  if (change !== undefined) await checkpoint.save(change);
  await checkpoint.close();
  return state;
}

for (const memoryCapacity of [0, 10]) {
  test(`with ${memoryCapacity} events in memory a put beyond the last sequence number is refused and says what to do, and what was put before is there`, async (context) => {
    const folder = await tempFolder(context);
    const next = HIGHEST_SEQUENCE - 2;
    const done = new DoneRanges(next - 1, []);
    const common = {
      runs: [],
      limits: new Map(),
      formerIds: [],
      missing: [],
      closed: true,
      inMemory: memoryCapacity > 0,
    };
    await saved(folder, { ...common, id: "0123456789abcdef", done, next, written: next - 1 });
    const { channel } = await openIn(folder, { memoryCapacity });
    await put(channel, 1, 2);

    await assert.rejects(put(channel, 3, 4), { code: "CHANNEL_NUMBERS_USED", message: /remove the folders/ });
    await put(channel, 5);
    await channel.stop();
    const again = await openIn(folder, { memoryCapacity });

    assert.deepEqual(await drain(again.channel, 10), [1, 2, 5]);
    await again.channel.stop();
  });
}

test("after an unclean end the numbers go on above all that were used, by 2^24 at the most", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(path.join(folder, "live"), { memoryCapacity: 10 });
  await put(channel, 1, 2, 3);
  const before = positionOf((await take(channel, 3)).transaction) ?? "";
  await copyOf(path.join(folder, "live"), path.join(folder, "killed"));
  await channel.stop();

  const again = await openIn(path.join(folder, "killed"), { memoryCapacity: 10 });
  await put(again.channel, 4);
  const after = positionOf((await take(again.channel, 1)).transaction) ?? "";
  await again.channel.stop();

  assert.equal(Number(before.split(":")[2]), 3);
  const jump = Number(after.split(":")[2]) - 3;
  assert.ok(jump > 0 && jump <= 2 ** 24 + 1, after);
});

test("numbers of events in memory alone are written down from time to time, so that none is used again", async (context) => {
  const folder = await tempFolder(context);
  const count = 10_000;
  const limits = { memoryCapacity: count, transactionCapacity: count };
  const { channel } = await openIn(path.join(folder, "live"), limits);
  const bodies = Array.from({ length: count }, (_, body) => body);
  for (let given = 0; given <= 2 ** 20 + 2 * count; given += count) {
    await put(channel, ...bodies);
    await (await take(channel, count)).transaction.commit();
  }
  const known = async () => (await saved(await copyOf(path.join(folder, "live"), path.join(folder, "killed"))))?.next;

  await until(known, (next = 0) => next > 2 ** 20);
  await channel.stop();
});
