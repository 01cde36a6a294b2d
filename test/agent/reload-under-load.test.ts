import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { test } from "node:test";
import { room, type StoringAgent, storingAgent } from "../support/storing-agent.js";
import { until } from "../support/until.js";

const RELOADS = 20;
const SENDERS = 4;

/** What a reload changes in turn: the handler, the interceptors, the source itself, the channel, the sink. */
const changes = [
  (n: number) => `deneb.sources.http-source.handler.events_ttl = ${n + 2}`,
  (n: number) => `deneb.sources.http-source.retry_after = ${n + 1}`,
  (n: number) => `deneb.sources.http-source.keep_alive_timeout = ${50_000 + n}`,
  (n: number) => `deneb.channels.c.capacity = ${20_000 + n}`,
  (n: number) => `deneb.sinks.rdb-sink.batch_size = ${n + 1}`,
] as const;

async function reload({ agent, propertiesFile, properties }: StoringAgent, line: string): Promise<void> {
  const before = agent.lines.length;
  await writeFile(propertiesFile, properties(line));
  agent.process.kill("SIGHUP");
  await until(
    async () => agent.lines.slice(before),
    (lines) => lines.some(({ component, msg }) => component === "reload" && ends.includes(String(msg))),
  );
}

const ends = [
  "configuration reloaded",
  "the configuration before runs again",
  "configuration read again: no component differs",
];

/** Resolves to the status; rejects when the connection is refused or breaks. */
function posted(url: string, agent: Agent | false, entities: readonly object[]): Promise<number | undefined> {
  const body = JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "s", data: entities });
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", headers, agent }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
      response.once("error", reject);
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

test("under load, 20 reloads refuse no connection, break none, and store what was answered 200 once", async (context) => {
  const storing = await storingAgent(context);
  if (storing === undefined) return;
  const { agent, settled, database } = storing;
  const keepAlive = new Agent({ keepAlive: true, maxSockets: SENDERS });
  context.after(() => keepAlive.destroy());
  const accepted: number[] = [];
  const others: unknown[] = [];
  let next = 0;
  let loading = true;
  context.after(() => {
    loading = false;
  });
  const sender = async (connections: Agent | false) => {
    while (loading) {
      const number = next++;
      const status = await posted(agent.notifyUrl, connections, [room(number)]).catch((error: unknown) => error);
      if (status === 200) accepted.push(number);
      else others.push(status);
    }
  };
  const load = [keepAlive, false as const].flatMap((connections) =>
    Array.from({ length: SENDERS }, () => sender(connections)),
  );

  for (let n = 1; n <= RELOADS; n++) {
    const before = accepted.length;
    await reload(storing, changes[n % changes.length]?.(n) ?? "");
    await until(
      async () => accepted.length,
      (count) => count > before + 2 * SENDERS,
    );
  }
  loading = false;
  await Promise.all(load);
  const ledger = await settled();

  assert.deepEqual(others, []);
  const rows = await database.query("SELECT entityid FROM svc.room");
  assert.deepEqual(
    rows.map((row) => String(row["entityid"])).sort(),
    accepted.map((number) => `urn:room:${number}`).sort(),
  );
  assert.equal(ledger.unaccounted, 0);
  const ports = agent.lines.filter((line) => line["component"] === "http-source").map((line) => line["port"]);
  assert.equal(new Set(ports.filter((port) => port !== undefined)).size, 1);
});
