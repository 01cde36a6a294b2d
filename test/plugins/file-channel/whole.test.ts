import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { drain, numbered, put, rejectsWith, upTo } from "../../../core/testing/channel-fixture.js";
import type { FileChannel } from "../../../plugins/file-channel/file-channel.js";
import { tempFolder } from "../../support/temp-folder.js";
import { channelIn, contents, copyOf, dataFolder, openIn } from "./channel-folder.js";

async function putWhole(channel: FileChannel, count: number): Promise<void> {
  const transaction = channel.openPut(count);
  for (const body of upTo(count)) transaction.put(numbered(body));
  await transaction.commit();
}

test("of a notification larger than transactionCapacity all events are there after a cut at any place, or none", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder, { transactionCapacity: 2 });
  await putWhole(channel, 5);
  const killed = await copyOf(folder, path.join(await tempFolder(context), "killed"));
  await channel.stop();
  const [name = ""] = (await readdir(dataFolder(killed))).filter((one) => one.endsWith(".log"));
  const bytes = await readFile(path.join(dataFolder(killed), name));

  const seen = new Map<number, number>();
  for (let length = 24; length <= bytes.length; length += 13) {
    const cut = await copyOf(killed, path.join(await tempFolder(context), "cut"));
    await writeFile(path.join(dataFolder(cut), name), bytes.subarray(0, length));
    const { bodies } = await contents(cut);
    seen.set(bodies.length, length);
  }
  const whole = await contents(killed);

  assert.deepEqual(
    [...seen.keys()].filter((count) => count !== 0 && count !== 5),
    [],
  );
  assert.deepEqual(whole.bodies, upTo(5));
});

test("room that is reserved counts in bytes, and a put larger than byteCapacity is refused for good", async (context) => {
  const { channel } = await openIn(await tempFolder(context), { byteCapacity: 1000 });
  const transaction = channel.openPut();
  transaction.put({ headers: {}, body: "x".repeat(800) });
  const large = channel.openPut();
  large.put({ headers: {}, body: "x".repeat(1000) });

  await transaction.reserve?.("at-once");
  await rejectsWith(
    "CHANNEL_FULL",
    channel
      .openPut()
      .commit()
      .then(() => putText(channel, "y".repeat(300))),
  );
  await rejectsWith("NOTIFICATION_TOO_LARGE", large.commit());
  await transaction.commit();

  assert.equal(channel.size, 1);
  await channel.stop();
});

async function putText(channel: FileChannel, body: string): Promise<void> {
  const transaction = channel.openPut();
  transaction.put({ headers: {}, body });
  await transaction.commit();
}

test("reserved puts of a spillable channel stay in memory while they fit there, and the order is kept", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder, { memoryCapacity: 2, capacity: 6 });
  const transactions = [0, 1, 2, 3].map((body) => {
    const transaction = channel.openPut();
    transaction.put(numbered(body));
    return transaction;
  });

  for (const transaction of transactions) await transaction.reserve?.("at-once");
  for (const transaction of transactions) await transaction.commit();
  await rejectsWith("CHANNEL_FULL", put(channel, 4, 5, 6));
  await put(channel, 4, 5);

  assert.deepEqual(await drain(channel, 10), upTo(6));
  const files = (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log"));
  assert.equal(files.length, 1);
  await channel.stop();
});

test("room that was reserved before a stop is no way into the channel after it", async (context) => {
  const { channel } = await openIn(await tempFolder(context));
  const transaction = channel.openPut();
  transaction.put(numbered(1));
  await transaction.reserve?.("wait");

  await channel.stop();

  await rejectsWith("CHANNEL_STOPPED", transaction.commit());
});

test("a put before the start of the channel fails retryably", async (context) => {
  const { channel } = channelIn(await tempFolder(context));

  await assert.rejects(put(channel, 1), { retryable: true });
});
