import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { command } from "../../support/command.js";
import { room, type StoringAgent, storingAgent } from "../../support/storing-agent.js";
import { until } from "../../support/until.js";

/** An agent whose table takes only numbers, with two dead letters among five rooms. */
async function withDeadLetters(context: TestContext): Promise<StoringAgent | undefined> {
  const storing = await storingAgent(context);
  if (storing === undefined) return undefined;
  const { database, post, ask } = storing;
  await database.query("CREATE SCHEMA svc");
  await database.query("CREATE TABLE svc.room (recvtime text, entityid text, entitytype text, value integer)");
  assert.equal(await post([room(1), room(2, "two"), room(3), room(4, "four"), room(5)]), 200);
  await until(
    () => ask("GET", "/v1/admin/deadletters"),
    ({ count }) => count === 2,
  );
  return storing;
}

async function ids({ database }: StoringAgent): Promise<readonly (string | null | undefined)[]> {
  return (await database.query("SELECT entityid FROM svc.room ORDER BY entityid")).map(({ entityid }) => entityid);
}

function flags({ agent, folder }: StoringAgent) {
  const { hostname, port } = new URL(agent.managementUrl);
  return {
    online: ["--management-host", hostname, "--management-port", port],
    offline: ["--data-dir", path.join(folder, "data")],
  };
}

const all = [1, 2, 3, 4, 5].map((n) => `urn:room:${n}`);

test("a letter is stored once after its cause is removed, however often it is replayed", async (context) => {
  const storing = await withDeadLetters(context);
  if (storing === undefined) return;
  const { database, settled } = storing;
  const { online, offline } = flags(storing);

  const tooEarly = await command(["dead-letters", "replay", "--sink", "rdb-sink", ...online]);
  const refusedAgain = await until(settled, ({ dead_lettered }) => dead_lettered === 4);
  await database.query("ALTER TABLE svc.room ALTER value TYPE text");
  const replays = [
    await command(["dead-letters", "replay", "--sink", "rdb-sink", ...online]),
    await command(["dead-letters", "replay", "--all", ...online]),
  ];
  // The rows are there a moment before the letters are gone.
  await until(
    () => storing.ask("GET", "/v1/admin/deadletters"),
    ({ count }) => count === 0,
  );
  const late = await command(["dead-letters", "replay", "--all", ...online]);
  const ledger = await settled();
  const list = await command(["dead-letters", "list", ...offline]);

  assert.match(tooEarly.out, /^put into the channel again: 2\n/);
  assert.equal(refusedAgain.unaccounted, 0);
  assert.deepEqual(
    replays.map(({ exitCode }) => exitCode),
    [0, 0],
  );
  assert.match(replays[0]?.out ?? "", /^put into the channel again: 2/);
  assert.match(replays[1]?.out ?? "", /^put into the channel again: 0/);
  assert.equal(late.out, "put into the channel again: 0");
  assert.deepEqual(await ids(storing), all);
  assert.equal(list.out, "no dead letters");
  assert.deepEqual([ledger.received, ledger.stored, ledger.dead_lettered, ledger.unaccounted], [9, 5, 4, 0]);
});

test("list and show read the data directory, drop forgets a letter, and the others stay", async (context) => {
  const storing = await withDeadLetters(context);
  if (storing === undefined) return;
  const { online, offline } = flags(storing);

  const list = await command(["dead-letters", "list", "--json", ...offline]);
  const [first, second] = JSON.parse(list.out);
  const shown = await command(["dead-letters", "show", first.id, ...offline]);
  const asked = await command(["dead-letters", "list", "--entity", "urn:room:2", ...online]);
  const strangers = [
    await command(["dead-letters", "list", "--sink", "nobody", ...offline]),
    await command(["dead-letters", "list", "--sink", "nobody", ...online]),
    await command(["dead-letters", "drop", "--sink", "nobody", ...online]),
  ];
  const noLetters = await command(["dead-letters", "show", "nothing", ...offline]);
  const dropped = await command(["dead-letters", "drop", first.id, ...online]);
  const left = await command(["dead-letters", "list", "--json", ...offline]);
  const again = await command(["dead-letters", "drop", first.id, ...online]);

  assert.deepEqual([first.sink, first.state, first.reason, first.attempts], ["rdb-sink", "waiting", "permanent", 1]);
  assert.equal(first.event, undefined);
  assert.match(asked.out, /rdb-sink +waiting +permanent +svc +urn:room:2 +Room +svc\.room /);
  for (const { exitCode, err } of strangers) assert.match(`${exitCode} ${err}`, /^1 .*no sink "nobody".*"rdb-sink"/);
  assert.match(noLetters.err, /dead letter "nothing" is not in/);
  assert.deepEqual([first.service, first.entityId, first.entityType], ["svc", "urn:room:2", "Room"]);
  assert.equal(JSON.parse(shown.out).event.body.id, "urn:room:2");
  assert.equal(dropped.out, "dropped: 1");
  assert.deepEqual(
    JSON.parse(left.out).map(({ id }: { readonly id: string }) => id),
    [second.id],
  );
  assert.equal(again.exitCode, 1);
  assert.match(again.err, /not found; it may be stored or dropped already/);
});

test("letters survive the agent and can be listed without it; a replay needs it", async (context) => {
  const storing = await withDeadLetters(context);
  if (storing === undefined) return;
  const { offline } = flags(storing);
  await storing.agent.end("SIGKILL");

  const list = await command(["dead-letters", "list", "--json", ...offline]);
  const { online } = flags(storing);
  const nobody = await command(["dead-letters", "replay", "--all", ...online]);

  assert.equal(JSON.parse(list.out).length, 2);
  assert.equal(nobody.exitCode, 1);
  assert.match(nobody.err, /no agent answers at 127\.0\.0\.1/);
});

test("a server that changes the protocol is no agent", async (context) => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? String(address?.port) : "";

  const { exitCode, err } = await command(["dead-letters", "list", "--management-port", port]);

  assert.equal(exitCode, 1);
  assert.match(err, /no agent answers at .*: the server changes the protocol/);
});

const refusals = [
  { args: ["replay"], exitCode: 2, err: /select dead letters with an id, --all, or some of --sink/ },
  { args: ["drop"], exitCode: 2, err: /select dead letters/ },
  { args: ["replay", "x", "--all"], exitCode: 2, err: /give an id, or options that select dead letters, not both/ },
  { args: ["drop", "--all", "--service", "s"], exitCode: 2, err: /give --all, or options that select dead letters/ },
  { args: ["drop", "--reason", "bad"], exitCode: 2, err: /reason "bad" is none; give permanent or/ },
  { args: ["list", "--since", "soon"], exitCode: 2, err: /since "soon" is no time/ },
  { args: ["list"], exitCode: 1, err: /there is no data directory "no-such-folder"; give that of the agent/ },
  { args: ["show", "nothing"], exitCode: 1, err: /there is no data directory "no-such-folder"/ },
  { args: ["list", "--management-port", "1"], exitCode: 1, err: /no agent answers at 127\.0\.0\.1:1/ },
  { args: ["list", "--token-file", "no-such-file"], exitCode: 1, err: /reading "no-such-file" to reach the agent/ },
  { args: ["replay", "--all", "--client-cert", "c"], exitCode: 1, err: /give both --client-cert and --client-key/ },
  { args: ["drop", "--all", "--token", "secret"], exitCode: 2, err: /unknown option/ },
] as const;

for (const { args, exitCode, err } of refusals)
  test(`dead-letters ${args.join(" ")} ends with exit code ${exitCode}`, async () => {
    const result = await command(["dead-letters", ...args], { DENEB_DATA_DIR: "no-such-folder" });

    assert.equal(result.exitCode, exitCode);
    assert.match(result.err, err);
  });
