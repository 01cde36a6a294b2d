import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { needsPostgresql } from "../bench/needs-postgresql.js";
import { postgresqlOfBench } from "../bench/postgresql-store.js";
import { MessageReader } from "./message-reader.js";
import { countedWire } from "./wire-counter.js";

/** A client of PostgreSQL over a wire that counts. */
async function wired(context: TestContext) {
  const { host, port, ...user } = postgresqlOfBench();
  const wire = await countedWire(host, port);
  const client = new pg.Client({ ...user, host: "127.0.0.1", port: wire.port, database: "postgres" });
  context.after(async () => {
    await client.end();
    await wire.close();
  });
  await client.connect();
  return { wire, client };
}

test("transactions that insert rows are counted, with their statements and messages; others apart", async (context) => {
  if (await needsPostgresql(context)) return;
  const { wire, client } = await wired(context);
  await client.query("create temporary table kept (n int)");
  assert.deepEqual([wire.counts.transactions, wire.counts.others], [0, 2]);

  await client.query("begin");
  await client.query("insert into kept values ($1), ($2)", [1, 2]);
  await assert.rejects(client.query("savepoint s; insert into kept values ('x')"));
  await client.query("rollback");
  await client.query("begin");
  await client.query({ name: "one", text: "insert into kept values ($1), ($2)", values: [1, 2] });
  await client.query({ name: "one", text: "insert into kept values ($1), ($2)", values: [3, 4] });
  const { rows: before } = wire.counts;
  await client.query("commit");
  await wire.rowsReach(before + 4);
  await client.query(`select 'insert into "deneb".tables'`);

  const { bytes, ...counts } = wire.counts;
  // Rolled back or not, a transaction that has inserted rows is one; its rows are counted too.
  assert.deepEqual(counts, {
    statements: 4 + 4,
    transactions: 2,
    messages: 1 + 5 + 1 + 1 + 1 + 5 + 4 + 1,
    rows: 6,
    others: 3,
  });
  assert.equal(bytes > 100, true);
});

test("the end of a transaction with rows is held back until it is released, and nothing else is", async (context) => {
  if (await needsPostgresql(context)) return;
  const { wire, client } = await wired(context);
  await client.query("create temporary table kept (n int)");
  wire.hold();
  await client.query("begin");
  await client.query("insert into kept values (1)");
  const order: string[] = [];
  const committed = client.query("commit").then(() => order.push("committed"));
  await wire.rowsReach(1);
  order.push("ended");
  wire.release();
  await committed;
  assert.deepEqual(order, ["ended", "committed"]);
});

test("messages are read however the bytes are cut", () => {
  const startup = Buffer.concat([lengthOf(8), Buffer.from("user")]);
  const typed = (type: string, body: string) =>
    Buffer.concat([Buffer.from(type), lengthOf(4 + body.length), Buffer.from(body)]);
  const bytes = Buffer.concat([startup, typed("Q", "select 1"), typed("S", ""), typed("X", "")]);

  for (let size = 1; size <= bytes.length; size += 1) {
    const seen: string[] = [];
    const reader = new MessageReader("startup", (type, body) => seen.push(`${type}:${body}`));
    for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
    assert.deepEqual(seen, [":user", "Q:select 1", "S:", "X:"]);
  }
});

function lengthOf(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}
