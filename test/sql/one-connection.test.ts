import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { mayBeStored } from "../../core/sdk/errors.js";
import { AgentError, codeOf, reasonOf, retryableOf } from "../../core/sdk/index.js";
import { type ConnectionParts, errorPatterns, oneConnection, plain, storeError } from "../../core/sql/index.js";
import { never } from "../plugins/rdb-sink/sinks.js";

const at = { database: "", schema: "s" };

/** A database that writes down what it is told, by connection, and refuses what `refused` fits. */
function recorder(refused: RegExp, more: Partial<ConnectionParts<number>> = {}) {
  const told: string[] = [];
  let opened = 0;
  const driver = oneConnection<number>({
    open: async () => ++opened,
    run: async (connection, text, parameters) => {
      told.push([connection, text, ...parameters].join(" "));
      if (refused.test(text)) throw new Error(`no ${text}`);
      return [[text]];
    },
    close: async (connection) => void told.push(`${connection} closed`),
    ...more,
  });
  return { driver, told };
}

const nothing = /(?!)/;

test("a write is one transaction, in the order of its statements and their runs", async () => {
  const { driver, told } = recorder(nothing, { begin: "START" });

  await driver.write([{ at, text: "I", runs: [["1"], ["2"]] }, plain(at, "J")], never);

  assert.deepEqual(told, ["1 START", "1 I 1", "1 I 2", "1 J", "1 COMMIT"]);
});

const server = { address: "file", database: "", username: "", options: "" };

for (const { what, parts } of [
  { what: "of opening the connection", parts: { open: () => Promise.reject(new Error("no room for the file")) } },
  { what: "of opening it that is a text", parts: { open: () => Promise.reject("no room") } },
  {
    what: "of opening it that is said to last",
    parts: { open: () => Promise.reject(new AgentError("NO_LICENCE", "no licence", { retryable: false })) },
  },
  { what: "of the begin", parts: { begin: "no BEGIN" } },
] as const)
  test(`an error ${what} says that the store is away, whatever the patterns of refused data are`, async () => {
    const { driver } = recorder(/no BEGIN|BAD/, parts);
    const errors = errorPatterns({ name: "Own", missing: /(?!)/, raced: /no/, refused: /no/ });

    const failure = await driver.write([plain(at, "A")], never).catch((error: unknown) => error);

    const told = storeError(failure, errors, server);
    assert.deepEqual([codeOf(told), retryableOf(told)], ["STORE_UNAVAILABLE", true]);
    assert.match(reasonOf(told), /^Own at "file" cannot be used: .*no /);
  });

test("an error of a statement is judged by its pattern", async () => {
  const { driver } = recorder(/BAD/);
  const errors = errorPatterns({ name: "Own", missing: /(?!)/, raced: /(?!)/, refused: /no BAD/ });

  const failure = await driver.write([plain(at, "BAD")], never).catch((error: unknown) => error);

  assert.deepEqual(codeOf(storeError(failure, errors, server)), "DATA_REFUSED");
});

test("a write that fails is rolled back, and its connection serves the next one", async () => {
  const { driver, told } = recorder(/BAD/);

  await assert.rejects(driver.write([plain(at, "A"), plain(at, "BAD"), plain(at, "B")], never), /no BAD/);
  await driver.write([plain(at, "C")], never);

  assert.deepEqual(told, ["1 BEGIN", "1 A", "1 BAD", "1 ROLLBACK", "1 BEGIN", "1 C", "1 COMMIT"]);
});

for (const { when, refused, before } of [
  { when: "cannot begin or roll back", refused: /BEGIN|ROLLBACK/, before: ["1 BEGIN", "1 ROLLBACK", "1 closed"] },
  { when: "is lost at the commit", refused: /COMMIT|ROLLBACK/, before: ["1 BEGIN", "1 A", "1 COMMIT", "1 ROLLBACK"] },
] as const)
  test(`a connection that ${when} is closed, and the next statement opens another one`, async () => {
    const { driver, told } = recorder(refused);

    await assert.rejects(driver.write([plain(at, "A")], never));
    assert.deepEqual(await driver.read([plain(at, "R")], never), [["R"]]);

    assert.deepEqual(told.slice(0, before.length), before);
    assert.deepEqual(told.slice(-2), ["1 closed", "2 R"]);
  });

test("a connection that cannot commit is rolled back and closed, and the next write opens another one", async () => {
  let commits = 0;
  const told: string[] = [];
  const { driver } = recorder(nothing, {
    run: async (connection, text) => {
      told.push(`${connection} ${text}`);
      if (text === "COMMIT" && ++commits === 1) throw new Error("SQL statements in progress");
      return [];
    },
  });

  await assert.rejects(driver.write([plain(at, "A")], never), /in progress/);
  await driver.write([plain(at, "A")], never);

  assert.deepEqual(told, ["1 BEGIN", "1 A", "1 COMMIT", "1 ROLLBACK", "2 BEGIN", "2 A", "2 COMMIT"]);
});

for (const { what, refused, isInDoubt } of [
  { what: "and whose roll back, failed may be stored", refused: /COMMIT|ROLLBACK/, isInDoubt: true },
  { what: "failed, and which was rolled back, is not stored", refused: /COMMIT/, isInDoubt: false },
  { what: "was not reached is not stored", refused: /A|ROLLBACK/, isInDoubt: false },
])
  test(`a write whose commit ${what}`, async () => {
    const { driver } = recorder(refused);
    const errors = errorPatterns({ name: "Own", missing: nothing, raced: nothing, refused: nothing });

    const failure = await driver.write([plain(at, "A")], never).catch((error: unknown) => error);

    assert.equal(mayBeStored(storeError(failure, errors, server)), isInDoubt);
  });

test("a caller that aborts while its commit has no answer hears that it may be stored", async () => {
  const giveUp = new AbortController();
  const errors = errorPatterns({ name: "Own", missing: nothing, raced: nothing, refused: nothing });
  const { driver } = recorder(nothing, {
    run: async (_connection, text) => {
      if (text === "COMMIT") giveUp.abort();
      return [];
    },
  });

  const failure = await driver.write([plain(at, "A")], giveUp.signal).catch((error: unknown) => error);

  assert.deepEqual([codeOf(failure), mayBeStored(storeError(failure, errors, server))], ["WRITE_ABORTED", true]);
});

test("a read that fails closes the connection, which may be the cause", async () => {
  const { driver, told } = recorder(/BAD/);

  await assert.rejects(driver.read([plain(at, "BAD")], never), /no BAD/);
  await driver.read([plain(at, "R")], never);

  assert.deepEqual(told, ["1 BAD", "1 closed", "2 R"]);
});

test("two writes at once go one after the other", async () => {
  const { driver, told } = recorder(nothing);

  await Promise.all([driver.write([plain(at, "A")], never), driver.write([plain(at, "B")], never)]);

  assert.deepEqual(told, ["1 BEGIN", "1 A", "1 COMMIT", "1 BEGIN", "1 B", "1 COMMIT"]);
});

test("a caller that aborts does not wait, its transaction is rolled back, and the next write is stored", async () => {
  const giveUp = new AbortController();
  const slow = new EventEmitter();
  const told: string[] = [];
  const { driver } = recorder(nothing, {
    run: async (_connection, text) => {
      told.push(text);
      if (text === "SLOW") {
        giveUp.abort();
        await once(slow, "done");
      }
      return [];
    },
  });

  const failed = await driver.write([plain(at, "SLOW"), plain(at, "A")], giveUp.signal).catch(codeOf);
  slow.emit("done");
  await driver.write([plain(at, "B")], never);

  assert.equal(failed, "WRITE_ABORTED");
  assert.deepEqual(told, ["BEGIN", "SLOW", "ROLLBACK", "BEGIN", "B", "COMMIT"]);
});

test("closing waits for running work until the grace period is over; nothing opens afterwards", async () => {
  const running = new EventEmitter();
  const { driver, told } = recorder(nothing, {
    run: async () => {
      running.emit("begun");
      return await new Promise(() => undefined);
    },
  });
  const begun = once(running, "begun");
  void driver.write([plain(at, "A")], never).catch(() => undefined);
  await begun;

  await driver.close(AbortSignal.abort());
  await driver.close(AbortSignal.abort());

  assert.deepEqual(told, ["1 closed"]);
  const later = recorder(nothing);
  await later.driver.close(never);
  assert.equal(await later.driver.read([plain(at, "R")], never).catch(codeOf), "WRITE_ABORTED");
  assert.deepEqual(later.told, []);
});

test("a NULL that the client gives as null is one", async () => {
  const { driver } = recorder(nothing, { run: async () => JSON.parse('[["a", null]]') });

  assert.deepEqual(await driver.read([plain(at, "R")], never), [["a", undefined]]);
});

for (const { what, answer, is } of [
  { what: "nothing", answer: undefined, is: "undefined in place of a list of rows" },
  { what: "the whole result of a client", answer: { rows: [] }, is: "an object (Object) in place of a list of rows" },
  {
    what: "rows as objects",
    answer: [{ a: "1" }],
    is: "an object (Object) in place of a row, which is a list of texts",
  },
  { what: "a number as cell", answer: [["a", 1]], is: "number in place of a text, or undefined for NULL" },
  { what: "a date as cell", answer: [[new Date(0)]], is: "an object (Date) in place of a text, or undefined for NULL" },
])
  test(`a run that returns ${what} is named as what must be corrected, and no event is refused for it`, async () => {
    const wrong: Partial<ConnectionParts<number>> = {};
    Object.assign(wrong, { run: async () => answer });
    const { driver } = recorder(nothing, wrong);

    await assert.rejects(driver.read([plain(at, "R")], never), (error) => {
      assert.deepEqual([codeOf(error), retryableOf(error)], ["ROWS_MALFORMED", true]);
      assert.ok(reasonOf(error).includes(`returned ${is}`), reasonOf(error));
      return true;
    });
  });
