import assert from "node:assert/strict";
import { mkdir, readFile, readlink, rename, rm, rmdir, stat, symlink, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { lockFolder } from "../../../core/files/folder-lock.js";
import { type DeadLetter, DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { reasonOf, retryableOf } from "../../../core/sdk/index.js";
import { smallDisk } from "../../crash/small-disk.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";

const letter = (id: string): DeadLetter => ({
  id,
  time: "2026-01-15T10:00:00.000Z",
  sink: "s",
  reason: "permanent",
  message: "storing a value that never goes in",
  attempts: 1,
  event: { headers: { name: id }, body: { text: "x".repeat(1000) } },
});

async function openIds(letters: DeadLetters): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of letters.open()) ids.push(id);
  return ids;
}

async function onFullDisk(context: TestContext) {
  const disk = await smallDisk();
  if (disk === undefined) {
    context.skip("a file system is mounted for this, which needs root on Linux");
    return undefined;
  }
  context.after(() => disk.remove());
  const letters = new DeadLetters(join(disk.folder, "dead-letters"));
  context.after(() => letters.stop());
  const ids = Array.from({ length: 2500 }, (_, index) => `letter-${index}`);
  await letters.keep(ids.map(letter));
  await letters.mark("s", ["letter-0", "letter-1"], "replaying");
  await letters.mark("s", ["letter-0"], "stored");
  await disk.fill();
  // A page or two for what stays.
  const ballast = join(disk.folder, "ballast");
  await truncate(ballast, (await stat(ballast)).size - 8192);
  return { disk, letters, ids };
}

test("all letters of a sink can be dropped on a disk that is nearly full, where their marks have no room, and their room is free then", async (context) => {
  const full = await onFullDisk(context);
  if (full === undefined) return;
  const { disk, letters, ids } = full;

  const dropped = await letters.drop("s", ids, (entry) => entry?.mark === "waiting" || entry?.mark === "replaying");
  const counts = letters.counts().map(({ waiting, replaying, bytes }) => ({ waiting, replaying, bytes }));
  await letters.keep([letter("next")]);
  const reopened = new DeadLetters(join(disk.folder, "dead-letters"));
  await reopened.start();
  const stored = await reopened.stored("s");
  const left = await openIds(reopened);
  await reopened.stop();

  assert.equal(dropped, ids.length - 1);
  assert.deepEqual(counts, [{ waiting: 0, replaying: 0, bytes: 0 }]);
  assert.deepEqual([left, stored], [["next"], ["letter-0"]]);
});

test("a drop for whose rest such a disk has no room drops nothing, and says why", async (context) => {
  const full = await onFullDisk(context);
  if (full === undefined) return;
  const { letters, ids } = full;

  await assert.rejects(
    letters.drop("s", ids.slice(2000), () => true),
    { code: "DEAD_LETTERS_UNWRITABLE" },
  );

  assert.deepEqual(await openIds(letters), ids.slice(1));
});

test("a file of letters that is a link to another disk stays one, and nothing that was dropped is left there", async (context) => {
  const folder = await tempFolder(context);
  const letters = new DeadLetters(join(folder, "dead-letters"));
  context.after(() => letters.stop());
  await letters.keep([letter("a"), letter("b")]);
  const file = letters.fileOf("s");
  const elsewhere = join(folder, "disk", "letters");
  await mkdir(dirname(elsewhere));
  await rename(file, elsewhere);
  await symlink(elsewhere, file);

  await letters.drop("s", ["a"], () => true);
  await letters.keep([letter("c")]);

  assert.equal(await readlink(file), elsewhere);
  assert.doesNotMatch(await readFile(elsewhere, "utf8"), /"a"/);
  assert.deepEqual(await openIds(letters), ["b", "c"]);
});

for (const left of ["nothing", "an empty folder"])
  test(`while the data directory is moved away and ${left} has its place, no letter is kept there`, async (context) => {
    const parent = await tempFolder(context);
    const dataDir = join(parent, "data");
    const lock = await lockFolder(dataDir, {}, { seconds: 0, log: recordingLog().log });
    context.after(() => lock.release());
    const letters = new DeadLetters(join(dataDir, "dead-letters"));
    context.after(() => letters.stop());
    await letters.keep([letter("before")]);
    await rename(dataDir, `${dataDir}-away`);
    if (left !== "nothing") await mkdir(dataDir);

    await assert.rejects(letters.keep([letter("meanwhile")]), (error) => {
      assert.match(
        reasonOf(error),
        /the folder ".*data" is gone; mount its disk, or put it back, or start the agent again/,
      );
      assert.equal(retryableOf(error), true);
      return true;
    });
    if (left !== "nothing") await rmdir(dataDir);
    await rename(`${dataDir}-away`, dataDir);
    await letters.keep([letter("after")]);

    assert.deepEqual(await openIds(letters), ["before", "after"]);
  });

test("a letter is kept also when the lock file of the data directory was removed", async (context) => {
  const dataDir = await tempFolder(context);
  const lock = await lockFolder(dataDir, {}, { seconds: 0, log: recordingLog().log });
  context.after(() => lock.release());
  const letters = new DeadLetters(join(dataDir, "dead-letters"));
  context.after(() => letters.stop());
  await rm(join(dataDir, "deneb.lock"));

  await letters.keep([letter("1")]);

  assert.deepEqual(await openIds(letters), ["1"]);
});
