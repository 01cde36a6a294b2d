import assert from "node:assert/strict";
import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { copyOfLive } from "../../core/testing/copied-folder.js";
import { tempFolder } from "../support/temp-folder.js";

test("a file that gets another name while its folder is copied is in the copy", async (context) => {
  const [from, to] = [await tempFolder(context), path.join(await tempFolder(context), "copy")];
  for (const name of ["draft", "kept"]) writeFileSync(path.join(from, name), name);

  await copyOfLive(from, to, (file) => {
    if (path.basename(file) === "draft") renameSync(file, path.join(from, "record"));
    return true;
  });

  assert.deepEqual((await readdir(to)).sort(), ["kept", "record"]);
});

test("a folder whose files never keep their names is copied a limited number of times", async (context) => {
  const [from, to] = [await tempFolder(context), path.join(await tempFolder(context), "copy")];
  writeFileSync(path.join(from, "0"), "");
  let copies = 0;

  const copy = copyOfLive(from, to, (file) => {
    if (file === from) return true;
    copies += 1;
    renameSync(file, path.join(from, String(copies)));
    return true;
  });

  await assert.rejects(copy, { code: "ENOENT" });
  assert.deepEqual(readdirSync(from), [String(copies)]);
  assert.ok(copies > 1);
});

test("a folder that is not there yet is copied as an empty one", async (context) => {
  const folder = await tempFolder(context);

  await copyOfLive(path.join(folder, "from"), path.join(folder, "to"));

  assert.deepEqual(await readdir(path.join(folder, "to")), []);
});
