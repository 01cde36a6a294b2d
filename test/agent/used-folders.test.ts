import assert from "node:assert/strict";
import { test } from "node:test";
import { UsedFolders } from "../../core/agent/used-folders.js";
import { tempFolder } from "../support/temp-folder.js";

test("the room of each folder in use is known, of one that is used twice until both are done", async (context) => {
  const [data, channel] = [await tempFolder(context), await tempFolder(context)];
  const folders = new UsedFolders(data);
  const paths = async () => (await folders.disks()).map(({ path }) => path);
  const first = folders.add(channel);
  const second = folders.add(`${channel}/`);

  const both = await folders.disks();
  first();
  first();
  const one = await paths();
  second();
  const none = await paths();

  assert.deepEqual(
    both.map(({ path }) => path),
    [data, channel],
  );
  assert.ok(both.every(({ free, size }) => free > 0 && size >= free));
  assert.deepEqual([one, none], [[data, channel], [data]]);
});

test("a folder that is not there is left out", async (context) => {
  const folders = new UsedFolders(`${await tempFolder(context)}/missing`);

  assert.deepEqual(await folders.disks(), []);
});
