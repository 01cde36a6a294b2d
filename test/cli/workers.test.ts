import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { test } from "node:test";
import { lockFolder } from "../../core/files/folder-lock.js";
import { notification, post } from "../end-to-end/notification.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { freePort } from "../support/free-port.js";
import { loggingAgent } from "../support/logging-agent.js";
import { durable, lives, nowhere, postMany, roomsOf, startWorkers } from "../support/logging-workers.js";
import { recordingLog } from "../support/recording-log.js";
import { runCli, runHere } from "../support/run-cli.js";
import { storedByAll, teamOf } from "../support/team.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

test("workers share the port of a source, each with its channel, and one ledger counts what all of them do", async (context) => {
  const { agent, folder } = await startWorkers(context, { workers: 3 });

  await postMany(agent, 30);

  const { workers } = await storedByAll(agent, 30);
  assert.deepEqual(
    workers.map(({ number, state, receives }) => ({ number, state, receives })),
    [1, 2, 3].map((number) => ({ number, state: "running", receives: true })),
  );
  assert.ok(workers.every(({ stored = 0 }) => stored > 0));
  assert.deepEqual(await readdir(path.join(folder, "data", "workers")), ["2", "3"]);
  assert.equal(await agent.end("SIGTERM"), 0);
  assert.deepEqual(agent.errors, []);
});

test("a worker that is killed is started again, meanwhile the agent is not ready and names it, and what it had accepted is stored", async (context) => {
  const { agent } = await startWorkers(context, { workers: 2 });
  const { workers } = await teamOf(agent);
  await postMany(agent, 10);

  process.kill(workers[1]?.pid ?? 0, "SIGKILL");

  const ready = async () => JSON.parse(await (await fetch(`${agent.managementUrl}/ready`)).text());
  const { obstacles } = await until(ready, ({ status }) => status === "not ready");
  assert.equal(obstacles[0].component, "worker 2");
  await until(ready, ({ status }) => status === "ready");
  await postMany(agent, 10, 11);
  await until(
    async () => roomsOf(agent),
    (rooms) => rooms.size === 20,
  );
  assert.equal(await agent.end("SIGTERM"), 0);
});

test("where the folder of the sockets was removed, workers that live are reached again, and killed ones are started again", async (context) => {
  const temporary = await tempFolder(context);
  const folder = await tempFolder(context);
  const env = { DENEB_WORKERS: "2", TMPDIR: temporary };
  const agent = await startAgent(context, { properties: durable, folder, env });
  const { workers } = await teamOf(agent);
  const status = async () => (await fetch(`${agent.managementUrl}/ready`)).status;
  const removeSockets = async () => {
    for (const name of await readdir(temporary)) await rm(path.join(temporary, name), { recursive: true });
  };

  await removeSockets();
  assert.equal(await status(), 503);
  await until(status, (now) => now === 200);

  assert.deepEqual(
    (await teamOf(agent)).workers.map(({ pid }) => pid),
    workers.map(({ pid }) => pid),
  );
  await removeSockets();
  for (const { pid = 0 } of workers) process.kill(pid, "SIGKILL");
  await until(
    async () => (await teamOf(agent).catch(() => undefined))?.workers ?? [],
    (now) =>
      now.length === 2 && now.every(({ pid, state }, index) => state === "running" && pid !== workers[index]?.pid),
  );
  await until(status, (now) => now === 200);
  assert.equal(await agent.end("SIGTERM"), 0);
  assert.deepEqual(await readdir(temporary), []);
});

test("with fewer workers than before, what the others have left is stored, and they end", async (context) => {
  const folder = await tempFolder(context);
  const { agent } = await startWorkers(context, { workers: 3, folder, properties: nowhere });
  await postMany(agent, 12);
  assert.equal(await agent.end("SIGTERM"), 0);

  const fewer = await startWorkers(context, { workers: 1, folder });

  await until(
    async () => await teamOf(fewer.agent),
    ({ workers, ledger: { channels } }) => workers.length === 1 && channels[0]?.waiting === 0,
  );
  assert.equal(roomsOf(fewer.agent).size, 12);
  assert.equal(await fewer.agent.end("SIGTERM"), 0);
  assert.ok((await readdir(path.join(folder, "data", "workers", "2"))).includes("emptied"));
});

test("a worker folder with a channel that the configuration lacks is not taken for empty", async (context) => {
  const folder = await tempFolder(context);
  const { agent } = await startWorkers(context, { workers: 2, folder, properties: nowhere });
  await postMany(agent, 10);
  assert.equal(await agent.end("SIGTERM"), 0);
  const isOver = ({ lines }: AgentProcess) => lines.find(({ msg }) => String(msg).startsWith("worker ended"));
  const renamed = durable.replaceAll("channels = c", "channels = d").replaceAll("a.channels.c.", "a.channels.d.");
  const other = await startWorkers(context, {
    workers: 1,
    folder,
    properties: renamed.replace("a.sinks.k.channel = c", "a.sinks.k.channel = d"),
  });
  const warning = await until(
    async () => isOver(other.agent),
    (line) => line !== undefined,
  );
  assert.deepEqual(warning?.["channels"], ["c"]);
  assert.equal(await other.agent.end("SIGTERM"), 0);

  const again = await startWorkers(context, { workers: 1, folder });

  await until(
    async () => roomsOf(again.agent),
    (rooms) => rooms.size === 10,
  );
});

test("workers end in order when their supervisor is killed", async (context) => {
  const { agent, folder } = await startWorkers(context, { workers: 2 });
  await postMany(agent, 10);
  await storedByAll(agent, 10);
  const { workers } = await teamOf(agent);

  await agent.end("SIGKILL");

  for (const { pid = 0 } of workers) {
    await until(
      async () => lives(pid),
      (is) => !is,
    );
  }
  const again = await startWorkers(context, { workers: 2, folder });
  await storedByAll(again.agent, 10);
});

test("a second signal says what all workers hold in memory, and a third one ends all of them at once", async (context) => {
  const waiting = loggingAgent.replace(
    "a.sinks.k.type = logger",
    "a.sinks.k.type = http\na.sinks.k.url = http://127.0.0.1:9/\na.sinks.k.batch_ttl = -1",
  );
  const { agent } = await startWorkers(context, { workers: 2, properties: waiting });
  await postMany(agent, 10);
  const { workers } = await teamOf(agent);
  const stopping = () => agent.lines.filter(({ worker, msg }) => worker !== undefined && msg === "stopping").length;
  const ended = once(agent.process, "exit");

  agent.process.kill("SIGTERM");
  await until(
    async () => stopping(),
    (count) => count === 2,
  );
  agent.process.kill("SIGTERM");
  await until(
    async () => agent.errors.length,
    (count) => count === 1,
  );
  agent.process.kill("SIGTERM");
  const [code] = await ended;

  assert.equal(code, 4);
  assert.equal(
    agent.errors[0],
    "still stopping: a third signal ends the process at once and loses 10 events in memory",
  );
  for (const { pid = 0 } of workers) {
    await until(
      async () => lives(pid),
      (is) => !is,
    );
  }
});

test("the file says how many workers there are, and a change of that takes effect at the next start", async (context) => {
  const { agent, folder } = await startWorkers(context, { properties: `${durable}\na.workers = 2\n` });
  const file = path.join(folder, "agent.properties");
  assert.equal((await teamOf(agent)).workers.length, 2);

  await writeFile(file, (await readFile(file, "utf8")).replace("a.workers = 2", "a.workers = 3"));
  agent.process.kill("SIGHUP");

  await until(
    async () =>
      agent.lines.filter(
        ({ key, value, reason }) => key === "a.workers" && value === "3" && /^takes effect when/.test(String(reason)),
      ).length,
    (warnings) => warnings >= 2,
  );
  assert.equal((await teamOf(agent)).workers.length, 2);
  assert.equal(await agent.end("SIGTERM"), 0);
  const again = await startWorkers(context, { folder, properties: `${durable}\na.workers = 3\n` });
  assert.equal((await teamOf(again.agent)).workers.length, 3);
});

/** The sum over all workers. */
async function capacityOf({ managementUrl }: AgentProcess): Promise<number> {
  const { stats } = JSON.parse(await (await fetch(`${managementUrl}/v1/stats`)).text());
  return stats.channels[0]?.capacity;
}

test("a number of workers outside the file counts more than that of the file, and SIGHUP reloads every worker", async (context) => {
  const { agent, folder } = await startWorkers(context, { workers: 2, properties: `${durable}\na.workers = 3\n` });
  assert.equal((await teamOf(agent)).workers.length, 2);

  await appendFile(path.join(folder, "agent.properties"), "\na.channels.c.capacity = 77777\n");
  agent.process.kill("SIGHUP");

  await until(
    () => capacityOf(agent),
    (all) => all === 2 * 77_777,
  );
});

test("a worker that has read the file and waits for its folder reloads when SIGHUP came meanwhile", async (context) => {
  const { agent, folder } = await startWorkers(context, { workers: 2 });
  const { workers } = await teamOf(agent);
  const ended = () => agent.lines.filter(({ msg }) => String(msg).startsWith("a worker ended")).length;

  process.kill(workers[1]?.pid ?? 0, "SIGKILL");
  await until(
    async () => ended(),
    (ends) => ends === 1,
  );
  const { log } = recordingLog();
  const lock = await lockFolder(path.join(folder, "data", "workers", "2"), {}, { seconds: 0, log });
  await until(
    async () => agent.errors.length,
    (warnings) => warnings > 0,
  );
  await appendFile(path.join(folder, "agent.properties"), "\na.channels.c.capacity = 77777\n");
  agent.process.kill("SIGHUP");
  await until(
    () => capacityOf(agent),
    (first) => first === 77_777,
  );
  await lock.release();

  await until(
    () => capacityOf(agent),
    (all) => all === 2 * 77_777,
  );
});

const refused = [
  {
    what: "an embedded database",
    lines: "a.sinks.k.type = rdb\na.sinks.k.rdb_dialect = sqlite",
    reason: /sink "k" has an embedded database \(rdb_dialect = sqlite\)/,
  },
  {
    what: "a channel with folders of its own",
    lines: "a.channels.c.type = file\na.channels.c.dataDirs = FOLDER",
    reason: /channel "c" has a folder of its own \(dataDirs\)/,
  },
];

const asking = [
  { by: "the option", key: "--workers", flags: ["--workers", "2"], more: "" },
  { by: "the file", key: "a.workers", flags: [], more: "a.workers = 2" },
];
const commands = [
  { command: "run", flagsIn: (folder: string) => ["--data-dir", path.join(folder, "data")] },
  { command: "check", flagsIn: () => [] },
];

for (const { what, lines, reason } of refused)
  for (const { by, key, flags, more } of asking)
    for (const { command, flagsIn } of commands)
      test(`${command} refuses several workers, asked for by ${by}, for ${what}, and names what is in the way`, async (context) => {
        const folder = await tempFolder(context);
        const file = path.join(folder, "agent.properties");
        await appendFile(file, `${loggingAgent}\n${lines.replace("FOLDER", path.join(folder, "own"))}\n${more}\n`);

        const { code, stderr } = await runHere([command, "-f", file, ...flagsIn(folder), ...flags]);

        assert.equal(code, 2);
        assert.ok(stderr.includes(`${key} = "2"`), stderr);
        assert.match(stderr, reason);
      });

test("workers that cannot start end together, and the exit code is theirs", async (context) => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  context.after(() => taken.close());
  const address = taken.address();
  const port = typeof address === "object" ? address?.port : 0;
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  await appendFile(file, durable.replace("port = 0", `port = ${port}`));

  const args = ["run", "-f", file, "--data-dir", path.join(folder, "data"), "--management-port", "0", "--workers", "2"];
  const { code, stdout } = await runCli(args);

  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`the port is in use.*${port}`));
});

test("a worker whose folder cannot be made is named with the reason, and no other goes on", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  await appendFile(file, durable);
  await mkdir(path.join(folder, "data", "workers"), { recursive: true });
  await appendFile(path.join(folder, "data", "workers", "2"), "a file");

  const args = ["run", "-f", file, "--data-dir", path.join(folder, "data"), "--management-port", "0", "--workers", "2"];
  const { code, stdout } = await runCli(args);

  assert.equal(code, 1);
  assert.match(stdout, /"worker":2,.*workers\/2.*"msg":"a worker cannot be started"/);
});

test("a worker that is killed before all are ready is named, and no other goes on", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  await appendFile(file, durable);
  const data = path.join(folder, "data");
  const own = path.join(data, "workers", "2");
  await mkdir(own, { recursive: true });
  const { log } = recordingLog();
  const lock = await lockFolder(own, {}, { seconds: 0, log });
  const port = await freePort("127.0.0.1");
  const args = ["run", "-f", file, "--data-dir", data, "--management-port", `${port}`, "--workers", "2"];
  const running = runCli(args);

  const at = { managementUrl: `http://127.0.0.1:${port}` };
  const [, second] = await until(
    async () => (await teamOf(at).catch(() => undefined))?.workers ?? [],
    (workers) => workers[1]?.pid !== undefined,
  );
  process.kill(second?.pid ?? 0, "SIGKILL");
  const { code, stdout } = await running;
  await lock.release();

  assert.equal(code, 1);
  assert.match(stdout, /"worker":2,"signal":"SIGKILL","msg":"a worker ended before all were ready"/);
});

test("commands on a stopped agent read what all its workers have left", async (context) => {
  const { agent, folder } = await startWorkers(context, { workers: 2 });
  await postMany(agent, 10);
  await storedByAll(agent, 10);
  await agent.end("SIGTERM");
  const of = ["--data-dir", path.join(folder, "data"), "--management-port", "1"];

  const { code, stdout } = await runCli(["verify", "-f", path.join(folder, "agent.properties"), ...of, "--json"]);

  assert.equal(code, 0);
  const { channels, ok } = JSON.parse(stdout);
  assert.equal(ok, true);
  assert.deepEqual(
    channels.map(({ name, received, waiting }: Readonly<Record<string, unknown>>) => ({ name, received, waiting })),
    [{ name: "c", received: 10, waiting: 0 }],
  );
});

test("a process that a user starts with the variable of a worker is none", async (context) => {
  const folder = await tempFolder(context);
  const role = {
    number: 2,
    of: 2,
    receives: true,
    dataDir: path.join(folder, "other"),
    socket: path.join(folder, "s"),
  };
  const env = { DENEB_WORKER: JSON.stringify(role) };

  const agent = await startAgent(context, { properties: loggingAgent, folder, env });

  assert.equal(await post(agent.notifyUrl, notification("urn:room:1", 1)), 200);
  assert.ok(!(await readdir(folder)).includes("other"));
});
