import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { repositoryRoot } from "../../support/repository.js";
import { never, sinkOf } from "./sinks.js";
import { v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const server = await postgresqlDatabase();
after(() => server?.drop());

const page = await readFile(path.join(repositoryRoot, "docs", "views.md"), "utf8");
const examples = [...page.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, text = ""]) => text);

const room = (id: string, temperature: number | string) =>
  v2Event(
    {
      ...v2Entity(
        id,
        v2Attribute("temperature", "Number", temperature),
        v2Attribute("humidity", "Number", 40),
        v2Attribute("location", "geo:point", "52.5, 13.4"),
      ),
      type: "Room",
    },
    "openiot",
  );

test("every example of the page about views runs, and those that select find rows", {
  skip: server === undefined ? "PostgreSQL is not reachable" : false,
}, async () => {
  if (server === undefined) throw new Error("PostgreSQL is not reachable");
  const { host, port, user, password, database, query } = server;
  const at = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
  const { sink } = sinkOf({ ...at, views: true });
  const temperatures = [21.5, 19, 20, 21, 22, 23, 20.5, 21, 19, "broken"];
  await sink.persist({ events: temperatures.map((value, index) => room(`room${index % 2}`, value)) }, never);
  await sink.flush();
  await sink.stop(never);

  assert.ok(examples.length >= 6);
  await query("BEGIN");
  for (const example of examples) {
    const rows = await query(example.replaceAll("now()", "'2020-05-14T00:00:00Z'::timestamptz"));
    if (example.startsWith("SELECT")) assert.ok(rows.length > 0, example);
  }
  await query("ROLLBACK");
});
