import assert from "node:assert/strict";
import { test } from "node:test";
import { room, storingAgent } from "../support/storing-agent.js";

test("a batch that the database takes longer to write than rdb_statement_timeout is stored in parts, each event once", async (context) => {
  const storing = await storingAgent(
    context,
    "deneb.sinks.rdb-sink.rdb_statement_timeout = 500",
    "deneb.sinks.rdb-sink.batch_retry_intervals = 50",
  );
  if (storing === undefined) return;
  const { database, post, settled, agent } = storing;
  assert.equal(await post([room(0)]), 200);
  await settled();
  await database.query(
    "CREATE FUNCTION svc.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END $$",
  );
  await database.query("CREATE TRIGGER slow BEFORE INSERT ON svc.room FOR EACH ROW EXECUTE FUNCTION svc.slow()");

  assert.equal(await post(Array.from({ length: 40 }, (_, at) => room(at + 1))), 200);
  const ledger = await settled();

  const [row] = await database.query("SELECT count(*) AS every, count(DISTINCT entityid) AS rooms FROM svc.room");
  assert.deepEqual([Number(row?.["every"]), Number(row?.["rooms"])], [41, 41]);
  assert.deepEqual([ledger.dead_lettered, ledger.unaccounted], [0, 0]);
  assert.match(JSON.stringify(agent.lines), /took too long: .* a batch is written in parts then/);
});
