import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { room, storingAgentWith } from "../support/storing-agent.js";
import { until } from "../support/until.js";
import { wayToPostgresql } from "../support/way-to-postgresql.js";

test("letters of an outage are stored by themselves when the store is back, each once", async (context) => {
  const way = await wayToPostgresql(context);
  const lines = [
    `deneb.sinks.rdb-sink.rdb_port = ${way.port}`,
    "deneb.sinks.rdb-sink.batch_ttl = 1",
    "deneb.sinks.rdb-sink.data_model = dm-by-entity-type",
  ];
  const storing = await storingAgentWith(context, { lines });
  if (storing === undefined) return;
  const { database, post, ask, settled } = storing;
  const rows = async () =>
    (await database.query("SELECT entityid FROM svc.room ORDER BY entityid")).map((row) => row["entityid"]);
  const list = () => ask("GET", "/v1/admin/deadletters?reason=retries-exhausted");
  assert.equal(await post([room(1)]), 200);
  await until(settled, ({ stored }) => stored === 1);

  way.close();
  for (const n of [2, 3, 4]) assert.equal(await post([room(n), room(n + 3)]), 200);
  const kept = await until(list, ({ count }) => count === 6);
  way.open();
  assert.equal(await post([room(8)]), 200);
  const left = await until(list, ({ count }) => count === 0);
  const ledger = await settled();
  const { stats } = await ask("GET", "/v1/stats");

  assert.equal(kept.deadletters[0].table, "svc.room");
  assert.deepEqual(
    await rows(),
    [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `urn:room:${n}`),
  );
  assert.equal(left.count, 0);
  assert.deepEqual([ledger.received, ledger.stored, ledger.unaccounted], [ledger.dead_lettered + 8, 8, 0]);
  assert.deepEqual([stats.dead_letters[0].num_retries_exhausted, stats.dead_letters[0].bytes], [0, 0]);
});

test("at the limit of dead letters a sink stores no more, and loses nothing; it goes on when some are dropped", async (context) => {
  const storing = await storingAgentWith(context, { env: { DENEB_DEAD_LETTER_BYTES: "6000" } });
  if (storing === undefined) return;
  const { agent, database, post, ask, folder } = storing;
  await database.query("CREATE SCHEMA svc");
  await database.query("CREATE TABLE svc.room (recvtime text, entityid text, entitytype text, value integer)");
  const ledger = async () => (await ask("GET", "/v1/stats")).stats.ledger.channels[0];
  const full = () => agent.lines.filter(({ reason }) => /dead letters full: \d+ bytes of 6000/.test(String(reason)));
  const open = async () => (await ask("GET", "/v1/admin/deadletters")).count;

  let sent = 0;
  // One after another: the ledger counts the events of a batch when all of its letters are kept.
  while (full().length === 0 && sent < 40) {
    assert.equal(await post([room(sent, "no number")]), 200);
    sent += 1;
    await until(
      async () => full().length > 0 || (await ledger()).dead_lettered === sent,
      (isDone) => isDone,
    );
  }
  const kept = await open();
  const stopped = await ledger();
  const { dropped } = await ask("DELETE", "/v1/admin/deadletters?sink=rdb-sink");
  const next = await until(ledger, ({ dead_lettered }) => dead_lettered > stopped.dead_lettered);
  const text = await readFile(path.join(folder, "data/dead-letters/rdb-sink.ndjson"), "utf8");

  assert.ok(kept > 0 && kept < sent);
  assert.equal(dropped, kept);
  assert.deepEqual([stopped.received, stopped.dead_lettered, stopped.waiting], [sent, kept, 1]);
  assert.deepEqual([next.dead_lettered, next.stored, next.unaccounted], [sent, 0, 0]);
  assert.doesNotMatch(text, /urn:room:0"/);
});
