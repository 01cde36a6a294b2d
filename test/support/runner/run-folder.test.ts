import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import test from "node:test";
import { tempFolder } from "../temp-folder.js";
import { madeOnceInRun } from "./run-folder.js";

test("of several that ask for a file of a run one makes it, and the others find it whole", async (context) => {
  const folder = await tempFolder(context);
  let calls = 0;
  const make = async (file: string) => {
    calls += 1;
    await writeFile(file, "half ");
    await writeFile(file, "whole", { flag: "a" });
  };

  const made = await Promise.all([1, 2, 3].map(() => madeOnceInRun("file", make, folder)));

  assert.equal(calls, 1);
  assert.deepEqual(made.map((one) => one?.ours).toSorted(), [false, false, true]);
  for (const one of made) assert.equal(await readFile(one?.file ?? "", "utf8"), "half whole");
});

test("when a file of a run cannot be made, those that wait for it fail too", async (context) => {
  const folder = await tempFolder(context);
  const make = async () => {
    throw new Error("no space");
  };

  const ends = await Promise.allSettled([1, 2].map(() => madeOnceInRun("file", make, folder)));

  assert.deepEqual(
    ends.map(({ status }) => status),
    ["rejected", "rejected"],
  );
});
