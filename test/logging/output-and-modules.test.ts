import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { tempFolder } from "../support/temp-folder.js";

const run = promisify(execFile);
const output = new URL("../../core/logging/standard-output.js", import.meta.url).href;

test("packages behind links are found where they are, also after lines were written to a pipe", async (context) => {
  const folder = await realpath(await tempFolder(context));
  const kept = path.join(folder, "kept");
  await mkdir(kept);
  await writeFile(path.join(kept, "index.js"), "");
  await symlink(kept, path.join(folder, "linked"));
  const script = path.join(folder, "main.mjs");
  await writeFile(
    script,
    `import { StandardOutput } from ${JSON.stringify(output)};
    new StandardOutput().write("a line\\n");
    console.error(import.meta.resolve("./linked/index.js"));`,
  );

  // Behind a shell's pipe: Node gives its children sockets.
  const { stderr } = await run("/bin/sh", ["-c", '"$0" "$1" | cat', process.execPath, script]);

  assert.equal(stderr.trim(), pathToFileURL(path.join(kept, "index.js")).href);
});
