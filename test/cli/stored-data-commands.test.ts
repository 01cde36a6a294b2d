import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { oneSinkLines } from "../crash/one-sink-lines.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { mysqlServer } from "../support/mysql.js";
import { postEntities } from "../support/post-entities.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { runHere } from "../support/run-cli.js";
import { room } from "../support/storing-agent.js";
import { tempFolder } from "../support/temp-folder.js";

async function post(agent: AgentProcess, service: string): Promise<void> {
  await postEntities(agent, [room(1)], service);
}

/** What the quickstart has stored in a directory; it runs. */
async function quickstart(context: TestContext) {
  const folder = await tempFolder(context);
  const file = readFileSync("config/quickstart.properties", "utf8");
  const agent = await startAgent(context, { properties: file.replace("port = 5050", "port = 0"), folder });
  await post(agent, "openiot");
  await settledBooks(agent);
  const dataDir = ["--data-dir", path.join(folder, "data")];
  const port = () => (agent.process.exitCode === null ? new URL(agent.managementUrl).port : "1");
  return {
    agent,
    stored: (...args: readonly string[]) => runHere([...args, ...dataDir]),
    held: (...args: readonly string[]) => runHere([...args, ...dataDir, "--management-port", port()]),
  };
}

test("every command over stored data works on the rows of the quickstart without a file", async (context) => {
  const { agent, stored, held } = await quickstart(context);

  const queried = await stored("sql", "select count(*) as n from openiot.urn_room_1");
  const listed = await stored("tables", "list");
  const adopted = await stored("tables", "adopt", "openiot.urn_room_1");
  const partitioned = await stored("tables", "partition");
  const exported = await stored("export", "--service", "openiot");
  const verified = await held("verify");
  const counted = await held("erase", "--entity", "urn:room:1");
  await agent.end("SIGTERM");
  const verifiedStopped = await held("verify");
  const erased = await held("erase", "--entity", "urn:room:1", "--yes");
  const rest = await stored("export", "--entity", "urn:room:1");

  assert.match(queried.stdout, /^n\n1\n/, queried.stderr);
  assert.match(listed.stdout, /\nopeniot\.urn_room_1 +deneb +rdb-sink +history/, listed.stderr);
  assert.match(adopted.stdout, /\nopeniot\.urn_room_1 +unchanged +listed as history already/);
  assert.match(partitioned.stdout, /\nopeniot\.urn_room_1 +unchanged/);
  assert.deepEqual([exported.code, exported.stderr], [0, "1 row of 1 table\n"]);
  assert.deepEqual([verified.code, verifiedStopped.code], [0, 0], verifiedStopped.stderr);
  assert.match(verifiedStopped.stdout, /stores 1 of 1\n.*has 1 row\nnothing differs/);
  assert.match(counted.stdout, /\n1 row and 0 dead letters would be erased/, counted.stderr);
  assert.match(erased.stdout, /\n1 row and 0 dead letters erased/, erased.stderr);
  assert.deepEqual([rest.code, rest.stderr], [0, "no rows; nothing is written\n"]);
});

test("verify does not say that nothing differs where a channel has no positions to compare the stores by", async (context) => {
  const folder = await tempFolder(context);
  const lines = readFileSync("config/quickstart.properties", "utf8").replace("port = 5050", "port = 0").split("\n");
  const kept = lines.filter((line) => !/^deneb\.channels\.[^.=]+\./.test(line));
  const [name = ""] = lines.flatMap((line) => /^deneb\.channels = (\S+)/.exec(line)?.[1] ?? []);
  const properties = [...kept, `deneb.channels.${name}.type = memory`].join("\n");
  const agent = await startAgent(context, { properties, folder });
  await post(agent, "openiot");
  await settledBooks(agent);

  const at = ["--data-dir", path.join(folder, "data"), "--management-port", new URL(agent.managementUrl).port];
  const { code, stdout, stderr } = await runHere(["verify", ...at]);

  assert.equal(code, 0, stderr);
  assert.match(stdout, /stores not compared\nnothing differs in what was compared\n$/);
});

test("without a file and without an embedded database a command says what to give, and does nothing", async (context) => {
  const folder = await tempFolder(context);
  const commands = [["tables", "list"], ["export"], ["erase", "--entity", "urn:a", "--yes"], ["sql", "select 1"]];

  for (const words of commands) {
    const { code, stderr } = await runHere([...words, "--data-dir", folder]);

    assert.equal(code, 2);
    assert.ok(stderr.includes(`data directory "${folder}" has none; give the properties file with --config`), stderr);
  }
});

interface Restricted {
  readonly service: string;
  /** Of an agent that may write. */
  readonly lines: readonly string[];
  /** Makes a user with read access alone to what the agent has made; resolves to its lines. */
  reader(): Promise<readonly string[]>;
}

const servers = {
  PostgreSQL: async (context: TestContext): Promise<Restricted | undefined> => {
    const database = await postgresqlDatabase();
    if (database === undefined) return undefined;
    const role = `deneb_reading_${process.pid}`;
    const { query } = database;
    await query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    context.after(async () => {
      await query(`DROP OWNED BY ${role}`);
      await query(`DROP ROLE ${role}`);
      await database.drop();
    });
    return {
      service: "svc",
      lines: oneSinkLines(database, "file"),
      reader: async () => {
        await query(`GRANT USAGE ON SCHEMA deneb, svc TO ${role}`);
        await query(`GRANT SELECT ON ALL TABLES IN SCHEMA deneb, svc TO ${role}`);
        return [`deneb.sinks.s.rdb_username = ${role}`, "deneb.sinks.s.rdb_password = secret"];
      },
    };
  },
  MySQL: async (context: TestContext): Promise<Restricted | undefined> => {
    const server = await mysqlServer();
    if (server === undefined) return undefined;
    context.after(async () => {
      await server.query(`DROP USER IF EXISTS 'deneb_reading_${process.pid}'@'%'`);
      await server.drop();
    });
    const service = `${server.prefix}svc`;
    const user = `deneb_reading_${process.pid}`;
    const lines = oneSinkLines({ ...server, database: service }, "file");
    return {
      service,
      lines: [...lines.filter((line) => !line.includes("rdb_options")), "deneb.sinks.s.rdb_dialect = mysql"],
      reader: async () => {
        await server.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'right'`);
        for (const database of ["deneb", service]) await server.query(`GRANT SELECT ON ${database}.* TO '${user}'@'%'`);
        return [`deneb.sinks.s.rdb_username = ${user}`, "deneb.sinks.s.rdb_password = right"];
      },
    };
  },
} as const;

for (const [name, restricted] of Object.entries(servers))
  test(`a user with the right to read in ${name} lists and exports, and erases nothing`, async (context) => {
    const server = await restricted(context);
    if (server === undefined) return context.skip(`${name} is not reachable`);
    const { service, lines, reader } = server;
    const folder = await tempFolder(context);
    const agent = await startAgent(context, { properties: lines.join("\n"), folder });
    await post(agent, service);
    await settledBooks(agent);
    const file = path.join(folder, "reader.properties");
    await writeFile(
      file,
      [...new Map([...lines, ...(await reader())].map((line) => [line.split(" = ")[0], line])).values()].join("\n"),
    );
    const run = (...words: readonly string[]) => runHere([...words, "--config", file]);

    const listed = await run("tables", "list", "--service", service);
    const exported = await run("export", "--service", service);
    const port = new URL(agent.managementUrl).port;
    const erased = await run("erase", "--entity", "urn:room:1", "--yes", "--management-port", port);

    assert.deepEqual([listed.code, exported.code], [0, 0], `${listed.stderr}${exported.stderr}`);
    assert.match(listed.stdout, /room +deneb +s +history/i);
    assert.match(exported.stdout, /\r\n[^\r]*urn:room:1/);
    assert.equal(erased.code, 5);
    assert.match(erased.stderr, /left: .*room.*a right is missing/i);
  });
