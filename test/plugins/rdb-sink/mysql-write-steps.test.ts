import assert from "node:assert/strict";
import { test } from "node:test";
import { withValues, writeSteps } from "../../../plugins/rdb-sink/mysql/write-steps.js";

const at = { database: "", schema: "s" };
const insert = (table: string, ...runs: (readonly (string | undefined)[])[]) => ({
  at,
  text: `INSERT INTO \`s\`.\`${table}\` (\`a\`) VALUES (?)`,
  runs,
});
const kinds = (steps: Iterable<unknown>) => [...steps].map((step) => (typeof step === "string" ? step : "apart"));

test("the statements of a transaction are sent together, behind its start", () => {
  const steps = kinds(
    writeSteps([insert("t", ["1"], [undefined]), { at, text: "CREATE TABLE u (a text)", runs: [[]] }]),
  );

  assert.deepEqual(steps, [
    "START TRANSACTION;INSERT INTO `s`.`t` (`a`) VALUES ('1');" +
      "INSERT INTO `s`.`t` (`a`) VALUES (NULL);CREATE TABLE u (a text)",
  ]);
});

test("a transaction without statements is begun", () => {
  assert.deepEqual(kinds(writeSteps([])), ["START TRANSACTION"]);
});

test("a statement whose changes count, and one with large values, is sent by itself, in its place", () => {
  const counted = { ...insert("p", ["1"]), changes: 1 };

  assert.deepEqual(kinds(writeSteps([counted, insert("t", ["1"]), insert("t", ["x".repeat(60_000)])])), [
    "START TRANSACTION",
    "apart",
    "INSERT INTO `s`.`t` (`a`) VALUES ('1')",
    "apart",
  ]);
});

test("what is sent together has at most 250,000 characters", () => {
  const rows = Array.from({ length: 100 }, () => ["'".repeat(20_000)]);

  const texts = kinds(writeSteps([insert("t", ...rows)]));

  assert.equal(texts.join(";").split("INSERT").length - 1, 100);
  assert.ok(texts.every((text) => text.length < 250_000));
});

test("a value is a text of the statement, and what looks like a place in a name or a text is none", () => {
  assert.equal(
    withValues("UPDATE `a?``'` SET `b'` = ?, `c?` = CONCAT(?, 'it''s ?', '\\'?') WHERE d = ?", [
      "?",
      "it's \\ \0",
      undefined,
    ]),
    "UPDATE `a?``'` SET `b'` = '?', `c?` = CONCAT('it\\'s \\\\ \\0', 'it''s ?', '\\'?') WHERE d = NULL",
  );
});

test("a value beyond ASCII is sent as digits, which no character set of a session reads as a quote", () => {
  assert.equal(
    withValues("INSERT INTO `t` VALUES (?, ?)", ["it's \\", "\u0127; DROP TABLE t; -- it's \\"]),
    "INSERT INTO `t` VALUES ('it\\'s \\\\', _utf8mb4 X'c4a73b2044524f50205441424c4520743b202d2d2069742773205c')",
  );
});

test("a statement with more or fewer places than values is not sent", () => {
  assert.throws(() => withValues("SELECT ?, ?", ["1"]), /2 places for 1 values/);
  assert.throws(() => withValues("SELECT ?", ["1", "2"]), /1 places for 2 values/);
});
