import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { command } from "../support/command.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";

const cases = [
  { database: "sqlite", written: "dm-by-entiti", meant: "dm-by-entity" },
  { database: "sqlite", written: "DMByEntiyType", meant: "dm-by-entity-type" },
  { database: "sqlite", written: "dm-by-entity-databse", meant: undefined },
  { database: "postgresql", written: "dm-by-entity-databse", meant: "dm-by-entity-database" },
  { database: "postgresql", written: "dm-by-entity-database-schem", meant: "dm-by-entity-database-schema" },
  { database: "mysql", written: "dm-by-entity-type-databas", meant: "dm-by-entity-type-database" },
  { database: "mysql", written: "dm-by-entity-id-", meant: undefined },
  { database: "mysql", written: "dm-by-servce", meant: undefined },
  { database: "mysql", written: "tables", meant: undefined },
] as const;

for (const { database, written, meant } of cases)
  test(`for the data model ${written} of ${database} ${meant ?? "one that is accepted, or none,"} is proposed`, async (context) => {
    const refused = await checked(context, database, written);

    const [, proposed] = /data_model = .*did you mean "([^"]*)"\?/.exec(refused.err) ?? [];
    assert.equal(refused.exitCode, 2);
    if (meant !== undefined) assert.equal(proposed, meant);
    if (proposed !== undefined) assert.deepEqual(await checked(context, database, proposed), { exitCode: 0, err: "" });
    for (const listed of /must be one of: ([^;\n]*)/.exec(refused.err)?.[1]?.split(", ") ?? [])
      assert.deepEqual(await checked(context, database, listed), { exitCode: 0, err: "" });
  });

async function checked(context: TestContext, database: string, model: string) {
  const file = path.join(await tempFolder(context), "agent.properties");
  const lines = [`a.sinks.k.rdb_dialect = ${database}`, `a.sinks.k.data_model = ${model}`];
  await writeFile(file, httpAgent({ channel: "memory", sink: "rdb", lines }));
  const { exitCode, err } = await command(["check", "--config", file]);
  return { exitCode, err };
}
