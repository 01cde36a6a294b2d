import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { retryableOf } from "../../../core/sdk/index.js";
import { selfSigned } from "../../support/certificates.js";
import { startOwnPostgresql } from "../../support/own-postgresql.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { postgresqlPrograms } from "../../support/postgresql-programs.js";
import { tempFolder } from "../../support/temp-folder.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const writes = 300;

test("connections that PostgreSQL ends at any moment make writes fail retryably and nothing else", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const { host, port, user, password, database: name } = database;
  const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: name };
  const { sink } = sinkOf(place);
  await sink.start();
  context.after(() => sink.stop(AbortSignal.abort()));
  let done = false;
  const terminating = (async () => {
    while (!done) {
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    }
  })();

  const failures: unknown[] = [];
  for (let write = 0; write < writes; write += 1) {
    const events = [eventOf(entity("urn:t:1", { a: String(write) }), "terminated")];
    await sink.persist({ events }, never).catch((error: unknown) => failures.push(error));
  }
  done = true;
  await terminating;
  // An idle connection may have been ended without the sink knowing yet; its error is one of the failures too.
  const last = { events: [eventOf(entity("urn:t:1", { a: "last" }), "terminated")] };
  await sink.persist(last, never).catch(async (error: unknown) => {
    failures.push(error);
    await sink.persist(last, never);
  });

  assert.ok(failures.length > 0);
  assert.deepEqual(
    failures.filter((error) => retryableOf(error) !== true),
    [],
  );
});

test("a write goes to a new connection when the PostgreSQL of the last one takes none", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const { host, port, user, password, database: name } = database;
  const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: name };
  const { sink } = sinkOf(place);
  context.after(() => sink.stop(AbortSignal.abort()));
  const batch = { events: [eventOf(entity("urn:t:1", { a: "1" }), "moved")] };
  // For the sessions that begin now, as those with a primary that is a standby since.
  await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await assert.rejects(sink.persist(batch, never), { message: /takes no writes now/, retryable: true });
  await database.query(`BEGIN READ WRITE; ALTER DATABASE ${name} RESET default_transaction_read_only; COMMIT`);

  await sink.persist(batch, never);
});

test("files of certificates that were replaced while the agent runs count when the ones before do not fit any more", async (context) => {
  const programs = await postgresqlPrograms();
  if (programs === undefined) return context.skip("initdb and pg_ctl are not installed");
  const [first, second] = [selfSigned("first"), selfSigned("second")];
  const server = await startOwnPostgresql(programs, first);
  context.after(() => server.stop());
  const ca = path.join(await tempFolder(context), "ca.pem");
  await writeFile(ca, first.ca);
  const rdb_options = `sslmode=verify-full&sslrootcert=${ca}`;
  const { sink } = sinkOf({ rdb_host: server.host, rdb_port: server.port, rdb_options });
  context.after(() => sink.stop(AbortSignal.abort()));
  const batch = (a: string) => ({ events: [eventOf(entity("urn:t:1", { a }), "renewed")] });
  await sink.persist(batch("1"), never);
  await server.halt();
  await server.renew(second);
  await server.resume();
  // The connections of before are gone, and the sink may not know yet.
  for (let time = 1; time <= 4; time += 1) {
    await assert.rejects(sink.persist(batch("2"), never), { retryable: true });
  }
  await assert.rejects(sink.persist(batch("2"), never), /the certificate of the server at .* is not accepted/);

  await writeFile(ca, second.ca);
  await sink.persist(batch("2"), never);
});
