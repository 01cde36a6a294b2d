import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { testLogging } from "../../support/logging.js";
import { ok, refused, startManagement } from "../../support/management.js";

const appenders = "/v1/admin/log/appenders?transient=false";
const loggers = "/v1/admin/log/loggers?transient=false";
const appender = (name: string, ConversionPattern = "%m%n", className = "org.apache.log4j.ConsoleAppender") => ({
  appender: { name, class: className },
  pattern: { layout: "org.apache.log4j.PatternLayout", ConversionPattern },
});
const logger = (name: string, level = "DEBUG") => ({ logger: { name, level } });

test("appenders are posted, put, shown and removed in the file", async (context) => {
  const { call, logging } = await startManagement(context);

  assert.deepEqual(await call("POST", appenders, appender("A")), ok({ result: "Appender A posted." }));
  assert.deepEqual(await call("POST", appenders, appender("A")), refused({ result: "Appender A already exist" }));
  assert.deepEqual(await call("PUT", appenders, appender("AB")), ok({ result: "Appender AB put." }));
  const updated = ok({ result: "Appender A updated succesfully" });
  assert.deepEqual(await call("PUT", appenders, appender("A", "%p%n")), updated);
  const [a, ab] = [
    { name: "A", layout: "%p%n" },
    { name: "AB", layout: "%m%n" },
  ];
  assert.deepEqual(await call("GET", appenders), ok({ appenders: [a, ab] }));
  assert.deepEqual(await call("GET", `${appenders}&name=A`), ok({ appender: [a] }));
  const removed = ok({ result: "Appender A removed successfully" });
  assert.deepEqual(await call("DELETE", `${appenders}&name=A`), removed);
  assert.deepEqual(await call("GET", appenders), ok({ appenders: [ab] }));
  assert.deepEqual(await call("DELETE", appenders), ok({ result: "Appenders removed successfully" }));
  assert.deepEqual(await call("GET", appenders), refused({ result: "No log4j appenders found" }));
  assert.deepEqual(await call("POST", appenders, appender("A")), ok({ result: "Appender A posted." }));
  assert.deepEqual(await logging.running.appenders.list(), [{ name: "console", layout: "json" }]);
});

test("loggers are posted, put, shown and removed in the file", async (context) => {
  const { call } = await startManagement(context);

  assert.deepEqual(await call("POST", loggers, logger("x.y")), ok({ result: "Logger x.y posted" }));
  assert.deepEqual(await call("POST", loggers, logger("x.y")), refused({ result: "Logger x.y already exist" }));
  assert.deepEqual(await call("PUT", loggers, logger("x.yz", "ALL")), ok({ result: "Logger x.yz put" }));
  const updated = ok({ result: "Appender x.y updated successfully" });
  assert.deepEqual(await call("PUT", loggers, logger("x.y", "FATAL")), updated);
  const listed = [
    { name: "x.y", level: "FATAL" },
    { name: "x.yz", level: "ALL" },
  ];
  assert.deepEqual(await call("GET", loggers), ok({ loggers: listed }));
  assert.deepEqual(await call("GET", `${loggers}&name=x.y`), ok({ logger: [{ name: "x.y" }] }));
  assert.deepEqual(await call("DELETE", `${loggers}&name=x.y`), ok({ result: "Logger x.y removed successfully" }));
  assert.deepEqual(await call("GET", loggers), ok({ loggers: [{ name: "x.yz", level: "ALL" }] }));
  assert.deepEqual(await call("DELETE", loggers), ok({ result: "Loggers removed successfully" }));
  assert.deepEqual(await call("GET", loggers), refused({ result: "No log4j loggers found" }));
  assert.deepEqual(await call("POST", loggers, logger("x.y")), ok({ result: "Logger x.y posted" }));
});

test("a change touches only what it names", async (context) => {
  const { call, folder, read } = await startManagement(context);
  const other = { class: "file", layout: "json", note: "mine", maxFileSize: 100 };
  const start = {
    comment: "keep me",
    appenders: { A: { class: "x", file: "a.log" }, B: other },
    loggers: { l: "odd" },
  };
  await writeFile(path.join(folder, "logging.json"), JSON.stringify(start));

  await call("PUT", appenders, appender("A", "%n", "file"));
  await call("POST", loggers, logger("__proto__"));

  const layout = "org.apache.log4j.PatternLayout";
  const a = { class: "file", file: "a.log", layout, ConversionPattern: "%n" };
  assert.equal(
    await read("logging.json"),
    `${JSON.stringify({ ...start, appenders: { A: a, B: other }, loggers: { l: "odd", ["__proto__"]: "DEBUG" } }, undefined, 2)}\n`,
  );
});

test("changes at the same time are all kept", async (context) => {
  const { call } = await startManagement(context);
  const names = Array.from({ length: 10 }, (_, index) => `logger-${index}`);

  await Promise.all(names.map((name) => call("POST", loggers, logger(name))));

  assert.deepEqual(await call("GET", loggers), ok({ loggers: names.map((name) => ({ name, level: "DEBUG" })) }));
});

test("a start with a file that went through every operation logs as it says", async (context) => {
  const { call, folder } = await startManagement(context);
  await call("POST", appenders, appender("odd name/%", "[%c] %m%n"));
  await call("POST", appenders, appender("gone", "%m%n"));
  await call("PUT", appenders, appender("unknown", "%m%n", "org.example.Unknown"));
  await call("DELETE", `${appenders}&name=gone`);
  await call("PUT", loggers, logger("root", "WARN"));
  await call("POST", loggers, logger("x", "ALL"));
  const before = [await call("GET", appenders), await call("GET", loggers)];

  const console: string[] = [];
  const restarted = await testLogging(folder, { console });
  restarted.loggers.of("x").debug({}, "shown");
  restarted.loggers.of("y").info({}, "not shown");

  assert.deepEqual(console, ["[x] shown\n"]);
  assert.deepEqual([await call("GET", appenders), await call("GET", loggers)], before);
});

test("an invalid file is reported and never overwritten", async (context) => {
  const { call, folder, read } = await startManagement(context);
  await writeFile(path.join(folder, "logging.json"), "{ broken");

  for (const [method, body] of [["GET"], ["PUT", appender("A")], ["POST", appender("A")], ["DELETE"]] as const) {
    const { status, body: answer } = await call(method, appenders, body);
    assert.equal(status, 409);
    assert.match(JSON.stringify(answer), /"success":"false","result":"reading the logging file: it is not JSON/);
  }
  assert.equal(await read("logging.json"), "{ broken");
});

test("a file that cannot be read or written is reported with the reason", async (context) => {
  const { call, folder } = await startManagement(context);
  // Room for the name, but not for that of the new file beside it.
  const long = path.join(folder, "x".repeat(250));
  await writeFile(long, "{}");
  await symlink(long, path.join(folder, "logging.json"));

  const written = await call("POST", appenders, appender("A"));
  await rm(path.join(folder, "logging.json"));
  await mkdir(path.join(folder, "logging.json"));
  const read = await call("GET", appenders);

  assert.equal(written.status, 409);
  assert.match(
    JSON.stringify(written.body),
    /"result":"writing .*logging.json.* \(is its folder writable\?\): ENAMETOOLONG/,
  );
  assert.equal(read.status, 409);
  assert.match(
    JSON.stringify(read.body),
    /"result":"reading .*logging.json.*: a folder has the place of a file; move it away/,
  );
});
