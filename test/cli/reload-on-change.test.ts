import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ReloadOnChange, startTextOf } from "../../core/cli/reload-on-change.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { selfSigned } from "../support/certificates.js";
import { latch } from "../support/latch.js";
import { loggingAgent } from "../support/logging-agent.js";
import { recordingLog } from "../support/recording-log.js";
import { main } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

async function watched(context: TestContext, properties = loggingAgent, folder?: string) {
  folder ??= await tempFolder(context);
  const agent = await startAgent(context, { properties, folder, flags: ["--reload-interval", "1"] });
  const becomes = (state: string) =>
    until(
      () => fileState(agent),
      (now) => now === state,
    );
  return { agent, file: join(folder, "agent.properties"), becomes };
}

/** The one state of the properties file that the metrics show. */
async function fileState({ managementUrl }: AgentProcess): Promise<string | undefined> {
  const text = await (await fetch(`${managementUrl}/metrics`)).text();
  return /^deneb_configuration_file\{state="([\w-]+)"\} 1$/m.exec(text)?.[1];
}

function messages({ lines }: AgentProcess): readonly unknown[] {
  return lines.flatMap(({ component, msg }) => (component === "reload" ? [msg] : []));
}

const unreadable = "the properties file cannot be read; the agent keeps its present configuration";
const readable = "the properties file can be read again";
const faulty = "configuration has errors; the agent keeps its present configuration";

test("a pipe in place of the properties file does not hold up the agent, also when it is asked to reload", async (context) => {
  const { agent, file, becomes } = await watched(context);

  await rm(file);
  execFileSync("mkfifo", [file]);
  await becomes("unreadable");
  agent.process.kill("SIGHUP");
  await until(
    async () => messages(agent),
    (all) => all.includes("configuration could not be read; the agent keeps its present configuration"),
  );
  await rm(file);
  await writeFile(file, loggingAgent);
  await becomes("ok");
});

test("a properties file that is deleted and put back is one line each in the log, and a state of the metrics", async (context) => {
  const { agent, file, becomes } = await watched(context);

  const before = await fileState(agent);
  await rm(file);
  await becomes("missing");
  agent.process.kill("SIGHUP");
  await until(
    async () => messages(agent),
    (all) => all.includes(faulty),
  );
  const duringReload = await fileState(agent);
  await writeFile(file, loggingAgent);
  await becomes("ok");

  assert.deepEqual([before, duringReload], ["ok", "missing"]);
  const own = messages(agent).filter((one) => one === unreadable || one === readable);
  assert.deepEqual(own, [unreadable, readable]);
});

test("a properties file with errors is faulty until it has none, also while it is missing in between", async (context) => {
  const { agent, file, becomes } = await watched(context);

  await writeFile(file, loggingAgent.replace("type = memory", "type = memry"));
  await becomes("faulty");
  await rm(file);
  await becomes("missing");
  await writeFile(file, loggingAgent.replace("type = memory", "type = memry"));
  await becomes("faulty");
  await writeFile(file, loggingAgent);
  await becomes("ok");

  const { lines } = agent;
  const reason = lines.find(({ msg }) => msg === unreadable)?.["reason"];
  assert.match(String(reason), /ENOENT/);
  assert.equal(lines.filter(({ level, msg }) => level === "error" && msg === faulty).length, 1);
});

test("a properties file that may not be read is unreadable", async (context) => {
  if (process.getuid?.() === 0) return context.skip("root may read every file");
  const { file, becomes } = await watched(context);

  await chmod(file, 0o000);

  await becomes("unreadable");
});

test("what could not be started when the agent went back is started when its reason is gone", async (context) => {
  const folder = await tempFolder(context);
  const authority = join(folder, "ca.pem");
  const { ca } = selfSigned("authority");
  await writeFile(authority, ca);
  const sink = ["type = http", "url = https://127.0.0.1:1/", `tls_ca_file = ${authority}`];
  const lines = sink.map((line) => `a.sinks.k.${line}`);
  const properties = [loggingAgent.replace("a.sinks.k.type = logger", ""), ...lines, ""].join("\n");
  const { agent, file, becomes } = await watched(context, properties, folder);
  const untilSaid = (message: string) =>
    until(
      async () => messages(agent),
      (all) => all.includes(message),
    );

  await writeFile(authority, ca.slice(0, 200));
  await writeFile(file, `${properties}a.sinks.k.request_timeout = 1000\n`);
  await untilSaid("the configuration before could not be started completely");
  const lacking = await fetch(`${agent.managementUrl}/ready`);
  await writeFile(authority, ca);
  await untilSaid("the configuration before runs again");

  assert.equal(lacking.status, 503);
  assert.equal((await fetch(`${agent.managementUrl}/ready`)).status, 200);
  await becomes("not-applied");
});

test("SIGHUP while an agent waits for its folders does not end it: it reloads when it is ready", async (context) => {
  const folder = await tempFolder(context);
  const first = await startAgent(context, { properties: loggingAgent, folder });
  const file = join(folder, "agent.properties");
  const flags = ["--config", file, "--data-dir", join(folder, "data"), "--management-port", "0", "--lock-wait", "60"];
  const second = spawn(process.execPath, [main, "run", ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  context.after(() => second.kill("SIGKILL"));
  let said = "";
  for (const output of [second.stdout, second.stderr]) output.on("data", (text) => (said += String(text)));
  const saying = (words: RegExp) =>
    until(
      async () => said,
      (text) => words.test(text),
    );

  await saying(/is in use by another process; waiting/);
  second.kill("SIGHUP");
  await first.end("SIGTERM");

  await saying(/configuration read again: no component differs/);
  assert.equal(second.signalCode, null);
});

/** Reloads of a file of its own, which takes as long as the caller wants. */
async function reloads(context: TestContext, { intervalSeconds = 0 } = {}) {
  const file = join(await tempFolder(context), "agent.properties");
  await writeFile(file, "before");
  const read: string[] = [];
  const asked: (AbortSignal | undefined)[] = [];
  const { opened: released, open: release } = latch();
  const { opened: completed, open: complete } = latch();
  const reloading = new ReloadOnChange({
    file,
    startText: startTextOf(file),
    files: { isChanged: () => false },
    read: () => {
      read.push(startTextOf(file) ?? "");
      return { topology: { agent: "a", sources: [], channels: [], sinks: [] }, agents: ["a"], faults: [] };
    },
    reload: {
      last: undefined,
      refused: () => undefined,
      complete: async () => complete(),
      to: async (_topology, _grace, hurried) => {
        asked.push(hurried);
        await released;
        return true;
      },
    },
    graceMilliseconds: 0,
    intervalSeconds,
    log: recordingLog().log,
    found: () => undefined,
  });
  return { file, read, asked, release, completed, reloading };
}

test("a file that changes while the agent starts is reloaded when it is ready", async (context) => {
  const { file, read, release, reloading } = await reloads(context, { intervalSeconds: 3600 });
  release();
  await writeFile(file, "after");

  reloading.start();
  await until(
    async () => read.length,
    (count) => count > 0,
  );
  await reloading.stop();

  assert.deepEqual(read, ["after"]);
});

test("a file that is looked at on request only is not read when the agent is ready", async (context) => {
  const { file, read, release, reloading } = await reloads(context);
  release();
  await writeFile(file, "after");

  reloading.start();
  const report = await reloading.request();
  await reloading.stop();

  assert.deepEqual([read, report?.faults], [["after"], []]);
});

test("what could not be started is tried again where the file is looked at on request only, too", async (context) => {
  const { read, completed, reloading } = await reloads(context);
  context.mock.timers.enable({ apis: ["setInterval"] });

  reloading.start();
  context.mock.timers.tick(30_000);
  await completed;
  await reloading.stop();

  assert.deepEqual(read, []);
});

test("what is asked for while the agent stops does not reload, nor what waits for a reload in progress", async (context) => {
  const { read, asked, release, reloading } = await reloads(context);
  reloading.start();

  reloading.now();
  await until(
    async () => read.length,
    (count) => count > 0,
  );
  const waiting = reloading.request();
  const stopped = reloading.stop();
  const isHurried = asked[0]?.aborted;
  reloading.now();
  release();
  await stopped;
  reloading.now();

  assert.deepEqual([read, await waiting, isHurried], [["before"], undefined, true]);
});
