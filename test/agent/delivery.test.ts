import assert from "node:assert/strict";
import { test } from "node:test";
import { room, type StoringAgent, storingAgent } from "../support/storing-agent.js";
import { until } from "../support/until.js";

const table = "svc.room";

/** Posts rooms with these numbers, some of them in each notification; every one must be accepted. */
async function load({ post }: StoringAgent, numbers: readonly number[], perNotification = 20): Promise<void> {
  for (let from = 0; from < numbers.length; from += perNotification) {
    const part = numbers.slice(from, from + perNotification);
    assert.equal(await post(part.map((n) => room(n))), 200);
  }
}

const range = (count: number, from = 0): readonly number[] => Array.from({ length: count }, (_, index) => from + index);

async function rooms({ database }: StoringAgent): Promise<{ readonly rows: number; readonly different: number }> {
  const [counts] = await database.query(`SELECT count(*) AS rows, count(DISTINCT entityid) AS different FROM ${table}`);
  return { rows: Number(counts?.["rows"]), different: Number(counts?.["different"]) };
}

test("of 10,000 events with one poison among them 9,999 are rows and 1 is a dead letter", async (context) => {
  const storing = await storingAgent(context);
  if (storing === undefined) return;
  const { post, settled, ask } = storing;

  await load(storing, range(4200));
  assert.equal(await post([...range(19, 4200).map((n) => room(n)), room(4219, "a\u0000b")]), 200);
  await load(storing, range(5780, 4220));
  const ledger = await settled();
  const letters = await ask("GET", "/v1/admin/deadletters");

  assert.deepEqual(await rooms(storing), { rows: 9999, different: 9999 });
  assert.equal(letters.count, 1);
  assert.equal(letters.deadletters[0].reason, "permanent");
  const { received, stored, dead_lettered, unaccounted } = ledger;
  assert.deepEqual(
    { received, stored, dead_lettered, unaccounted },
    { received: 10_000, stored: 9999, dead_lettered: 1, unaccounted: 0 },
  );
});

test("connections that are terminated under load lose nothing", async (context) => {
  const storing = await storingAgent(context);
  if (storing === undefined) return;
  const { database, settled, agent } = storing;
  const terminate = `SELECT count(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  let ended = 0;

  for (let from = 0; from < 3000; from += 300) {
    const loading = load(storing, range(300, from));
    const [row] = await database.query(terminate);
    ended += Number(row?.["ended"]);
    await loading;
  }
  const ledger = await settled();

  assert.ok(ended > 0, "connections were terminated");
  assert.equal((await rooms(storing)).different, 3000);
  assert.deepEqual([ledger.stored, ledger.dead_lettered, ledger.unaccounted], [3000, 0, 0]);
  assert.equal(await agent.end("SIGTERM"), 0);
});

test("a schema that is dropped under load is made again, and nothing goes to the dead letters", async (context) => {
  const storing = await storingAgent(context);
  if (storing === undefined) return;
  const { database, settled } = storing;
  await load(storing, range(100));
  await settled();

  const loading = load(storing, range(2000, 100));
  await until(
    () => rooms(storing),
    ({ rows }) => rows > 200,
  );
  await database.query("DROP SCHEMA svc CASCADE");
  await loading;
  const before = await settled();
  await load(storing, range(100, 2100));
  const after = await settled();

  assert.deepEqual([before.stored, before.dead_lettered, before.unaccounted], [2100, 0, 0]);
  assert.deepEqual([after.stored, after.unaccounted], [2200, 0]);
  const [row] = await database.query(`SELECT count(*) AS rows FROM ${table} WHERE substr(entityid, 10)::int >= 2100`);
  assert.equal(row?.["rows"], "100");
});
