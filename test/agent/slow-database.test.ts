import assert from "node:assert/strict";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { room, type StoringAgent, storingAgent } from "../support/storing-agent.js";
import { until } from "../support/until.js";

const LIMITS = ["deneb.sinks.rdb-sink.rdb_statement_timeout = 500", "deneb.sinks.rdb-sink.batch_retry_intervals = 100"];
const rooms = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => room(from + at));

/** From now on each row takes the database 50 ms. */
async function slowDown({ database, post, settled }: StoringAgent): Promise<void> {
  assert.equal(await post(rooms(0, 0)), 200);
  await settled();
  await database.query(
    "CREATE FUNCTION svc.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END $$",
  );
  await database.query("CREATE TRIGGER slow BEFORE INSERT ON svc.room FOR EACH ROW EXECUTE FUNCTION svc.slow()");
}

async function rowsIn({ database }: StoringAgent): Promise<readonly [every: number, distinct: number]> {
  const [row] = await database.query("SELECT count(*) AS every, count(DISTINCT entityid) AS rooms FROM svc.room");
  return [Number(row?.["every"]), Number(row?.["rooms"])];
}

test("a batch that the database takes longer to write than rdb_statement_timeout is stored in parts, each event once", async (context) => {
  const storing = await storingAgent(context, ...LIMITS);
  if (storing === undefined) return;
  const { post, settled, agent } = storing;
  await slowDown(storing);

  assert.equal(await post(rooms(1, 40)), 200);
  const ledger = await settled();

  assert.deepEqual(await rowsIn(storing), [41, 41]);
  assert.deepEqual([ledger.dead_lettered, ledger.unaccounted], [0, 0]);
  assert.match(JSON.stringify(agent.lines), /took too long: .* a batch is written in parts then/);
});

test("an agent that is killed between two parts of a batch stores the others after its start, each event once", async (context) => {
  const lines = [...LIMITS, "deneb.channels.c.type = file", "deneb.sinks.rdb-sink.batch_ttl"];
  const storing = await storingAgent(context, ...lines);
  if (storing === undefined) return;
  await slowDown(storing);

  assert.equal(await storing.post(rooms(1, 60)), 200);
  const [before] = await until(
    () => rowsIn(storing),
    ([every]) => every > 1,
  );
  await storing.agent.end("SIGKILL");
  const next = await startAgent(context, { properties: storing.properties(...lines), folder: storing.folder });
  const books = await settledBooks(next);

  assert.ok(before < 61, `${before} rows before the kill`);
  assert.deepEqual(await rowsIn(storing), [61, 61]);
  assert.deepEqual([books.dead_lettered, books.unaccounted], [0, 0]);
});
