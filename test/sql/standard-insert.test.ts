import assert from "node:assert/strict";
import { test } from "node:test";
import { errorPatterns, oneConnection, querySql, type Store, standardDialect } from "../../core/sql/index.js";

const types = {
  text: "text",
  longtext: "text",
  integer: "bigint",
  number: "double",
  boolean: "boolean",
  time: "timestamp",
  json: "json",
  other: "text",
} as const;
const never = /(?!)/;

function dialect(mostParameters?: number) {
  return standardDialect({
    types,
    kinds: [],
    rowId: "rowid",
    parameter: (number) => `$${number}`,
    errors: errorPatterns({ name: "X", missing: never, raced: never, refused: never }),
    ...(mostParameters === undefined ? {} : { mostParameters }),
  });
}

const insert = 'INSERT INTO "s"."t" ("a", "b") VALUES';
const two = `${insert} ($1, $2), ($3, $4)`;
const one = `${insert} ($1, $2)`;

for (const { rows, most, sent } of [
  { rows: 0, most: undefined, sent: [] },
  { rows: 2, most: undefined, sent: [{ text: two, runs: 1 }] },
  {
    rows: 5,
    most: 4,
    sent: [
      { text: two, runs: 2 },
      { text: one, runs: 1 },
    ],
  },
  { rows: 4, most: 5, sent: [{ text: two, runs: 2 }] },
  { rows: 2, most: 1, sent: [{ text: one, runs: 2 }] },
])
  test(`${rows} rows of two columns, with ${most ?? "the usual number of"} parameters, are ${sent.length} statements`, () => {
    const columns = [{ name: "a", kind: "text" } as const, { name: "b", kind: "text" } as const];
    const cells = Array.from({ length: rows }, (_, row) => [`a${row}`, `b${row}`]);
    const name = { database: "", schema: "s", table: "t" };

    const statements = dialect(most).insert({ name, columns, rows: cells });

    assert.deepEqual(
      statements.map(({ text, runs }) => ({ text, runs: runs.length })),
      sent,
    );
    assert.deepEqual(
      statements.flatMap(({ runs }) => runs.flat()),
      cells.flat(),
    );
  });

/** A database that writes down what is run. */
function recorded(fails = false) {
  const told: string[] = [];
  const driver = oneConnection<string>({
    open: async (_signal, purpose) => purpose,
    run: async (connection, text) => {
      told.push(`${connection}: ${text}`);
      return [];
    },
    ask: async (connection, text) => {
      told.push(`${connection}: ${text}`);
      if (fails) throw new Error("no such table");
      return { columns: ["n"], rows: [["1"]] };
    },
    close: async () => void told.push("closed"),
    beginQuery: "BEGIN READ ONLY",
  });
  const store: Store = {
    dialect: dialect(),
    driver,
    server: { address: "x", database: "", username: "", options: "" },
  };
  return { store, told };
}

test("a query runs over a connection of its own, in a transaction that is rolled back", async () => {
  const { store, told } = recorded();

  const answer = await querySql("-- how many\n (SELECT 1);", store);

  assert.deepEqual(answer, { columns: ["n"], rows: [["1"]] });
  assert.deepEqual(told, ["query: BEGIN READ ONLY", "query: -- how many\n (SELECT 1)", "query: ROLLBACK", "closed"]);
});

test("a query that fails names the database, and its connection is closed", async () => {
  const { store, told } = recorded(true);

  await assert.rejects(querySql("SELECT 1", store), /X at "x".*no such table/);

  assert.equal(told.at(-1), "closed");
});

for (const text of ["DELETE FROM t", "SELECT 1; DELETE FROM t", "SELECT ';'", "/* x */ PRAGMA y", "selection", "", ";"])
  test(`"${text}" is refused before a connection is opened`, async () => {
    const { store, told } = recorded();

    await assert.rejects(querySql(text, store), { code: "NOT_A_QUERY" });

    assert.deepEqual(told, []);
  });

test("a driver that runs no queries says so", async () => {
  const { store } = recorded();
  const { query: _query, ...driver } = store.driver;

  await assert.rejects(querySql("SELECT 1", { ...store, driver }), /the driver of this sink runs no queries/);
});

test("a text that reads nothing behind a thousand comments is refused, not compared in every way", async () => {
  const { store } = recorded();

  await assert.rejects(querySql(`${"/**/".repeat(1000)} PRAGMA y`, store), { code: "NOT_A_QUERY" });
  assert.deepEqual((await querySql(`${"/* * / ** */".repeat(1000)} SELECT 1`, store)).rows, [["1"]]);
});
