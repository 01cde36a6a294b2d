import assert from "node:assert/strict";
import { access, mkdir, readdir, rename, rmdir, symlink, unlink } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { codeOf } from "../../../core/sdk/index.js";
import { drain, put, take } from "../../../core/testing/channel-fixture.js";
import { tempFolder } from "../../support/temp-folder.js";
import { contents, copyOf, dataFolder, openIn } from "./channel-folder.js";

async function filesOf(folder: string): Promise<readonly string[]> {
  const names = (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log")).sort();
  return names.map((name) => path.join(dataFolder(folder), name));
}

test("after the file that is written to was removed while the channel runs, events go to another one, and survive a kill", async (context) => {
  const folder = await tempFolder(context);
  const { channel, lines } = await openIn(folder, { maxFileSize: 100_000_000 });
  context.after(() => channel.stop());
  await put(channel, 0);
  const [first = ""] = await filesOf(folder);
  await unlink(first);

  let last = 0;
  while ((await filesOf(folder)).length === 0) await put(channel, ++last);
  const copy = await copyOf(folder, path.join(await tempFolder(context), "copy"));

  assert.deepEqual((await contents(copy)).bodies, [last]);
  const [line] = lines.filter(({ level }) => level === "error");
  assert.deepEqual(line?.fields, { file: first });
});

test("a checkpoint that was removed while the channel runs is made again, and both of its halves hold the state", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  context.after(() => channel.stop());
  const checkpoint = path.join(folder, "channels", "c1", "checkpoint", "checkpoint");
  await unlink(checkpoint);

  const isThere = () =>
    access(checkpoint).then(
      () => true,
      () => false,
    );
  while (!(await isThere())) {
    await put(channel, 1);
    await (await take(channel, 1)).transaction.commit();
  }
  await put(channel, 2);
  const copy = await copyOf(folder, path.join(await tempFolder(context), "copy"));
  const { bodies, lines } = await contents(copy);

  assert.deepEqual(bodies, [2]);
  assert.deepEqual(
    lines.filter(({ level }) => level === "error"),
    [],
  );
});

test("where a folder of events is empty, as the mount point of a disk that is away, no file is made in it and puts are refused", async (context) => {
  const folder = await tempFolder(context);
  const disk = path.join(folder, "disk");
  const { channel } = await openIn(folder, { dataDirs: [disk] });
  context.after(() => channel.stop());
  await rename(disk, `${disk}-away`);
  await mkdir(disk);

  await assert.rejects(put(channel, 1), (error: Error) => {
    assert.equal(codeOf(error.cause), "CHANNEL_FOLDER_GONE");
    return true;
  });
  assert.deepEqual(await readdir(disk), []);
  await rmdir(disk);
  await rename(`${disk}-away`, disk);
  await put(channel, 2);

  assert.deepEqual(await drain(channel, 10), [2]);
});

test("a link that leads to another folder while the channel runs changes nothing: that one is not locked", async (context) => {
  const folder = await tempFolder(context);
  const at = (name: string) => path.join(folder, name);
  const { first, second, link } = { first: at("first"), second: at("second"), link: at("link") };
  await mkdir(first);
  await symlink(first, link);
  const other = await openIn(folder, { dataDirs: [second] });
  await other.channel.stop();
  const { channel } = await openIn(path.join(folder, "d"), { dataDirs: [link] });
  context.after(() => channel.stop());

  await unlink(link);
  await symlink(second, link);
  await put(channel, 1);

  const eventsIn = async (where: string) => (await readdir(where)).filter((name) => name.endsWith(".log")).length;
  assert.deepEqual([await eventsIn(first), await eventsIn(second)], [1, 0]);
  assert.deepEqual(await drain(channel, 10), [1]);
});
