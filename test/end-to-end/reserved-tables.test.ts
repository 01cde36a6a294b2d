import assert from "node:assert/strict";
import { test } from "node:test";
import { mysqlServer } from "../support/mysql.js";
import { type StoringAgent, storingAgentWith } from "../support/storing-agent.js";

const durable = "deneb.channels.c.type = file";

test("service deneb, entity positions leaves the positions in PostgreSQL untouched", async (context) => {
  const storing = await storingAgentWith(context, { lines: [durable] });
  if (storing === undefined) return;
  await attack(storing, "ordinary", "Room");
  const kept = () => storing.database.query("SELECT deneb_sink, deneb_channel FROM deneb.positions");
  const before = await kept();

  for (const service of ["deneb", "DENEB"]) await attack(storing, service, "positions");
  await attack(storing, "deneb", "tables");

  assert.deepEqual(await kept(), before);
  assert.equal(before.length, 1);
  assert.equal((await storing.database.query("SELECT 1 FROM _deneb.positions")).length, 2);
  assert.equal((await storing.database.query("SELECT 1 FROM _deneb.tables")).length, 1);
});

test("an entity deneb_positions leaves the positions in MySQL untouched", async (context) => {
  const server = await mysqlServer();
  if (server === undefined) return context.skip("MySQL is not reachable");
  context.after(() => server.drop());
  const way = {
    dialect: "mysql",
    host: server.host,
    port: server.port,
    username: server.user,
    password: server.password,
  };
  const lines = Object.entries(way).map(([name, value]) => `deneb.sinks.rdb-sink.rdb_${name} = ${value}`);
  const storing = await storingAgentWith(context, { lines: [durable, ...lines] });
  if (storing === undefined) return;
  const service = `${server.prefix}svc`;
  await attack(storing, service, "Room");
  // Of this agent alone: all tests on a server share the table.
  const own = `%,${storing.agent.process.pid},%`;
  const kept = () =>
    server.query(`SELECT deneb_sink, deneb_channel FROM deneb.deneb_positions WHERE deneb_owner LIKE '${own}'`);
  const before = await kept();

  for (const type of ["deneb_positions", "DENEB_POSITIONS", "deneb_tables"]) await attack(storing, service, type);

  assert.deepEqual(await kept(), before);
  assert.equal(before.length, 1);
  assert.equal((await server.query(`SELECT 1 FROM \`${service}\`._deneb_positions`)).length, 1);
  assert.equal((await server.query(`SELECT 1 FROM \`${service}\`._DENEB_POSITIONS`)).length, 1);
});

/** One notification with an entity that has the columns of the table of positions; waits until it is stored. */
async function attack({ agent, settled }: StoringAgent, service: string, type: string): Promise<void> {
  const value = { type: "Property", value: "attacked" };
  const entity = { id: `urn:x:${type}`, type, deneb_sink: value, deneb_channel: value, deneb_position: value };
  const response = await fetch(agent.notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Fiware-Service": service },
    body: JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", data: [entity] }),
  });
  assert.equal(response.status, 200, await response.text());
  const { dead_lettered } = await settled();
  assert.equal(dead_lettered, 0);
}
