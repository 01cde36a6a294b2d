import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, copyFile, utimes } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { tempFolder } from "../support/temp-folder.js";
import { unprivilegedAccount } from "../support/unprivileged-account.js";
import { writeFiles } from "../support/written-files.js";

// Root may read every folder.
const account = await unprivilegedAccount("nobody");

test("the source that changed after the build is found beside a folder that may not be read", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, { "package.json": "{}", "src/a.ts": "", "locked/b.ts": "", "dist/a.js": "" });
  await utimes(path.join(folder, "dist/a.js"), 1, 1);
  const copy = path.join(folder, "plugin-sources.mjs");
  await copyFile(new URL("../../core/cli/plugin-sources.js", import.meta.url), copy);
  for (const one of ["", "src", "dist"]) await chmod(path.join(folder, one), 0o755);
  const locked = path.join(folder, "locked");
  await chmod(locked, 0);
  const script = `
    const { changedAfterBuild } = await import(${JSON.stringify(copy)});
    console.log(await changedAfterBuild(${JSON.stringify(path.join(folder, "dist"))}));`;

  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: folder,
    ...account,
  }).finally(() => chmod(locked, 0o700));

  assert.equal(stdout.trim(), path.join(folder, "src/a.ts"));
});
