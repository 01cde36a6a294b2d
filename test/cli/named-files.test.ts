import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { NamedFiles } from "../../core/cli/named-files.js";
import { startAgent } from "../support/agent-process.js";
import { loggingAgent } from "../support/logging-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

async function readFiles(context: TestContext) {
  const file = join(await tempFolder(context), "password");
  await writeFile(file, "old");
  const files = new NamedFiles();
  files.begin();
  assert.equal(files.text(file), "old");
  return { file, files };
}

test("a file that holds something else at two looks is changed, until it is read", async (context) => {
  const { file, files } = await readFiles(context);

  const asRead = files.isChanged();
  await writeFile(file, "new");
  const looks = [files.isChanged(), files.isChanged(), files.isChanged()];
  files.begin();
  files.text(file);

  assert.deepEqual([asRead, looks, files.isChanged(), files.isChanged()], [false, [false, true, true], false, false]);
});

test("a file that is being written, is away or holds again what was read is not changed", async (context) => {
  const { file, files } = await readFiles(context);
  const looks: boolean[] = [];

  for (const text of ["n", "ne", undefined, "ne", undefined, "old", "old"]) {
    await (text === undefined ? rm(file) : writeFile(file, text));
    looks.push(files.isChanged());
  }

  assert.ok(!looks.includes(true));
});

test("a file that was emptied is not changed, nor is a pipe, which is read once", async (context) => {
  const { file, files } = await readFiles(context);
  await writeFile(file, "\n");
  const emptied = [files.isChanged(), files.isChanged()];

  await rm(file);
  // Whoever opened it would wait for a writer.
  execFileSync("mkfifo", [file]);

  assert.deepEqual([emptied, files.isChanged(), files.isChanged()], [[false, false], false, false]);
});

test("a file that could not be read is changed when it can be", async (context) => {
  const folder = await tempFolder(context);
  const file = join(folder, "password");
  const files = new NamedFiles();
  files.begin();
  assert.throws(() => files.text(file), /ENOENT/);

  const away = [files.isChanged(), files.isChanged()];
  await writeFile(join(folder, "data"), "new");
  // As Kubernetes puts secrets into a container.
  await symlink("data", file);

  assert.deepEqual([away, files.isChanged(), files.isChanged()], [[false, false], false, true]);
});

test("an agent reloads when a file with a secret changes, without SIGHUP, and only what has the secret", async (context) => {
  const folder = await tempFolder(context);
  const secret = join(folder, "token");
  await writeFile(secret, "first-secret\n");
  const env = { AGENT_HTTP_TOKEN_FILE: secret };
  const agent = await startAgent(context, { properties: loggingAgent, folder, env, flags: ["--reload-interval", "1"] });
  const reloads = () => agent.lines.filter(({ msg }) => msg === "configuration reloaded");

  await writeFile(secret, "second-secret\n");
  // This reads the same, and is no reload.
  const asked = await fetch(`${agent.managementUrl}/v1/configuration`);
  const [reload] = await until(
    async () => reloads(),
    ({ length }) => length > 0,
  );

  assert.equal(asked.status, 200);
  assert.deepEqual([reload?.["stopped"], reload?.["started"]], [["http-source"], ["http-source"]]);
  assert.doesNotMatch(JSON.stringify(agent.lines), /-secret/);
});
