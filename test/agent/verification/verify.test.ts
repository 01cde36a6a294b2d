import assert from "node:assert/strict";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../../support/agent-process.js";
import { settledBooks } from "../../support/channel-books.js";
import { runCli } from "../../support/run-cli.js";
import { room, type StoringAgent, storingAgentWith } from "../../support/storing-agent.js";

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
  for (const n of [4, 5]) {
    const data = [room(n)];
    const body = JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", data });
    const answer = await fetch(agent.notifyUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    assert.equal(answer.status, 200);
  }
  await agent.end("SIGTERM");
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

test("verify finds a segment that was deleted", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  await storing.agent.end("SIGTERM");
  await waiting(context, storing);
  const data = path.join(storing.folder, "data", "channels", "c", "data");
  for (const name of await readdir(data)) await rm(path.join(data, name));
  const agent = await again(context, storing);

  const { exitCode, err } = await verify(storing, agent);

  assert.equal(exitCode, 1);
  assert.match(err.join("\n"), /^difference: channel "c" lost 2 events that it had accepted/);
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

test("verify says how to begin again after a channel got a new id, and finds nothing then", async (context) => {
  const storing = await stored(context);
  if (storing === undefined) return;
  const data = path.join(storing.folder, "data");
  await storing.agent.end("SIGTERM");
  await writeFile(path.join(data, "channels", "c", "checkpoint", "new-id"), "");
  const agent = await again(context, storing);

  const running = await verify(storing, agent);
  await agent.end("SIGTERM");
  const ledger = path.join(data, "ledger.json");
  const books: unknown = JSON.parse(await readFile(ledger, "utf8"), (key, value) =>
    key === "base" ? undefined : value,
  );
  await writeFile(ledger, JSON.stringify(books));
  const begunAgain = await verify(storing);

  assert.equal(running.exitCode, 1);
  assert.match(
    running.err.join("\n"),
    /a new id of the channel, .* delete the member "base" of the channel in ledger.json/,
  );
  assert.deepEqual([begunAgain.exitCode, begunAgain.err], [0, []]);
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
    /its sinks are other, where they were other, rdb-sink; the comparison begins now$/m,
  );
  assert.doesNotMatch(next.out.join("\n"), /begins now/);
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
