import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { loggingAgent } from "../support/logging-agent.js";
import { main, runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const properties = loggingAgent.replace("c.type = memory", "c.type = file");

async function takenPort(context: TestContext): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

test("while the management port is taken no component starts: no source listens, no channel is made, the exit code is 1", async (context) => {
  const folder = await tempFolder(context);
  const file = join(folder, "agent.properties");
  await writeFile(file, properties);
  const port = await takenPort(context);
  const flags = ["--config", file, "--data-dir", join(folder, "data"), "--management-port", String(port)];

  const { code, stdout } = await runCli(["run", ...flags]);

  assert.equal(code, 1);
  const lines = stdout.trim().split("\n");
  const messages = lines.map((line) => JSON.parse(line)["msg"]);
  assert.deepEqual(messages, ["the agent cannot run"]);
  assert.match(lines[0] ?? "", new RegExp(`listening on 127.0.0.1:${port} for management .*--management-port`));
  await assert.rejects(readFile(join(folder, "data", "channels", "c", "deneb.lock")), { code: "ENOENT" });
});

test("the management port is bound before the first source listens", async (context) => {
  const { lines } = await startAgent(context, { properties, folder: await tempFolder(context) });

  const order = lines.map(({ component, msg }) => `${component}: ${msg}`);

  const management = order.indexOf("management: management interface listening");
  const source = order.indexOf("http-source: listening");
  assert.ok(management !== -1 && source !== -1 && management < source, order.join("\n"));
});

/** A sink that starts when its file is there. */
const waiting = `import { existsSync } from "node:fs";
export default { kind: "sink", type: "waiting", summary: "Waits.", stability: "beta",
  config: { file: { doc: "File to wait for.", format: "text" } },
  create: ({ file }) => ({
    start: async () => { while (!existsSync(file)) await new Promise((next) => setTimeout(next, 20)); },
    stop: async () => {},
    persist: async () => ({ requestBytes: 0, responseBytes: 0 }),
  }) };`;

test("an agent that still starts lives, is not ready, can be scraped, and cannot be changed", async (context) => {
  const folder = await tempFolder(context);
  await mkdir(join(folder, "plugins", "waiting"), { recursive: true });
  await writeFile(join(folder, "plugins", "waiting", "index.js"), waiting);
  const file = join(folder, "agent.properties");
  const go = join(folder, "go");
  await writeFile(file, properties.replace("type = logger", `type = waiting\na.sinks.k.file = ${go}`));
  const flags = [
    "--config",
    file,
    "--data-dir",
    join(folder, "data"),
    "--management-port",
    "0",
    "--start-timeout",
    "0",
  ];
  const child = spawn(process.execPath, [main, "run", ...flags, "--plugins", join(folder, "plugins")], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  context.after(() => child.kill("SIGKILL"));
  const output = createInterface({ input: child.stdout });
  const [first] = await once(output, "line");
  const base = `http://127.0.0.1:${JSON.parse(String(first))["port"]}`;
  const ask = async (method: string, path: string) => {
    const answer = await fetch(base + path, { method, headers: { "Fiware-Correlator": "mine" } });
    const { status, headers } = answer;
    return {
      status,
      retryAfter: headers.get("retry-after"),
      correlator: headers.get("fiware-correlator"),
      text: await answer.text(),
    };
  };

  const live = await ask("GET", "/live");
  const ready = await ask("GET", "/ready");
  const reset = await ask("PUT", "/v1/stats");
  const metrics = await until(
    () => ask("GET", "/metrics"),
    ({ status }) => status === 200,
  );
  const stillReset = await ask("PUT", "/v1/stats");
  await writeFile(go, "");
  const after = await until(
    () => ask("PUT", "/v1/stats"),
    ({ status }) => status === 200,
  );

  assert.deepEqual([live.status, JSON.parse(live.text)], [200, { status: "live" }]);
  assert.equal(ready.status, 503);
  assert.equal(JSON.parse(ready.text).obstacles[0].component, "agent");
  for (const { status, retryAfter, correlator, text } of [reset, stillReset]) {
    assert.deepEqual([status, retryAfter, correlator], [503, "1", "mine"]);
    assert.deepEqual(JSON.parse(text), { success: "false", error: "the agent starts; try again in a moment" });
  }
  assert.match(metrics.text, /^deneb_component_started\{kind="sink",name="k"\} 0$/m);
  assert.equal(after.correlator, "mine");
});
