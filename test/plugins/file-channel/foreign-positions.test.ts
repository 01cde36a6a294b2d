import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { drain, put, rejectsWith, take, upTo } from "../../../core/testing/channel-fixture.js";
import type { FileChannel, LogConfig } from "../../../plugins/file-channel/file-channel.js";
import { positionOf as takenPosition } from "../../support/position.js";
import { tempFolder } from "../../support/temp-folder.js";
import { copyOf, openIn } from "./channel-folder.js";

/** Takes so many events; where the channel stands with them. They are done when `committed` says so. */
async function positionOf(channel: FileChannel, count: number, committed = true): Promise<string> {
  const { transaction } = await take(channel, count);
  const position = String(takenPosition(transaction));
  await (committed ? transaction.commit() : transaction.rollback());
  return position;
}

async function folders(context: TestContext) {
  const folder = await tempFolder(context);
  return { original: path.join(folder, "original"), copy: path.join(folder, "copy") };
}

/** A channel of five events that has handed out two of them, and its folder as it was then. */
async function copied(context: TestContext, how: { stopped: boolean }, config: Partial<LogConfig> = {}) {
  const { original, copy } = await folders(context);
  const { channel } = await openIn(original, config);
  await put(channel, ...upTo(5));
  const position = await positionOf(channel, 2);
  if (how.stopped) await channel.stop();
  await copyOf(original, copy);
  if (!how.stopped) return { original, copy, position, running: channel };
  return { original, copy, position, running: (await openIn(original, config)).channel };
}

for (const stopped of [true, false])
  for (const memoryCapacity of [0, 2]) {
    const kind = memoryCapacity === 0 ? "file" : "spillable";
    const when = stopped ? "while it was stopped" : "while it ran";

    test(`${kind}: a copy that was made ${when} refuses what the original stored after it went on, and loses nothing`, async (context) => {
      const config = { memoryCapacity };
      const { original, copy, position, running } = await copied(context, { stopped }, config);
      const { channel: second } = await openIn(copy, config);
      await put(second, 50, 51, 52);
      // The original is started again, so that its run is one the copy never had.
      await running.stop();
      const { channel: first } = await openIn(original, config);
      await put(first, 10, 11, 12);
      const later = await positionOf(first, 5);

      await rejectsWith("POSITION_FOREIGN", second.skipTo(later));
      const taken = await take(second, 2);
      assert.throws(() => taken.transaction.positions?.coveredBy(later), { code: "POSITION_FOREIGN" });
      await taken.transaction.rollback();
      await second.skipTo(position);

      const left = await drain(second, 10);
      assert.deepEqual(left.slice(-3), [50, 51, 52]);
      await Promise.all([first.stop(), second.stop()]);
    });

    test(`${kind}: the original refuses what a copy that was made ${when} has stored`, async (context) => {
      const config = { memoryCapacity };
      const { copy, running } = await copied(context, { stopped }, config);
      const { channel: second } = await openIn(copy, config);
      await put(second, 50, 51, 52);
      const ofCopy = await positionOf(second, 3);
      await put(running, 10);

      await rejectsWith("POSITION_FOREIGN", running.skipTo(ofCopy));

      assert.deepEqual(await drain(running, 10), [2, 3, 4, 10]);
      await Promise.all([running.stop(), second.stop()]);
    });
  }

test("a backup that is restored refuses the position that was kept after it, of the same run too", async (context) => {
  const { copy, running } = await copied(context, { stopped: false });
  await put(running, ...upTo(20));
  const newer = await positionOf(running, 20);
  await running.stop();

  const { channel } = await openIn(copy);
  await put(channel, 50);

  await rejectsWith("POSITION_FOREIGN", channel.skipTo(newer));
  assert.deepEqual(await drain(channel, 10), [2, 3, 4, 50]);
  await channel.stop();
});

test("numbers of events that were in memory alone count after a kill, because this channel gave them", async (context) => {
  const { original, copy } = await folders(context);
  const config = { memoryCapacity: 100 };
  const { channel } = await openIn(original, config);
  await put(channel, 0);
  await positionOf(channel, 1);
  await copyOf(original, copy);
  await put(channel, ...upTo(5));
  const position = await positionOf(channel, 5);
  await channel.stop();

  const { channel: again } = await openIn(copy, config);
  assert.equal(await again.skipTo(position), 0);
  await again.stop();
});

test("the position of an earlier version, without a run, holds up to what was numbered and not beyond", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  await put(channel, ...upTo(5));
  const [id] = (await positionOf(channel, 1, false)).split(":");
  await channel.stop();
  const { channel: again } = await openIn(folder);

  await rejectsWith("POSITION_FOREIGN", again.skipTo(`${id}:6`));
  assert.equal(await again.skipTo(`${id}:2`), 2);

  await again.stop();
});

for (const text of ["x", "5:6:7", "1,2", "99999999999999999999", "0,3-2,900-901"])
  test(`the text ${JSON.stringify(text)} after the id of the channel is no position of it`, async (context) => {
    const { channel } = await openIn(await tempFolder(context));
    await put(channel, 0, 1);
    const [id, run] = (await positionOf(channel, 1, false)).split(":");

    await rejectsWith("POSITION_FOREIGN", channel.skipTo(`${id}:${text}`));
    await rejectsWith("POSITION_FOREIGN", channel.skipTo(`${id}:${run}:${text}`));

    assert.deepEqual(await drain(channel, 5), [0, 1]);
    await channel.stop();
  });

test("without its checkpoint a channel believes no position with a run, and says so", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  await put(channel, ...upTo(5));
  const position = await positionOf(channel, 2);
  await channel.stop();
  await rm(path.join(folder, "channels", "c1", "checkpoint", "checkpoint"));

  const { channel: again } = await openIn(folder);

  await assert.rejects(again.skipTo(position), /the checkpoint was lost/);
  assert.deepEqual(await drain(again, 5), [0, 1, 2, 3, 4]);
  await again.stop();
});

test("a run that handed out nothing leaves no trace, however often the channel is started", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  await put(channel, ...upTo(5));
  const position = await positionOf(channel, 2, false);
  await channel.stop();
  for (let start = 0; start < 1100; start += 1) {
    const { channel: idle } = await openIn(folder);
    await idle.stop();
  }

  const { channel: again } = await openIn(folder);
  assert.equal(await again.skipTo(position), 2);
  await again.stop();
});

test("after a thousand runs a position of a forgotten one is accepted as long as it leaves nothing out", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  await put(channel, 0, 1);
  const one = await positionOf(channel, 1);
  const two = await positionOf(channel, 1, false);
  await channel.stop();
  for (let start = 0; start < 1001; start += 1) {
    const { channel: next } = await openIn(folder);
    await positionOf(next, 1, false);
    await next.stop();
  }

  const { channel: again } = await openIn(folder);
  assert.equal(await again.skipTo(one), 0);
  await rejectsWith("POSITION_FOREIGN", again.skipTo(two));
  await again.stop();
});

test("with a file new-id the channel goes on once under another id, with all its events", async (context) => {
  const { copy, running, position } = await copied(context, { stopped: true });
  const later = await positionOf(running, 3);
  await running.stop();
  await writeFile(path.join(copy, "channels", "c1", "checkpoint", "new-id"), "");

  const { channel } = await openIn(copy);
  const skipped = [await channel.skipTo(position), await channel.skipTo(later)];
  const own = await positionOf(channel, 1);
  await channel.stop();
  const { channel: again } = await openIn(copy);
  assert.equal(await again.skipTo(own), 0);

  assert.deepEqual(skipped, [0, 0]);
  assert.notEqual(own.split(":")[0], position.split(":")[0]);
  assert.deepEqual(await drain(again, 5), [3, 4]);
  await again.stop();
});

test("a restored copy never takes for stored what it has accepted itself, however often it is killed and however far the original went on in its run", async (context) => {
  const { copy, position, running } = await copied(context, { stopped: false });
  const [id, run] = position.split(":");
  // Beyond the numbers that an opening after a kill leaves free.
  const later = `${id}:${run}:${2 ** 24 + 8}`;
  await running.stop();

  let folder = copy;
  for (const accepted of [10, 20, 30]) {
    const { channel } = await openIn(folder);
    await rejectsWith("POSITION_FOREIGN", channel.skipTo(later));
    await put(channel, accepted, accepted + 1, accepted + 2);
    folder = await copyOf(folder, `${copy}-${accepted}`);
    await channel.stop();
  }
  const { channel } = await openIn(folder);

  await rejectsWith("POSITION_FOREIGN", channel.skipTo(later));
  assert.equal(await channel.skipTo(`${id}:${run}:4`), 2);
  assert.deepEqual(await drain(channel, 20), [4, 10, 11, 12, 20, 21, 22, 30, 31, 32]);
  await channel.stop();
});
