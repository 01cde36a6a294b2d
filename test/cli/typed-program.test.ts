import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { typedProgram } from "../../core/cli/typed-program.js";
import { main, runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const PATH = "/usr/local/bin:/usr/bin";
const cases = [
  { file: "/usr/bin/deneb", words: "deneb" },
  { file: "/opt/tools/deneb", words: "/opt/tools/deneb" },
  { file: "/srv/deneb", words: "./deneb" },
  { file: "/srv/node_modules/.bin/deneb", words: "npx deneb" },
  { file: "/var/npm/_npx/1a2b/node_modules/.bin/deneb", words: "npx deneb" },
  { file: "/srv/dist/core/main.js", words: "node dist/core/main.js" },
  { file: "/opt/my deneb/dist/core/main.js", words: "node '/opt/my deneb/dist/core/main.js'" },
  { file: "/opt/deneb/start.mjs", words: "deneb" },
  { file: "", words: "deneb" },
] as const;

for (const { file, words } of cases)
  test(`a user who started ${file === "" ? "no file" : file} starts it again as ${words}`, () => {
    assert.equal(typedProgram({ file, path: PATH, folder: "/srv" }), words);
  });

test("init prints commands that run in the shell in which it was typed", async (context) => {
  const folder = await tempFolder(context);
  const link = path.join(folder, "node_modules", ".bin", "deneb");
  await mkdir(path.dirname(link), { recursive: true });
  await symlink(main, link);

  const linked = await runCli(["init", path.join(folder, "one.properties")], {}, link);
  const direct = await runCli(["init", path.join(folder, "two.properties")]);

  assert.match(linked.stdout, /^next: npx deneb check --config \S+ && npx deneb run --config \S+$/m);
  assert.match(direct.stdout, /^next: node \S+main\.js check --config \S+ && node \S+main\.js run --config \S+$/m);
});
