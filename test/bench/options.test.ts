import assert from "node:assert/strict";
import { test } from "node:test";
import { optionsOf } from "./options.js";

const refused = [
  { args: ["--runs", "0"], message: /--runs is "0"; write a whole number above 0/ },
  { args: ["--looks", "-1"], message: /looks/ },
  { args: ["--original", "0"], message: /--original is "0"; write a whole number above 0/ },
  { args: ["--original", "1.5"], message: /--original is "1.5"; write a whole number above 0/ },
  { args: ["--original-best", " "], message: /--original-best is empty; write a command, or stored\/s as a number/ },
  { args: ["--original", "run", "--original-url", "5050"], message: /--original-url is "5050"; write a URL/ },
  { args: ["--original", "2000", "--original-url", "http://h/n"], message: /--original-url is for a command/ },
  { args: ["--original-database", "d"], message: /--original-database is for a command/ },
] as const;

for (const { args, message } of refused)
  test(`the options ${args.join(" ")} are refused with what to write`, () => {
    assert.throws(() => optionsOf(args), message);
  });

test("the original is a number or a command", () => {
  const { original } = optionsOf(["--original", "1900", "--original-best", "exec run --best"]);

  assert.deepEqual(original, {
    packaged: 1900,
    best: { command: "exec run --best", url: "http://127.0.0.1:5050/notify" },
  });
});

test("a command has the address and the database that are given beside it", () => {
  const { original } = optionsOf(["--original", "run", "--original-url", "http://h:1/n", "--original-database", "d"]);

  assert.deepEqual(original, { packaged: { command: "run", url: "http://h:1/n", database: "d" } });
});

test("the guard is short, unless the command line says otherwise", () => {
  const { seconds, looks } = optionsOf(["--set", "guard"]);

  assert.deepEqual({ seconds, looks }, { seconds: 2, looks: 0 });
  assert.equal(optionsOf(["--set", "guard", "--seconds", "9"]).seconds, 9);
  assert.equal(optionsOf(["--set", "forms"]).seconds, 10);
});

test("recorded bodies alone ask for no set", () => {
  assert.deepEqual(optionsOf(["--bodies", "a.ndjson", "--bodies", "b.ndjson"]).sets, []);
  assert.deepEqual(optionsOf(["--bodies", "a.ndjson", "--set", "forms"]).sets, ["forms"]);
  assert.deepEqual(optionsOf([]).sets, ["standard"]);
});

test("a profile is written only where a folder is given", () => {
  assert.equal(optionsOf(["--profile", "profiles"]).profile, "profiles");
  assert.equal("profile" in optionsOf([]), false);
});
