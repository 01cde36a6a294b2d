import assert from "node:assert/strict";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { databaseErrorOf } from "deneb/sql";
import { duckdb } from "./dialect.js";

test("a key that another write has stored since the transaction began is tried again, a value that does not fit is not", async (context) => {
  const instance = await DuckDBInstance.create(":memory:");
  context.after(() => instance.closeSync());
  const [one, other] = [await instance.connect(), await instance.connect()];
  const retryable = async (text: string) => {
    const error: unknown = await other.run(text).then(
      () => assert.fail(`${text} is stored`),
      (failure: unknown) => failure,
    );
    return duckdb.errors.retryable(databaseErrorOf(error));
  };
  const insert = "INSERT INTO positions VALUES ('k', 'c:1') ON CONFLICT (sink) DO UPDATE SET position = 'c:1'";
  await one.run("CREATE TABLE positions (sink varchar PRIMARY KEY, position varchar)");
  await one.run("CREATE TABLE room (level bigint CHECK (level < 100))");

  await other.run("BEGIN");
  await other.run("SELECT * FROM positions");
  await one.run(insert);
  const raced = await retryable(insert);
  await other.run("ROLLBACK");
  const refused = [
    await retryable("INSERT INTO room VALUES ('warm')"),
    await retryable("INSERT INTO room VALUES (100)"),
  ];

  assert.deepEqual([raced, ...refused], [true, false, false]);
});
