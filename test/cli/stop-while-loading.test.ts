import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
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
  test(`${signal} ends an agent that a module of a plugin blocks`, async (context) => {
    const { agent, ended } = await loading(context, "for (;;);");

    agent.kill(signal);

    assert.deepEqual(await ended, [null, signal]);
  });

for (const signal of ["SIGINT", "SIGTERM"] as const)
  test(`${signal} stops an agent in order after it has loaded its plugins`, async (context) => {
    const { agent, ended, said } = await loading(context, "export default [];");
    await until(said, (text) => text.includes('"ready"'));

    agent.kill(signal);

    assert.deepEqual(await ended, [0, null]);
  });

test("an agent that a further signal ends says so, also when it loses nothing", async (context) => {
  const never = "{ start: async () => {}, stop: () => new Promise(() => {}) }";
  const declared = `kind: "source", type: "never-stops", stability: "stable", summary: "Never stops.", config: {}, create: () => (${never})`;
  const code = `import { definePlugin } from "deneb/sdk"; export default definePlugin({ ${declared} });`;
  const settings = "a.sources.other.type = never-stops\na.sources.other.channels = c";
  const sources = durable.replace("a.sources = http-source", "a.sources = http-source other");
  const { agent, ended, said } = await loading(context, code, `${sources}\n${settings}\n`);

  for (const answer of ['"ready"', '"stopping"', "still stopping"]) {
    await until(said, (text) => text.includes(answer));
    agent.kill("SIGTERM");
  }

  assert.deepEqual(await ended, [1, null]);
  assert.match(await said(), /^ended by a further signal, before the agent had stopped: 0 events in memory are lost$/m);
});

/** An agent whose plugin has printed that its module runs. */
async function loading(context: TestContext, code: string, properties = durable) {
  const folder = await tempFolder(context);
  await writeFiles(folder, {
    "agent.properties": properties,
    "strangers/package.json": '{ "type": "module" }',
    "strangers/one/index.js": `process.stdout.write("loading\\n"); ${code}`,
  });
  const places = ["-f", path.join(folder, "agent.properties"), "--plugins", path.join(folder, "strangers")];
  const args = ["run", ...places, "--data-dir", path.join(folder, "data"), "--management-port", "0"];
  const agent = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  context.after(() => agent.kill("SIGKILL"));
  const ended = once(agent, "close");
  let printed = "";
  for (const stream of [agent.stdout, agent.stderr])
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  const said = async () => printed;
  await until(said, (text) => text !== "");
  return { agent, ended, said };
}

test("signals that come while a command ends leave it its exit code", async () => {
  const agent = spawn(process.execPath, [main, "run", "-f", "nowhere.properties"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(agent, "close");
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
