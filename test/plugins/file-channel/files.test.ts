import assert from "node:assert/strict";
import { constants } from "node:fs";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { drain, put, rejectsWith, take, upTo } from "../../../core/testing/channel-fixture.js";
import { heapUsed } from "../../support/heap-used.js";
import { tempFolder } from "../../support/temp-folder.js";
import { contents, dataFolder, openIn } from "./channel-folder.js";

test("a stop keeps what is in the channel, in order, and numbers go on after it", async (context) => {
  const folder = await tempFolder(context);
  for (const round of [0, 1, 2]) {
    const { channel } = await openIn(folder);
    await put(channel, round * 2, round * 2 + 1);
    await channel.stop();
  }

  assert.deepEqual((await contents(folder)).bodies, upTo(6));
});

test("on Linux a write to a segment ends when it is on disk", {
  skip: process.platform === "linux" ? false : "only Linux opens segments with O_DSYNC",
}, async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  await put(channel, 1);

  const flags = await flagsOfOpenFilesIn(dataFolder(folder));
  await channel.stop();

  assert.equal(flags.length, 1);
  assert.ok(flags.every((bits) => (bits & constants.O_DSYNC) === constants.O_DSYNC));
});

/** The flags with which this process has the segments of the folder open. */
async function flagsOfOpenFilesIn(folder: string): Promise<readonly number[]> {
  const open = await Promise.all(
    (await readdir("/proc/self/fd")).map(async (fd) => ({
      fd,
      file: await readlink(`/proc/self/fd/${fd}`).catch(() => ""),
    })),
  );
  const segments = open.filter(({ file }) => path.dirname(file) === folder && file.endsWith(".log"));
  return await Promise.all(
    segments.map(async ({ fd }) => {
      const info = await readFile(`/proc/self/fdinfo/${fd}`, "utf8");
      return Number.parseInt(/flags:\s+(\d+)/.exec(info)?.[1] ?? "", 8);
    }),
  );
}

test("files whose events are done are removed, whatever stays in the newest", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder, { maxFileSize: 1000 });
  for (let body = 0; body < 200; body += 1) await put(channel, body);
  const before = (await readdir(dataFolder(folder))).length;

  const bodies = await drain(channel, 50);

  const after = (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log"));
  await channel.stop();
  assert.ok(before > 5);
  assert.equal(after.length, 1);
  assert.deepEqual(bodies, upTo(200));
});

test("several data folders are used in turn, and the order is kept", async (context) => {
  const folder = await tempFolder(context);
  const dataDirs = ["a", "b", "c"].map((name) => path.join(folder, name));
  const { channel } = await openIn(folder, { dataDirs, maxFileSize: 500 });
  for (let body = 0; body < 60; body += 1) await put(channel, body);
  await channel.stop();

  const counts = await Promise.all(dataDirs.map(async (dir) => (await readdir(dir)).length));
  const again = (await openIn(folder, { dataDirs })).channel;

  assert.ok(
    counts.every((count) => count >= 2),
    String(counts),
  );
  assert.deepEqual(await drain(again, 100), upTo(60));
  await again.stop();
});

test("a put beyond the byteCapacity is refused and let in when files are done", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder, { byteCapacity: 4000 });
  let accepted = 0;
  const fill = async (): Promise<void> => {
    for (;;) {
      await put(channel, accepted);
      accepted += 1;
    }
  };

  await assert.rejects(fill(), /no room for \d+ bytes within 0 s, its byteCapacity is 4000/);
  await rejectsWith("CHANNEL_FULL", put(channel, 1));
  const names = (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log"));
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(dataFolder(folder), name))).size));
  await (await take(channel, Math.floor(accepted / 2))).transaction.commit();
  await put(channel, accepted);

  assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 4200);
  assert.equal(channel.size, accepted - Math.floor(accepted / 2) + 1);
  await channel.stop();
});

test("an event larger than what is read at once comes back whole", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  const transaction = channel.openPut();
  const bodies = ["a".repeat(5_000_000), "b", "c".repeat(1_100_000)];
  for (const body of bodies) transaction.put({ headers: {}, body });
  await transaction.commit();
  await channel.stop();

  assert.deepEqual((await contents(folder)).bodies, bodies);
});

test("a backlog is not held in memory", async (context) => {
  const { channel } = await openIn(await tempFolder(context), { maxFileSize: 10_000_000 });
  const text = "x".repeat(10_000);
  const before = heapUsed();

  for (let round = 0; round < 100; round += 1) {
    const transaction = channel.openPut();
    for (let index = 0; index < 100; index += 1)
      transaction.put({ headers: {}, body: { text: `${text}${round}-${index}` } });
    await transaction.commit();
  }

  const held = heapUsed() - before;
  assert.equal(channel.size, 10_000);
  assert.ok(held < 20_000_000, `${held} bytes for a backlog of 100,000,000`);
  await channel.stop();
});
