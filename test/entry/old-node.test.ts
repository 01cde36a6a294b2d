import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "acorn";
import { repositoryRoot } from "../support/repository.js";
import { main } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const check = path.join(repositoryRoot, "core", "check-node.js");

for (const [name, file] of [
  ["the program", main],
  ["the check of the npm scripts", check],
] as const)
  for (const sourceType of ["script", "module"] as const)
    test(`${name} can be read as a ${sourceType} by a Node that knows no syntax after ECMAScript 5`, async () => {
      const text = await readFile(file, "utf8");

      parse(text, { ecmaVersion: sourceType === "script" ? 5 : 6, sourceType, allowHashBang: true });
    });

test("the oldest version that the program takes is the one that the package names", async () => {
  const { engines } = JSON.parse(await readFile(path.join(repositoryRoot, "package.json"), "utf8"));
  const [, major, minor] = /neededNode = \[(\d+), (\d+)\]/.exec(await readFile(check, "utf8")) ?? [];

  assert.equal(engines.node, `>=${major}.${minor}`);
});

const refused = ["v0.12.18", "v6.17.1", "v8.17.0", "v10.24.1", "v12.22.12", "v18.20.8", "v20.18.3", "v20.9.0"];
for (const version of refused)
  test(`Node ${version} gets one sentence and exit code 1`, async (context) => {
    const { code, stdout, stderr } = await runAs(context, version, [main, "--version"]);

    assert.equal(code, 1);
    assert.equal(stdout, "");
    const sentence = `Deneb needs Node.js 20.19 or newer, and this is ${version} (${process.execPath}); install a newer one.`;
    assert.deepEqual(stderr.trimEnd().split("\n"), [sentence]);
  });

for (const version of ["v20.19.0", "v20.20.1", "v22.0.0", "v24.1.0-nightly20260101", "v100.0.0"])
  test(`Node ${version} runs the program`, async (context) => {
    const { code, stdout } = await runAs(context, version, [main, "--version"]);

    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\.\w+\n$/);
  });

test("with an old Node the commands of a checkout end with that sentence before they build", async (context) => {
  const { scripts } = JSON.parse(await readFile(path.join(repositoryRoot, "package.json"), "utf8"));
  const { code, stderr } = await runAs(context, "v18.0.0", [check]);

  assert.equal(code, 1);
  assert.match(stderr, /^Deneb needs Node\.js 20\.19 or newer, and this is v18\.0\.0 /);
  for (const name of ["build", "start", "prepack"]) assert.match(scripts[name], /^node core\/check-node\.js && /);
  for (const name of ["check", "bench", "docs", "coverage", "test:crash"])
    assert.match(scripts[name], /^npm run --silent build && /);
  assert.match(scripts.test, /^npm run --silent check && /);
});

/** Runs a file by this Node, which says that it is of another version. */
async function runAs(context: TestContext, version: string, args: readonly string[]) {
  const fake = path.join(await tempFolder(context), "fake.cjs");
  await writeFile(fake, `Object.defineProperty(process, "version", { value: ${JSON.stringify(version)} });\n`);
  return await new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
    const child = execFile(process.execPath, ["--require", fake, ...args], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
