import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeFolder, makeFolderSync } from "../../core/files/make-folder.js";
import { makePrivateFolder } from "../../plugins/rdb-sink/sqlite/database-folder.js";
import { tempFolder } from "../support/temp-folder.js";

const ways = [
  { way: "makeFolder", make: makeFolder },
  { way: "makeFolderSync", make: async (folder: string, mode?: number) => makeFolderSync(folder, mode) },
  { way: "makePrivateFolder", make: makePrivateFolder },
];

const onLinux = process.platform === "linux";
const refused = [
  { where: "in /proc, where none can be made", at: () => "/proc/deneb-test", skip: !onLinux },
  { where: "below one in /proc", at: () => "/proc/deneb-test/below", skip: !onLinux },
  { where: "in the place of a file", at: (folder: string) => path.join(folder, "file"), skip: false },
  { where: "below a file", at: (folder: string) => path.join(folder, "file", "below"), skip: false },
  { where: "below a dangling link", at: (folder: string) => path.join(folder, "link", "below"), skip: false },
  { where: "without a name", at: () => "", skip: false },
];

for (const { way, make } of ways) {
  for (const { where, at, skip } of refused)
    test(`${way}: a folder ${where} is an error`, { skip }, async (context) => {
      const folder = await tempFolder(context);
      await writeFile(path.join(folder, "file"), "");
      await symlink("/nowhere/deneb-test", path.join(folder, "link"));

      await assert.rejects(make(at(folder)), { syscall: "mkdir" });
    });

  test(`${way}: all folders that are missing are made, with the mode, and those that are there stay as they are`, async (context) => {
    const folder = await tempFolder(context);
    await mkdir(path.join(folder, "open"), { mode: 0o755 });

    for (const _ of ["first", "again"]) await make(path.join(folder, "open", "new", "below/"), 0o700);

    const modes = await Promise.all(
      ["open", "open/new", "open/new/below"].map(async (one) => (await stat(path.join(folder, one))).mode & 0o777),
    );
    assert.deepEqual(modes, [0o755, 0o700, 0o700]);
  });
}

// In one process nothing comes between the steps of makeFolderSync.
for (const { way, make } of ways.filter((one) => !one.way.endsWith("Sync")))
  test(`${way}: several that make one folder at once all have it, whoever makes the ones that it is in`, async (context) => {
    const folder = await tempFolder(context);
    // Where a parent came between two steps of another, about one of ten of these failed.
    const deep = Array.from({ length: 30 }, (_, number) => path.join(folder, `${number}`, "1/2/3/4/5/6/7/8"));

    for (const one of deep) await Promise.all(Array.from({ length: 20 }, () => make(one)));

    assert.ok((await Promise.all(deep.map((one) => stat(one)))).every((found) => found.isDirectory()));
  });

const isKnown = (flag: string) => process.allowedNodeEnvironmentFlags.has(flag);
const model = isKnown("--permission") ? "--permission" : "--experimental-permission";
const helper = new URL("../../core/files/make-folder.js", import.meta.url).href;

test("a folder is made where a process may read and write it, and not read the one that it is in", async (context) => {
  const parent = await tempFolder(context);
  const folder = path.join(parent, "own");
  const script = `
    const { makeFolder, makeFolderSync } = await import(${JSON.stringify(helper)});
    await makeFolder(${JSON.stringify(folder)});
    makeFolderSync(${JSON.stringify(path.join(folder, "below"))});`;
  const program = path.resolve(fileURLToPath(helper), "../../../..");
  const may = [model, `--allow-fs-read=${program}`, `--allow-fs-read=${folder}`, `--allow-fs-write=${folder}`];
  const all = [...may, `--allow-fs-read=${folder}/*`, `--allow-fs-write=${folder}/*`];

  await promisify(execFile)(process.execPath, [...all, "--input-type=module", "--eval", script], { cwd: program });

  assert.ok((await stat(path.join(folder, "below"))).isDirectory());
});
