import assert from "node:assert/strict";
import { readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../../support/agent-process.js";
import { settledBooks } from "../../support/channel-books.js";
import { postEntities } from "../../support/post-entities.js";
import { runCli } from "../../support/run-cli.js";
import { room, type StoringAgent, storingAgentWith } from "../../support/storing-agent.js";
import { until } from "../../support/until.js";

const durable = ["deneb.channels.c.type = file", "deneb.sinks.rdb-sink.batch_ttl"];
const away = "deneb.sinks.rdb-sink.rdb_port = 1";

/** An agent with a file channel that has stored three events and was stopped. */
async function stored(context: TestContext): Promise<StoringAgent | undefined> {
  const storing = await storingAgentWith(context, { lines: durable });
  if (storing === undefined) return undefined;
  assert.equal(await storing.post([room(1), room(2), room(3)]), 200);
  await storing.settled();
  return storing;
}

/** Starts it again; with no store, so that events wait in the channel, on request. */
async function again(context: TestContext, { folder, properties }: StoringAgent, ...lines: readonly string[]) {
  const env = { DENEB_RELOAD_INTERVAL: "0", DENEB_GRACE_PERIOD: "2" };
  return await startAgent(context, { properties: properties(...lines), folder, env });
}

async function waiting(context: TestContext, storing: StoringAgent): Promise<void> {
  const agent = await again(context, storing, away);
  for (const n of [4, 5]) await post(agent, room(n));
  await agent.end("SIGTERM");
}

async function post(agent: Pick<AgentProcess, "notifyUrl">, entity: object): Promise<void> {
  await postEntities(agent, [entity]);
}

/** What the command says of the running agent, or of the stopped one. */
async function verify({ folder, propertiesFile }: StoringAgent, agent?: Pick<AgentProcess, "managementUrl">) {
  const port = agent === undefined ? "1" : new URL(agent.managementUrl).port;
  const where = ["--data-dir", path.join(folder, "data"), "--management-port", port];
  const { code, stdout, stderr } = await runCli(["verify", "--config", propertiesFile, ...where]);
  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  return { exitCode: code, out: lines(stdout), err: lines(stderr) };
}

test("verify finds nothing while an agent runs, after it stopped, and after it was killed", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;

  const running = await verify(storing, storing.agent);
  await storing.agent.end("SIGKILL");
  const killed = await verify(storing);
  const next = await again(context, storing);
  const after = await verify(storing, next);
  await next.end("SIGTERM");
  const stopped = await verify(storing);

  assert.deepEqual(
    [running, killed, after, stopped].map(({ exitCode, err }) => [exitCode, err]),
    [0, 0, 0, 0].map((code) => [code, []]),
  );
  assert.match(running.out.join("\n"), /^channel c: received 3, stored 3, .*unaccounted 0; stores 3 of 3$/m);
  assert.match(running.out.join("\n"), /^sink rdb-sink: table .*svc\.room has 3 rows$/m);
});

test("verify finds nothing after a stop between a dead letter and the rest of its batch", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  const { database } = storing;
  await verify(storing, storing.agent);
  await database.query("BEGIN");
  await database.query("LOCK TABLE svc.room IN ACCESS EXCLUSIVE MODE");

  await storing.post([room(4, "\0"), room(5)]);
  await until(
    () => storing.ask("GET", "/v1/admin/deadletters"),
    ({ count }) => count === 1,
  );
  await storing.agent.end("SIGTERM");
  await database.query("ROLLBACK");
  const next = await again(context, storing);
  const { stored: rows, uncounted } = await settledBooks(next);
  const after = await verify(storing, next);

  assert.deepEqual([rows, uncounted], [4, 1]);
  assert.deepEqual([after.exitCode, after.err], [0, []]);
});

/** The agent has stopped, and two events that it had accepted were deleted with their file. */
async function lostInChannel(context: TestContext, storing: StoringAgent): Promise<void> {
  await storing.agent.end("SIGTERM");
  await waiting(context, storing);
  const data = path.join(storing.folder, "data", "channels", "c", "data");
  for (const name of await readdir(data)) await rm(path.join(data, name));
}

test("verify finds a segment that was deleted", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  await lostInChannel(context, storing);
  const agent = await again(context, storing);

  const { exitCode, err } = await verify(storing, agent);

  assert.equal(exitCode, 1);
  assert.match(err.join("\n"), /^difference: channel "c" lost 2 events that it had accepted/);
});

test("verify names the file of what a stopped agent has lost, which its next start does not name again", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  await lostInChannel(context, storing);

  const { exitCode, err } = await verify(storing);

  assert.equal(exitCode, 1);
  assert.match(err.join("\n"), /^error: channel "c": events are missing: .* \(file=.*\.log, from=4, .*events=2\)$/m);
});

test("verify finds a position that was moved forward by hand", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  const { database } = storing;
  await storing.agent.end("SIGTERM");
  await waiting(context, storing);
  const [row] = await database.query("SELECT deneb_position FROM deneb.positions");
  const moved = String(row?.["deneb_position"]).replace(/:(\d+)[^:]*$/, (_all, low) => `:${Number(low) + 2}`);
  await database.query(`UPDATE deneb.positions SET deneb_position = '${moved}'`);
  const agent = await again(context, storing);
  await settledBooks(agent);

  const { exitCode, err } = await verify(storing, agent);

  assert.equal(exitCode, 1);
  assert.match(err.join("\n"), /^difference: channel "c": its stores lack 2 events \(they hold 3, the ledger says 5\)/);
});

test("verify finds a ledger that was removed", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  await storing.agent.end("SIGTERM");
  await rm(path.join(storing.folder, "data", "ledger.json"));

  const stopped = await verify(storing);
  const agent = await again(context, storing);
  const running = await verify(storing, agent);

  assert.deepEqual([stopped.exitCode, running.exitCode], [1, 1]);
  for (const { err } of [stopped, running]) {
    assert.match(err.join("\n"), /its stores hold 3 events that the ledger does not know/);
  }
});

/** Runs it with other lines while it stores one event more. */
async function meanwhile(context: TestContext, storing: StoringAgent, line: string): Promise<void> {
  const agent = await again(context, storing, ...durable, line);
  await post(agent, room(4));
  await settledBooks(agent);
  await agent.end("SIGTERM");
}

for (const { after, change, lines = [], note } of [
  {
    after: "a channel got a new id",
    change: (_: TestContext, { folder }: StoringAgent) =>
      writeFile(path.join(folder, "data", "channels", "c", "checkpoint", "new-id"), ""),
    note: /its id is \S+, where it was \S+: its stores hold 0 events of 3; the comparison begins now$/m,
  },
  {
    after: "a sink got another database",
    change: async () => {},
    lines: ["deneb.sinks.rdb-sink.rdb_dialect = sqlite"],
    note: /sink "rdb-sink" counts in sqlite, where it counted in postgresql \S+ \S+: its stores hold 0 events of 3; /,
  },
  {
    after: "a sink stored without positions for a time",
    change: (context: TestContext, storing: StoringAgent) =>
      meanwhile(context, storing, "deneb.sinks.rdb-sink.exactly_once = false"),
    note: /for a time its stores did not count, or other ones did: its stores hold 3 events of 4; /,
  },
  {
    after: "a channel was in memory for a time",
    change: (context: TestContext, storing: StoringAgent) =>
      meanwhile(context, storing, "deneb.channels.c.type = memory"),
    note: /it was not compared before; the comparison begins now$/m,
  },
])
  test(`verify begins its comparison again after ${after}, says so once, and finds nothing`, async (context) => {
    const storing = await stored(context);
    if (storing === undefined) return;
    const before = await verify(storing, storing.agent);
    await storing.agent.end("SIGTERM");

    await change(context, storing);
    const agent = await again(context, storing, ...durable, ...lines);
    const [first, next] = [await verify(storing, agent), await verify(storing, agent)];

    for (const { exitCode, err } of [before, first, next]) assert.deepEqual([exitCode, err], [0, []]);
    assert.match(first.out.join("\n"), note);
    assert.doesNotMatch([...before.out, ...next.out].join("\n"), /begins now/);
  });

test("verify finds nothing after a reload to another database and back, and says that the comparison begins again", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  const { agent, properties, propertiesFile } = storing;
  const reloads = () => agent.lines.filter(({ msg }) => msg === "configuration reloaded").length;
  const reloadWith = async (...lines: readonly string[]) => {
    const before = reloads();
    await writeFile(propertiesFile, properties(...durable, ...lines));
    agent.process.kill("SIGHUP");
    await until(
      async () => reloads(),
      (count) => count > before,
    );
  };

  await reloadWith("deneb.sinks.rdb-sink.rdb_dialect = sqlite");
  await post(agent, room(4));
  await settledBooks(agent);
  await reloadWith();
  const { exitCode, err, out } = await verify(storing, agent);

  assert.deepEqual([exitCode, err], [0, []]);
  assert.match(
    out.join("\n"),
    /for a time its stores did not count, or other ones did: its stores hold 3 events of 4; /,
  );
});

test("verify says of a sink without positions that its store is not compared, and finds nothing", async (context) => {
  const storing = await storingAgentWith(context, { lines: [...durable, "deneb.sinks.rdb-sink.exactly_once = false"] });
  if (storing === undefined) return;
  assert.equal(await storing.post([room(1)]), 200);
  await storing.settled();

  const { exitCode, err, out } = await verify(storing, storing.agent);

  assert.deepEqual([exitCode, err], [0, []]);
  assert.match(out.join("\n"), /sink "rdb-sink" does not count what it stores: its store is not compared$/m);
  assert.match(out.join("\n"), /table svc\.room has 1 row$/m);
});

test("verify finds nothing after one of the sinks of a channel was removed, and says that the comparison begins again", async (context) => {
  const other = ["type = rdb", "channel = c", "rdb_dialect = sqlite"].map((line) => `deneb.sinks.other.${line}`);
  const lines = [...durable, "deneb.sinks = rdb-sink other", ...other];
  const storing = await storingAgentWith(context, { lines });
  if (storing === undefined) return;
  for (const n of [1, 2, 3, 4]) assert.equal(await storing.post([room(n)]), 200);
  await storing.settled();
  const both = await verify(storing, storing.agent);
  await storing.agent.end("SIGTERM");

  const agent = await again(context, storing, ...durable, ...other, "deneb.sinks = other");
  const [first, next] = [await verify(storing, agent), await verify(storing, agent)];

  assert.match(both.out.join("\n"), /stores 4 of 4$/m);
  assert.deepEqual(
    [both, first, next].map(({ exitCode, err }) => [exitCode, err]),
    [
      [0, []],
      [0, []],
      [0, []],
    ],
  );
  assert.match(
    first.out.join("\n"),
    /its sinks are other, where they were other, rdb-sink: its stores hold \d events? of 4; the comparison begins now$/m,
  );
  assert.doesNotMatch(next.out.join("\n"), /begins now/);
});

test("verify compares the events, and says which table it did not count, while somebody keeps that table locked", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  await storing.database.query("BEGIN");
  await storing.database.query("LOCK TABLE svc.room IN ACCESS EXCLUSIVE MODE");

  const { exitCode, out, err } = await verify(storing, storing.agent);

  await storing.database.query("ROLLBACK");
  assert.deepEqual([exitCode, err], [0, []]);
  assert.match(out.join("\n"), /^channel c: received 3, stored 3, .*unaccounted 0; stores 3 of 3$/m);
  assert.match(out.join("\n"), /^sink rdb-sink: rows of table .*svc\.room not counted: it is locked, or too large/m);
});

test("verify ends with 2 when the store cannot be asked", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  await storing.agent.end("SIGTERM");
  const agent = await again(context, storing, away);

  const { exitCode, err } = await verify(storing, agent);

  assert.equal(exitCode, 2);
  assert.match(err.join("\n"), /^unknown: the store of sink "rdb-sink" cannot be asked/);
});

test("verify, and the log, tell of events that were waiting at a stop when the folder of the channel is gone at the next start", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  await storing.agent.end("SIGTERM");
  await waiting(context, storing);
  await rm(path.join(storing.folder, "data", "channels"), { recursive: true });

  const next = await again(context, storing);
  const { exitCode, err } = await verify(storing, next);

  const [line] = next.lines.filter(({ component, level }) => component === "ledger" && level === "error");
  assert.deepEqual([line?.["channel"], line?.["events"]], ["c", 2]);
  assert.match(String(line?.["msg"]), /^events are missing: the channel holds fewer than at its last stop$/);
  assert.equal(exitCode, 1);
  assert.match(err.join("\n"), /^difference: channel "c" held 2 events fewer at its start than at its last stop; /m);
});
