import assert from "node:assert/strict";
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { lockFolder, refuseGone } from "../../core/files/folder-lock.js";
import { codeOf } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { lockProcess } from "./lock-process.js";

const lock = (folder: string) => lockFolder(folder, {}, { seconds: 0, log: recordingLog().log });

/** Locks a folder below that of the test, and notes what its holder learns. */
async function watched(context: TestContext) {
  const folder = path.join(await tempFolder(context), "data");
  const learned: string[] = [];
  const note = (what: string) => (file: string) => void learned.push(`${what} ${path.basename(file)}`);
  const watch = { seconds: 0, log: recordingLog().log, lost: note("lost"), back: note("back") };
  const held = await lockFolder(folder, {}, watch);
  context.after(() => held.release());
  const learns = async (...all: readonly string[]) =>
    await until(
      async () => learned.join(),
      (said) => said === all.join(),
    );
  return { folder, away: `${folder}-away`, learned, learns };
}

test("who holds a lock learns that its file was removed, and another one in its place is not taken for it", async (context) => {
  const { folder, learned, learns } = await watched(context);

  await rm(path.join(folder, "deneb.lock"));
  await learns("lost deneb.lock");
  await writeFile(path.join(folder, "deneb.lock"), "");
  await twoLooks(context);

  assert.deepEqual(learned, ["lost deneb.lock"]);
});

/** Another lock is found to be removed and to be back, at two looks, while the first one is looked at as well. */
async function twoLooks(context: TestContext): Promise<void> {
  const { folder, away, learns } = await watched(context);
  await rename(folder, away);
  await learns("lost deneb.lock");
  await rename(away, folder);
  await learns("lost deneb.lock", "back deneb.lock");
}

const onlyOnLinux = process.platform === "linux" ? {} : { skip: "the system does not say where an open file is" };

test(
  "who holds a lock learns that a copy of its folder has its place, and that the folder is back",
  onlyOnLinux,
  async (context) => {
    const { folder, away, learned, learns } = await watched(context);
    const copy = `${folder}-copy`;
    await cp(folder, copy, { recursive: true });

    await rename(folder, away);
    await rename(copy, folder);
    await learns("lost deneb.lock");
    await rename(folder, copy);
    await rename(away, folder);
    await learns("lost deneb.lock", "back deneb.lock");
    await twoLooks(context);

    assert.deepEqual(learned, ["lost deneb.lock", "back deneb.lock"]);
  },
);

test("who holds a lock learns each time that its folder is away, and that it is back", async (context) => {
  const { folder, away, learns } = await watched(context);

  await rename(folder, away);
  await learns("lost deneb.lock");
  await mkdir(folder);
  await (await lock(path.join(folder, "of-another"))).release();
  await rm(folder, { recursive: true });
  await rename(away, folder);
  await learns("lost deneb.lock", "back deneb.lock");
  await rename(folder, away);
  await learns("lost deneb.lock", "back deneb.lock", "lost deneb.lock");
});

test("a lock file that is put back after another process had the folder is not back", async (context) => {
  const { folder, learned, learns } = await watched(context);
  const file = path.join(folder, "deneb.lock");
  await rename(file, `${file}-away`);
  await learns("lost deneb.lock");
  const other = lockProcess(context, folder);
  assert.equal(await other.says(), "locked");
  await other.kill();

  await rename(`${file}-away`, file);
  await twoLooks(context);

  assert.deepEqual(learned, ["lost deneb.lock"]);
});

test("a folder that this process holds is gone while it is moved away, also when an empty one has its place", async (context) => {
  const folder = path.join(await tempFolder(context), "data");
  const held = await lock(folder);
  context.after(() => held.release());
  const isGone = (error: unknown) => codeOf(error) === "FOLDER_GONE";

  await refuseGone(folder);
  await rename(folder, `${folder}-away`);
  await assert.rejects(refuseGone(folder), isGone);
  await mkdir(folder);
  await assert.rejects(refuseGone(folder), isGone);
  await rm(folder, { recursive: true });
  await rename(`${folder}-away`, folder);
  await refuseGone(folder);
});
