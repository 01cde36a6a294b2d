import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { smallMemory } from "../../core/cli/small-memory.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";

const MIB = 1024 * 1024;

for (const { where, limit, level } of [
  { where: "without a limit", limit: 0, level: undefined },
  { where: "with a limit beyond all memory", limit: 2 ** 63, level: undefined },
  { where: "of 112 MiB", limit: 112 * MIB, level: undefined },
  { where: "of 80 MiB", limit: 80 * MIB, level: "warning" },
  { where: "of 64 MiB", limit: 64 * MIB, level: "error" },
])
  test(`a container ${where} is ${level ?? "no reason for a word"}`, () => {
    assert.equal(smallMemory(limit)?.level, level);
  });

const CONTROLLED = "/sys/fs/cgroup/memory";

test("an agent in a container that is too small for it ends with the limit and the remedy", async (context) => {
  const group = path.join(CONTROLLED, `deneb-test-${process.pid}`);
  const made = await mkdir(group).then(
    () => writeFile(path.join(group, "memory.limit_in_bytes"), `${64 * MIB}`).then(() => true),
    () => false,
  );
  if (!made) return context.skip(`needs root, and ${CONTROLLED} (cgroup v1)`);
  context.after(() => rmdir(group));
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  await writeFile(file, httpAgent({ channel: "file", sink: "logger" }));
  const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
  const flags = ["run", "--config", file, "--data-dir", path.join(folder, "data"), "--management-port", "0"];
  const script = `echo $$ > ${group}/cgroup.procs; exec "$@"`;

  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const command = ["-c", script, "sh", process.execPath, main, ...flags];
    execFile("sh", command, { timeout: 60_000, killSignal: "SIGKILL" }, (error, _, text) =>
      resolve({ code: error?.code, stderr: text }),
    );
  });

  assert.equal(code, 1);
  assert.match(stderr, /^error: the memory of this container or service is limited to 64 MiB; .*: raise the limit/m);
});
