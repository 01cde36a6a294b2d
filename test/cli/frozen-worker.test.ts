import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startAgent } from "../support/agent-process.js";
import {
  durable,
  frozen,
  lives,
  nowhere,
  postMany,
  postOnce,
  roomsOf,
  startWorkers,
} from "../support/logging-workers.js";
import { runningProcesses } from "../support/processes.js";
import { teamOf } from "../support/team.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

test("a connection that was given to a frozen worker is closed when that is killed", async (context) => {
  const { agent } = await startWorkers(context, { workers: 2 });
  const pid = await frozen(context, agent, 2);

  // The workers get them in turn, so that one of two is for the frozen one.
  const posts = [1, 2].map((number) => postOnce(agent.notifyUrl, number).catch(() => "closed"));
  assert.equal(await Promise.race(posts), 200);
  process.kill(pid, "SIGKILL");

  assert.deepEqual((await Promise.all(posts)).sort(), [200, "closed"]);
  assert.equal(await agent.end("SIGTERM"), 0);
});

test("a stop that comes while the workers are loaded ends them", { timeout: 300_000 }, async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  await writeFile(file, durable);
  const args = ["run", "-f", file, "--data-dir", path.join(folder, "data"), "--management-port", "0", "--workers", "2"];
  const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
  const supervisor = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => supervisor.kill("SIGKILL"));
  const exited = once(supervisor, "exit");

  await once(createInterface({ input: supervisor.stdout }), "line");
  // Its first line is that of the management interface; the processes of the workers exist when it has children.
  await until(
    async () => (await runningProcesses()).filter(({ parent }) => parent === supervisor.pid),
    (children) => children.length === 2,
  );
  supervisor.kill("SIGTERM");

  assert.deepEqual(await exited, [0, null]);
});

test("a frozen worker is silent, nothing is asked of it, and it runs again when it goes on", async (context) => {
  const { agent } = await startWorkers(context, { workers: 2 });
  const pid = await frozen(context, agent, 2);
  const stateOfSecond = async () => (await teamOf(agent)).workers[1]?.state;

  const atOnce = await fetch(`${agent.managementUrl}/v1/admin/reload`, { method: "POST" });
  await until(stateOfSecond, (state) => state === "silent");
  const reload = await fetch(`${agent.managementUrl}/v1/admin/reload`, { method: "POST" });
  const { error } = JSON.parse(await reload.text());
  process.kill(pid, "SIGCONT");

  assert.equal(atOnce.status, 503);
  assert.match(await atOnce.text(), /Nothing is changed: worker 2 (?:does not answer|is silent)/);
  assert.equal(reload.status, 503);
  assert.match(error, /Nothing is changed: worker 2 is silent: it has not reported for 10 seconds/);
  await until(stateOfSecond, (state) => state === "running");
  assert.equal(await agent.end("SIGTERM"), 0);
});

test("a stop kills a frozen worker after the grace period, and what it had accepted is stored at the next start", async (context) => {
  const folder = await tempFolder(context);
  const env = { DENEB_WORKERS: "2", DENEB_GRACE_PERIOD: "1" };
  const agent = await startAgent(context, { properties: nowhere, folder, env });
  await postMany(agent, 10);

  const pid = await frozen(context, agent, 2);
  assert.equal(await agent.end("SIGTERM"), 1);

  assert.equal(lives(pid), false);
  const killed = agent.lines.find(({ msg }) => String(msg).startsWith("a worker is killed"));
  assert.deepEqual([killed?.["worker"], killed?.["seconds"]], [2, 5]);
  const ended = agent.lines.find(({ msg }) => msg === "a worker did not stop in order");
  assert.deepEqual([ended?.["worker"], ended?.["signal"]], [2, "SIGKILL"]);
  const again = await startWorkers(context, { workers: 2, folder });
  await until(
    async () => roomsOf(again.agent),
    (rooms) => rooms.size === 10,
  );
});
