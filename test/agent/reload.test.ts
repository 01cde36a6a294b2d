import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import type { AgentProcess } from "../support/agent-process.js";
import { room, type StoringAgent, storingAgent } from "../support/storing-agent.js";
import { until } from "../support/until.js";

async function reloadWith({ agent, propertiesFile, properties }: StoringAgent, ...lines: readonly string[]) {
  const before = agent.lines.length;
  await writeFile(propertiesFile, properties(...lines));
  agent.process.kill("SIGHUP");
  return await until(
    async () => agent.lines.slice(before).filter(({ component }) => component === "reload"),
    (seen) => seen.some(({ msg }) => ends.includes(String(msg))),
  );
}

const ends = [
  "configuration reloaded",
  "configuration read again: no component differs",
  "configuration has errors; the agent keeps its present configuration",
  "the configuration before runs again",
];

async function distinctRooms({ database }: StoringAgent): Promise<number> {
  const [row] = await database.query("SELECT count(DISTINCT entityid) AS rows, count(*) AS every FROM svc.room");
  assert.equal(row?.["rows"], row?.["every"], "no room is stored twice");
  return Number(row?.["rows"]);
}

function starts(agent: AgentProcess, component: string): number {
  return agent.lines.filter((line) => line["component"] === component).length;
}

const changes = [
  { what: "the sink", lines: ["deneb.sinks.rdb-sink.batch_size = 7"], replaced: ["rdb-sink"] },
  { what: "the channel", lines: ["deneb.channels.c.capacity = 30000"], replaced: ["http-source", "c", "rdb-sink"] },
] as const;

for (const { what, lines, replaced } of changes)
  test(`a reload that replaces ${what} under load loses nothing that was accepted and stores nothing twice`, async (context) => {
    const storing = await storingAgent(context, "deneb.sinks.rdb-sink.rdb_maxPoolSize = 1");
    if (storing === undefined) return;
    const { post, settled, ask } = storing;
    const accepted: number[] = [];
    let loading = true;
    const load = async () => {
      for (let n = 0; loading && n < 20_000; n += 20) {
        const numbers = Array.from({ length: 20 }, (_, index) => n + index);
        const status = await post(numbers.map((one) => room(one))).catch(() => undefined);
        if (status === 200) accepted.push(...numbers);
        else if (replaced.length > 1) break;
      }
    };
    const loaded = load();
    await until(
      async () => accepted.length,
      (count) => count > 200,
    );

    const told = await reloadWith(storing, ...lines);
    loading = false;
    await loaded;
    const ledger = await settled();

    const last = told.at(-1);
    assert.equal(last?.["msg"], "configuration reloaded");
    assert.deepEqual(last?.["started"], replaced);
    assert.equal(await distinctRooms(storing), accepted.length);
    assert.deepEqual([ledger.received, ledger.stored, ledger.unaccounted], [accepted.length, accepted.length, 0]);
    const { stats } = await ask("GET", "/v1/stats");
    assert.deepEqual(
      [...stats.sources, ...stats.channels, ...stats.sinks].map(({ status }) => status),
      ["START", "START", "START"],
    );
  });

test("a file with errors leaves the running agent as it is, and the log says what is wrong", async (context) => {
  const storing = await storingAgent(context);
  if (storing === undefined) return;
  const { post, settled } = storing;

  const told = await reloadWith(storing, "deneb.sinks.rdb-sink.batch_size = zero");
  const status = await post([room(1)]);
  const ledger = await settled();

  assert.match(JSON.stringify(told), /batch_size/);
  assert.equal(told.at(-1)?.["msg"], "configuration has errors; the agent keeps its present configuration");
  assert.equal(status, 200);
  assert.deepEqual([ledger.stored, ledger.unaccounted], [1, 0]);
});

test("a file without a difference replaces nothing", async (context) => {
  const storing = await storingAgent(context);
  if (storing === undefined) return;

  const told = await reloadWith(storing, "# a remark");

  assert.equal(told.at(-1)?.["msg"], "configuration read again: no component differs");
  assert.equal(starts(storing.agent, "http-source"), 1);
});

test("a component that cannot start brings the configuration before back, which listens on the same socket", async (context) => {
  const storing = await storingAgent(context);
  if (storing === undefined) return;
  const { agent, post, settled } = storing;
  const { port } = new URL(agent.managementUrl);
  const told = await reloadWith(
    storing,
    `deneb.sources.http-source.port = ${port}`,
    "deneb.channels.c.capacity = 25000",
  );

  const ports = agent.lines.filter((line) => line["component"] === "http-source" && line["port"] !== undefined);
  const response = await fetch(`http://127.0.0.1:${ports.at(-1)?.["port"]}/notify`, { method: "GET" });
  await response.arrayBuffer();
  const status = await post([room(1)]);
  const ledger = await settled();

  assert.equal(told.at(-1)?.["msg"], "the configuration before runs again");
  assert.equal(ports.length, 2);
  assert.equal(ports[0]?.["port"], ports[1]?.["port"]);
  assert.equal(response.status, 400);
  assert.equal(status, 200);
  assert.deepEqual([ledger.stored, ledger.unaccounted], [1, 0]);
});

test("a reload that corrects a sink stores what was waiting for it", async (context) => {
  const storing = await storingAgent(context, "deneb.sinks.rdb-sink.rdb_database = not_there");
  if (storing === undefined) return;
  const { post, settled, ask, database } = storing;
  assert.equal(await post([room(1), room(2)]), 200);
  await until(
    async () => (await ask("GET", "/v1/stats")).stats.sinks[0],
    ({ num_processed_events }) => num_processed_events === 2,
  );

  const told = await reloadWith(storing, `deneb.sinks.rdb-sink.rdb_database = ${database.database}`);
  const ledger = await settled();

  assert.deepEqual(told.at(-1)?.["started"], ["rdb-sink"]);
  assert.deepEqual([ledger.received, ledger.stored, ledger.dead_lettered, ledger.unaccounted], [2, 2, 0, 0]);
  assert.equal(await distinctRooms(storing), 2);
});

const second = [
  "deneb.channels = c d",
  "deneb.sinks = rdb-sink other-sink",
  "deneb.sources.http-source.channels = c d",
  "deneb.channels.d.type = memory",
  "deneb.sinks.other-sink.type = rdb",
  "deneb.sinks.other-sink.channel = d",
  "deneb.sinks.other-sink.rdb_host = 127.0.0.1",
  "deneb.sinks.other-sink.rdb_port = 1",
  "deneb.sinks.other-sink.batch_ttl = -1",
  "deneb.sinks.other-sink.batch_retry_intervals = 100",
];

test("a channel in memory is not removed while its events cannot be stored", async (context) => {
  const storing = await storingAgent(context, ...second);
  if (storing === undefined) return;
  const { post, ask, agent, propertiesFile, properties } = storing;
  assert.equal(await post([room(1)]), 200);
  const without = properties(...second)
    .split("\n")
    .filter((line) => !/other-sink\.|channels\.d\./.test(line))
    .map((line) => line.replace(/ d$| other-sink$/, ""));

  await writeFile(propertiesFile, without.join("\n"));
  agent.process.kill("SIGHUP");
  const lines = await until(
    async () => agent.lines.filter(({ component }) => component === "reload"),
    (seen) => seen.some(({ msg }) => msg === "the configuration before runs again"),
  );

  const { stats } = await ask("GET", "/v1/stats");
  assert.match(JSON.stringify(lines), /removing channel \\"d\\": 1 event could not be stored within the grace period/);
  assert.deepEqual(
    stats.ledger.channels.map(({ name, waiting, unaccounted }: Readonly<Record<string, unknown>>) => [
      name,
      waiting,
      unaccounted,
    ]),
    [
      ["c", 0, 0],
      ["d", 1, 0],
    ],
  );
});
