import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { Stats } from "node:fs";
import { readdir, realpath, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { codeOf } from "../../core/sdk/index.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { command } from "../support/command.js";
import { statusOfPost } from "../support/post-entities.js";
import { runCli } from "../support/run-cli.js";
import { room } from "../support/storing-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
const env = { DENEB_RELOAD_INTERVAL: "0", DENEB_LOCK_WAIT: "1" };

/** An agent that stores in files of its data directory. */
function properties(channel: string, ...more: readonly string[]): string {
  return `
deneb.sources = http-source
deneb.channels = c
deneb.sinks = rdb-sink
deneb.sources.http-source.type = http
deneb.sources.http-source.channels = c
deneb.sources.http-source.bind = 127.0.0.1
deneb.sources.http-source.port = 0
deneb.sources.http-source.handler = ngsi
deneb.sources.http-source.handler.default_service = svc
deneb.channels.c.type = ${channel}
deneb.channels.c.capacity = 100000
deneb.channels.c.transactionCapacity = 1000
deneb.sinks.rdb-sink.type = rdb
deneb.sinks.rdb-sink.channel = c
deneb.sinks.rdb-sink.rdb_dialect = sqlite
deneb.sinks.rdb-sink.data_model = dm-by-entity-type
${more.join("\n")}`;
}

async function post(url: string, number: number): Promise<boolean> {
  return await statusOfPost(url, [room(number)]).then(
    (status) => status === 200,
    () => false,
  );
}

async function rows(folder: string): Promise<number> {
  const query = 'SELECT count(DISTINCT "entityid") AS one, count(*) AS "all" FROM svc.room';
  const { out, err } = await command(["sql", query, "--data-dir", path.join(folder, "data"), "--json"]);
  const [row] = JSON.parse(out === "" ? "[]" : out);
  assert.equal(row?.one, row?.all, err);
  return Number(row?.all ?? 0);
}

/** The program on the data directory of another agent; it is expected to end by itself. */
async function second(folder: string, under: readonly string[] = []) {
  const flags = ["run", "-f", path.join(folder, "agent.properties"), "--data-dir", path.join(folder, "data")];
  const [program = "", ...words] = [...under, process.execPath, main, ...flags, "--management-port", "0"];
  return await run(program, words, { env: { ...process.env, ...env }, timeout: 300_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code), stdout: String(stdout), stderr: String(stderr) }),
  );
}

const namespaces = ["unshare", "--pid", "--uts", "--fork", "--kill-child"] as const;

for (const channel of ["memory", "file"])
  test(`a second agent on one data directory, its channel ${channel}, is refused and touches nothing; nothing is lost`, async (context) => {
    const folder = await tempFolder(context);
    const first = await startAgent(context, { properties: properties(channel), folder, env });
    const refused = second(folder);
    let ended = false;
    void refused.then(() => {
      ended = true;
    });
    // Two senders, one of which would send to the second agent: as that one takes nothing, both send to the first, until
    // the second one has ended.
    let sent = 0;
    let taken = 0;
    const send = async () => {
      while (sent < 200 || !ended) {
        sent += 1;
        if (await post(first.notifyUrl, sent)) taken += 1;
      }
    };
    await Promise.all(Array.from({ length: 50 }, send));

    const { code, stdout, stderr } = await refused;

    assert.equal(code, 3, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, /^error: folder .* is in use by/m);
    assert.ok(stderr.includes(`pid ${first.process.pid} on host `), stderr);
    assert.match(stderr, /give another data directory with --data-dir or DENEB_DATA_DIR\n$/);
    assert.equal(taken, sent);
    await until(
      () => rows(folder),
      (stored) => stored === sent,
    );
    assert.equal(await first.end("SIGTERM"), 0);
    assert.equal(await rows(folder), sent);
  });

test("another host name and other process numbers let no second agent in", async (context) => {
  const able = await run("unshare", [...namespaces.slice(1), "true"]).then(
    () => true,
    () => false,
  );
  if (!able) return context.skip("needs the right to make namespaces");
  const folder = await tempFolder(context);
  const first = await startAgent(context, { properties: properties("file"), folder, env });

  const { code, stderr } = await second(folder, [...namespaces, "sh", "-c", 'hostname pod-2 && exec "$0" "$@"']);

  assert.equal(code, 3, stderr);
  assert.ok(await post(first.notifyUrl, 1));
  assert.equal(await first.end("SIGTERM"), 0);
});

test("after kill -9 the next agent starts at once with what the channel holds", async (context) => {
  const folder = await tempFolder(context);
  const killed = await startAgent(context, { properties: properties("file"), folder, env });
  for (let number = 0; number < 50; number += 1) assert.ok(await post(killed.notifyUrl, number));
  await killed.end("SIGKILL");

  const next = await startAgent(context, { properties: properties("file"), folder, env });

  assert.deepEqual(next.errors, []);
  await until(
    () => rows(folder),
    (stored) => stored === 50,
  );
});

test("of a rolling update the second agent waits until the first one has stopped, and loses nothing", async (context) => {
  const folder = await tempFolder(context);
  const first = await startAgent(context, { properties: properties("file"), folder, env });
  for (let number = 0; number < 50; number += 1) assert.ok(await post(first.notifyUrl, number));
  const starting = startAgent(context, {
    properties: properties("file"),
    folder,
    env: { ...env, DENEB_LOCK_WAIT: "60" },
  });

  assert.equal(await first.end("SIGTERM"), 0);
  const next = await starting;

  for (let number = 50; number < 100; number += 1) assert.ok(await post(next.notifyUrl, number));
  await until(
    () => rows(folder),
    (stored) => stored === 100,
  );
});

test("commands that only read the data directory work while an agent holds it", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: properties("memory"), folder, env });
  assert.ok(await post(agent.notifyUrl, 1));
  await until(
    () => rows(folder),
    (stored) => stored === 1,
  );

  const { code, stderr } = await runCli(["dead-letters", "list", "--data-dir", path.join(folder, "data")]);

  assert.equal(code, 0, stderr);
});

async function reloaded(agent: AgentProcess): Promise<void> {
  agent.process.kill("SIGHUP");
  await until(
    async () => agent.lines,
    (lines) => lines.some(({ msg }) => msg === "configuration reloaded"),
  );
}

test("a reload replaces a file channel by one on the same folders", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: properties("file"), folder, env });
  assert.ok(await post(agent.notifyUrl, 1));
  const file = path.join(folder, "agent.properties");
  await writeFile(file, properties("file", "deneb.channels.c.keep-alive = 1"));

  await reloaded(agent);

  const opened = agent.lines.filter(({ msg }) => msg === "channel opened");
  assert.equal(opened.length, 2);
  assert.equal(opened[0]?.["channel"], opened[1]?.["channel"]);
});

/** The agent replaces files meanwhile: what is gone is open to nobody. */
async function openToOthers(folder: string): Promise<readonly string[]> {
  const names = ["", ...(await readdir(folder, { recursive: true }))];
  const modes = await Promise.all(
    names.map(async (name) => ({ name, mode: (await statIfThere(path.join(folder, name)))?.mode ?? 0 })),
  );
  return modes.filter(({ mode }) => (mode & 0o077) !== 0).map(({ name, mode }) => `${name} ${mode.toString(8)}`);
}

async function statIfThere(file: string): Promise<Stats | undefined> {
  return await stat(file).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
}

test("everything in the data directory is for its owner alone, with any umask and after an earlier version", async (context) => {
  const folder = await tempFolder(context);
  const before = process.umask(0);
  context.after(() => process.umask(before));
  const first = await startAgent(context, { properties: properties("file"), folder, env });
  assert.ok(await post(first.notifyUrl, 1));
  await until(
    () => rows(folder),
    (stored) => stored === 1,
  );
  assert.deepEqual(await openToOthers(path.join(folder, "data")), []);
  await first.end("SIGTERM");
  await run("chmod", ["-R", "go+rwX", path.join(folder, "data")]);

  const next = await startAgent(context, { properties: properties("file"), folder, env });

  const open = await openToOthers(path.join(folder, "data"));
  assert.deepEqual(
    open.filter((name) => !/^channels\/c /.test(name)),
    [],
  );
  await next.end("SIGTERM");
});

test("an agent whose data directory is away says so, is not ready at once, and is ready and stores what it accepts when that is back", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: properties("file"), folder, env });
  assert.ok(await post(agent.notifyUrl, 1));
  await until(
    () => rows(folder),
    (stored) => stored === 1,
  );

  await rename(path.join(folder, "data"), path.join(folder, "gone"));
  await until(
    async () => agent.lines.filter(({ msg }) => String(msg).startsWith("a folder that is in use was removed")),
    (said) => said.length === 2,
  );
  const { obstacles = [] } = JSON.parse(await (await fetch(`${agent.managementUrl}/ready`)).text());

  assert.equal(obstacles[0]?.component, "c");
  assert.match(
    obstacles[0].reason,
    /deneb\.lock" was removed or moved while the agent uses its folder: .*; put the folder back, or start the agent again$/,
  );
  const lines = agent.lines.filter(({ msg }) => String(msg).startsWith("a folder that is in use was removed"));
  const channel = path.join(await realpath(folder), "data", "channels", "c");
  assert.deepEqual(
    lines.map(({ level, component, file }) => [level, component, file]).toSorted(),
    ["checkpoint", "data"].map((name) => ["error", "c", path.join(channel, name, "deneb.lock")]),
  );
  assert.match(agent.errors.join("\n"), /data\/deneb\.lock" was removed or moved while the data directory is in use/);
  assert.ok(await post(agent.notifyUrl, 2));
  await until(
    async () => agent.lines.find(({ msg }) => msg === "batch not stored, will be retried"),
    (line) => line !== undefined,
  );
  assert.deepEqual((await readdir(folder)).includes("data"), false);
  await rename(path.join(folder, "gone"), path.join(folder, "data"));
  await until(
    () => rows(folder),
    (stored) => stored === 2,
  );
  await until(
    async () => (await fetch(`${agent.managementUrl}/ready`)).status,
    (status) => status === 200,
  );
  await until(
    async () => agent.errors.join("\n"),
    (errors) => /data\/deneb\.lock" is back, and no other agent used it meanwhile/.test(errors),
  );
  assert.ok(await post(agent.notifyUrl, 3));
  await until(
    () => rows(folder),
    (stored) => stored === 3,
  );
  assert.equal(await agent.end("SIGTERM"), 0);
});
