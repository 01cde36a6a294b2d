import assert from "node:assert/strict";
import { test } from "node:test";
import { retryableOf } from "../../../core/sdk/index.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
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
