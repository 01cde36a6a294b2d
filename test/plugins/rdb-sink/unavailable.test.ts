import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { reasonOf } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { tempFolder } from "../../support/temp-folder.js";
import { closedPort, refusingServer } from "./fake-server.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const server = await postgresqlDatabase();
await server?.drop();

interface Case {
  readonly name: string;
  readonly needsServer?: true;
  config(context: TestContext): Promise<Partial<RdbConfig>>;
  readonly message: RegExp;
  /** The message of the server is not repeated behind it. */
  readonly saysAll?: true;
}

const ofPoolers = [
  {
    said: "no such database: postgres",
    shown:
      /^the pooler at [\d.:]+ has no database "postgres" \(as user "agent"\); add it to its \[databases\] or change rdb_database$/,
  },
  {
    said: 'database "postgres" does not exist',
    shown:
      /^database "postgres" does not exist at [\d.:]+ \(as user "agent"\); create the database or change rdb_database$/,
  },
  {
    said: "password authentication failed",
    shown: /^wrong password for database "postgres" .*; check rdb_username, rdb_password/,
  },
  {
    said: "query_wait_timeout",
    shown:
      /^the pooler before database "postgres" .* had no connection .*: query_wait_timeout; .* raise its pool size or lower rdb_maxPoolSize$/,
  },
  {
    said: "no more connections allowed (max_client_conn)",
    shown: /^the pooler before database "postgres" .*; raise max_client_conn there, or lower rdb_maxPoolSize$/,
  },
  {
    said: "server login has been failing, try again later (server_login_retry)",
    shown:
      /^the pooler before database "postgres" .* does not reach its server: .*; start that server or check the address in/,
  },
];

const cases: readonly Case[] = [
  ...ofPoolers.map(({ said, shown }) => ({
    name: `what PgBouncer says by "${said}"`,
    config: async (context: TestContext) => ({
      rdb_port: await refusingServer(context, "08P01", said),
      rdb_username: "agent",
      rdb_password: "secret",
    }),
    message: shown,
  })),
  {
    name: "a wrong password",
    config: async (context) => ({
      rdb_port: await refusingServer(context, "28P01", 'password authentication failed for user "agent"'),
      rdb_username: "agent",
      rdb_password: "secret",
    }),
    message:
      /^wrong password for database "postgres" at 127\.0\.0\.1:\d+ as user "agent"; check rdb_username, rdb_password and VALID UNTIL of the role$/,
  },
  {
    name: "a refused TLS",
    config: async (context) => ({
      rdb_port: await refusingServer(context, "28P01", "?"),
      rdb_options: "sslmode=require",
    }),
    message:
      /^the server at 127\.0\.0\.1:\d+ does not offer TLS but rdb_options has sslmode=require; use sslmode=prefer or enable TLS$/,
  },
  {
    name: "an absent database",
    needsServer: true,
    config: async () => ({
      rdb_host: server?.host ?? "",
      rdb_port: server?.port ?? 0,
      rdb_username: server?.user ?? "",
      rdb_password: server?.password ?? "",
      rdb_database: server?.database ?? "",
    }),
    message:
      /^database "deneb_test_\w+" does not exist at [\w.]+:\d+ \(as user "\w+"\); create the database or change rdb_database$/,
    saysAll: true,
  },
  {
    name: "a port without a server",
    config: async () => ({ rdb_port: await closedPort() }),
    message: /^connection refused: no server listens at 127\.0\.0\.1:\d+; start it or check rdb_host and rdb_port$/,
  },
  {
    name: "a folder that cannot be created",
    config: async (context) => {
      const folder = await tempFolder(context);
      await writeFile(join(folder, "file"), "");
      return { rdb_dialect: "sqlite", rdb_folder: join(folder, "file", "data") };
    },
    message: /^the database files in ".*data" cannot be opened: .*; check rdb_folder$/,
  },
  {
    name: "a database file that is a folder",
    config: async (context) => {
      const folder = await tempFolder(context);
      await mkdir(join(folder, "s.db"));
      return { rdb_dialect: "sqlite", rdb_folder: folder };
    },
    message: /^the database files in ".*" cannot be opened: .*; check rdb_folder$/,
  },
];

for (const { name, needsServer, config, message, saysAll } of cases) {
  const skip = needsServer && server === undefined ? "PostgreSQL is not reachable" : false;
  test(`${name} is one line that says what to do, and is retried`, { skip }, async (context) => {
    const { sink, lines } = sinkOf(await config(context));
    context.after(() => sink.stop(never));

    await sink.start();
    const failure = sink.persist({ events: [eventOf(entity("e", { a: "1" }), "s")] }, never);

    await assert.rejects(failure, { message, retryable: true });
    if (saysAll === true) assert.match(reasonOf(await failure.catch((error: unknown) => error)), message);
    assert.ok(!JSON.stringify(lines).includes("secret"));
  });
}

test("a database that is away at start is one line in the log", async (context) => {
  const { sink, lines } = sinkOf({ rdb_port: await closedPort() });
  context.after(() => sink.stop(never));

  await sink.start();

  assert.deepEqual(
    lines.map(({ level }) => level),
    ["error"],
  );
});
