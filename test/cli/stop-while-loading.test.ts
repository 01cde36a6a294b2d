import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { freeze } from "../support/freeze.js";
import { durable } from "../support/logging-workers.js";
import { main } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { writeFiles } from "../support/written-files.js";

const skip = existsSync("/proc/self/task") ? false : "needs /proc";

test("a stop by a signal to all processes, as from a terminal, is one in order while workers are loaded", {
  skip,
}, async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  await appendFile(file, durable);
  const args = ["run", "-f", file, "--data-dir", path.join(folder, "data"), "--management-port", "0", "--workers", "2"];
  const agent = spawn(process.execPath, [main, ...args], { stdio: "ignore" });
  const ended = once(agent, "exit");
  const loading = await until(
    () => childrenOf(agent.pid),
    (pids) => pids.length === 2,
  );

  await freeze(agent);
  for (const pid of loading) process.kill(pid, "SIGTERM");
  agent.kill("SIGTERM");
  agent.kill("SIGCONT");

  assert.deepEqual(await ended, [0, null]);
});

for (const signal of ["SIGINT", "SIGTERM"] as const)
  test(`an agent that ${signal} asks to stop while it loads a plugin ends at once, with the exit code of a stop`, async (context) => {
    const folder = await tempFolder(context);
    await writeFiles(folder, {
      "agent.properties": durable,
      "strangers/package.json": '{ "type": "module" }',
      "strangers/hangs/index.js": 'process.stdout.write("loading"); await new Promise(() => {});',
    });
    const places = ["-f", path.join(folder, "agent.properties"), "--plugins", path.join(folder, "strangers")];
    const args = ["run", ...places, "--data-dir", path.join(folder, "data"), "--management-port", "0"];
    const agent = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "ignore"] });
    context.after(() => agent.kill("SIGKILL"));
    const ended = once(agent, "exit");
    const [text] = await once(agent.stdout, "data");

    agent.kill(signal);

    assert.deepEqual([String(text), await ended], ["loading", [0, null]]);
  });

test("signals that come while a command ends leave it its exit code", async () => {
  const agent = spawn(process.execPath, [main, "run", "-f", "nowhere.properties"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(agent, "exit");
  await once(agent.stderr, "data");

  const signals = setInterval(() => agent.kill("SIGTERM"), 1);
  const [code, signal] = await ended;
  clearInterval(signals);

  // The first may come before the command has returned.
  assert.ok(signal === null && [0, 2].includes(code), `it ended with ${code ?? signal}`);
});

async function childrenOf(pid = 0): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}
