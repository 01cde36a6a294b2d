import assert from "node:assert/strict";
import { test } from "node:test";
import { ok, refused, startManagement } from "../../support/management.js";

const appenders = "/v1/admin/log/appenders";
const loggers = "/v1/admin/log/loggers";
const putAppender = (name: string, ConversionPattern: string, layout?: string) => ({
  appender: { name },
  pattern: { ConversionPattern, layout },
});
const putLogger = (name: string, level: string) => ({ logger: { name, level } });

test("an appender gets another pattern while the agent runs, and JSON again", async (context) => {
  const { call, console, logging } = await startManagement(context);
  const log = logging.loggers.of("x");

  const put = await call("PUT", appenders, putAppender("console", "%p [%X{corr}] %m%n"));
  log.info({ corr: "c1", token: "t" }, "first");
  const one = await call("GET", `${appenders}?name=console&transient=true`);
  await call("PUT", appenders, putAppender("console", "unused", "json"));
  log.info({}, "second");
  const all = await call("GET", appenders);

  assert.deepEqual(put, ok({ result: "Appender console updated succesfully" }));
  assert.deepEqual(one, ok({ appender: [{ name: "console", layout: "%p [%X{corr}] %m%n" }] }));
  assert.deepEqual(all, ok({ appenders: [{ name: "console", layout: "json" }] }));
  assert.equal(console[0], "INFO [c1] first token=***\n");
  assert.equal(JSON.parse(console[1] ?? "").msg, "second");
});

for (const path of [appenders, loggers])
  test(`a DELETE of ${path} with a parameter that it does not take removes nothing`, async (context) => {
    const { call } = await startManagement(context);
    const before = await call("GET", path);

    const answers = [
      await call("DELETE", `${path}?nmae=console`),
      await call("DELETE", `${path}?Name=a&transient=true`),
    ];

    assert.deepEqual(answers, [
      refused({ result: "Unknown parameter nmae. Known are name, transient" }),
      refused({ result: "Unknown parameter Name. Known are name, transient" }),
    ]);
    assert.deepEqual(await call("GET", path), before);
  });

test("after all appenders are removed nothing is written, and console can be put again", async (context) => {
  const { call, console, logging } = await startManagement(context);
  const log = logging.loggers.of("x");

  assert.deepEqual(await call("DELETE", appenders), ok({ result: "Appenders removed successfully" }));
  log.error({}, "lost");
  assert.deepEqual(await call("GET", appenders), refused({ result: "No log4j appenders found" }));
  assert.deepEqual(await call("PUT", appenders, putAppender("other", "%m%n")), notAdded("Appenders"));
  assert.equal((await call("PUT", appenders, putAppender("console", "%m%n"))).status, 200);
  log.info({}, "back");

  assert.deepEqual(console, ["back\n"]);
});

test("an appender that was removed is gone", async (context) => {
  const { call } = await startManagement(context);

  const removed = await call("DELETE", `${appenders}?name=console`);

  assert.deepEqual(removed, ok({ result: "Appender console removed successfully" }));
  assert.deepEqual(await call("GET", `${appenders}?name=console`), refused({ result: "Appender name not found" }));
  assert.deepEqual(await call("DELETE", `${appenders}?name=console`), refused({ result: "Appender name not found" }));
});

test("the level of one component changes while the agent runs", async (context) => {
  const { call, console, logging } = await startManagement(context);
  const [a, b] = [logging.loggers.of("a"), logging.loggers.of("b")];

  const put = await call("PUT", loggers, putLogger("a", "DEBUG"));
  a.debug({}, "a shown");
  b.debug({}, "b not shown");
  await call("PUT", loggers, putLogger("b", "OFF"));
  b.error({}, "b silent");

  assert.deepEqual(put, ok({ result: "Appender a updated successfully" }));
  assert.deepEqual(
    console.map((line) => JSON.parse(line).msg),
    ["a shown"],
  );
  assert.deepEqual(await call("GET", `${loggers}?name=a`), ok({ logger: [{ name: "a" }] }));
  const levels = [
    { name: "root", level: "INFO" },
    { name: "a", level: "DEBUG" },
    { name: "b", level: "OFF" },
  ];
  assert.deepEqual(await call("GET", loggers), ok({ loggers: levels }));
});

test("the root logger changes all that have no level of their own", async (context) => {
  const { call, console, logging } = await startManagement(context);
  const [a, b] = [logging.loggers.of("a"), logging.loggers.of("b")];
  await call("PUT", loggers, putLogger("a", "INFO"));

  await call("PUT", loggers, putLogger("root", "ERROR"));
  a.info({}, "a shown");
  b.warn({}, "b not shown");
  logging.loggers.of("later").warn({}, "not shown either");

  assert.deepEqual(
    console.map((line) => JSON.parse(line).msg),
    ["a shown"],
  );
});

test("a logger that was removed is gone and writes at the level of root", async (context) => {
  const { call, console, logging } = await startManagement(context);
  const a = logging.loggers.of("a");
  await call("PUT", loggers, putLogger("a", "OFF"));

  const removed = await call("DELETE", `${loggers}?name=a`);
  a.info({}, "shown");

  assert.deepEqual(removed, ok({ result: "Logger a removed successfully" }));
  assert.deepEqual(await call("GET", `${loggers}?name=a`), refused({ result: "logger name not found" }));
  assert.deepEqual(await call("DELETE", `${loggers}?name=a`), refused({ result: "Logger name not found" }));
  assert.deepEqual(await call("PUT", loggers, putLogger("a", "INFO")), notAdded("Loggers"));
  assert.equal(console.length, 1);
});

test("after all loggers are removed the agent still writes, and root can be put again", async (context) => {
  const { call, console, logging } = await startManagement(context);
  const a = logging.loggers.of("a");
  await call("PUT", loggers, putLogger("root", "OFF"));

  assert.deepEqual(await call("DELETE", loggers), ok({ result: "Loggers removed successfully" }));
  a.info({}, "shown");
  assert.deepEqual(await call("GET", loggers), refused({ result: "No log4j loggers found" }));
  assert.equal((await call("PUT", loggers, putLogger("root", "DEBUG"))).status, 200);
  a.debug({}, "shown too");

  assert.deepEqual(
    console.map((line) => JSON.parse(line).msg),
    ["shown", "shown too"],
  );
  assert.deepEqual(await call("GET", loggers), ok({ loggers: [{ name: "root", level: "DEBUG" }] }));
});

test("the running agent leaves the logging file alone", async (context) => {
  const { call, read } = await startManagement(context);

  await call("PUT", loggers, putLogger("root", "DEBUG"));
  await call("DELETE", appenders);

  await assert.rejects(() => read("logging.json"), { code: "ENOENT" });
});

function notAdded(what: string) {
  return refused({ result: `${what} addition is not implemented` });
}
