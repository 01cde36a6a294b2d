import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { openLogging } from "../../core/logging/logging.js";
import { testLogging } from "../support/logging.js";
import { tempFolder } from "../support/temp-folder.js";

const lines = async (...parts: readonly string[]) =>
  (await readFile(path.join(...parts), "utf8")).split("\n").slice(0, -1);

test("without a file there is one appender: JSON lines at info, secrets masked", async (context) => {
  const console: string[] = [];
  const { loggers } = await testLogging(await tempFolder(context), { console });

  loggers.of("x").info({ rdb_password: "secret", inner: { token: "secret" } }, "shown");
  loggers.of("x").debug({}, "not shown");

  const [line = "", ...others] = console;
  const { time, ...rest } = JSON.parse(line);
  assert.ok(!Number.isNaN(Date.parse(time)));
  assert.deepEqual(rest, {
    level: "info",
    agent: "test-agent",
    component: "x",
    rdb_password: "***",
    inner: { token: "***" },
    msg: "shown",
  });
  assert.deepEqual(others, []);
});

test("an error in a field is its reason with its causes, and none of its other members", async (context) => {
  const console: string[] = [];
  const { loggers } = await testLogging(await tempFolder(context), { console });
  const refused = Object.assign(new Error("status 401"), { config: { headers: { authorization: "sesame" } } });
  const error = new Error("posting", { cause: refused });

  loggers.of("tank").warn({ error, err: refused, level: 3 }, "not posted");

  const [line = ""] = console;
  const { error: reason, err, level_, msg } = JSON.parse(line);
  assert.deepEqual([reason, err, level_, msg], ["posting: status 401", "status 401", 3, "not posted"]);
  assert.doesNotMatch(line, /sesame/);
});

test("a field of an entry replaces neither the level nor the time of its line", async (context) => {
  const folder = await tempFolder(context);
  const console: string[] = [];
  const appenders = {
    out: { class: "console", layout: "pattern", ConversionPattern: "%p %m%n" },
    kept: { class: "file", layout: "json" },
  };
  await writeFile(path.join(folder, "logging.json"), JSON.stringify({ appenders }));
  const logging = await testLogging(folder, { console });

  logging.loggers.of("tank").warn({ level: 3, time: "12:00" }, "full");
  logging.close();

  assert.deepEqual(console, ["WARN full level_=3 time_=12:00\n"]);
  const [line = ""] = await lines(folder, "logs", "kept.log");
  const { level, time, level_, time_ } = JSON.parse(line);
  assert.deepEqual([level, level_, time_], ["warn", 3, "12:00"]);
  assert.ok(!Number.isNaN(Date.parse(time)));
});

test("appenders and levels of the file are in force from the start", async (context) => {
  const folder = await tempFolder(context);
  const console: string[] = [];
  const appenders = {
    out: {
      class: "org.apache.log4j.ConsoleAppender",
      layout: "org.apache.log4j.PatternLayout",
      ConversionPattern: "%p %c %m%n",
    },
    "all/of it": { class: "file", layout: "json" },
    elsewhere: {
      class: "file",
      layout: "pattern",
      ConversionPattern: "%m%n",
      file: path.join(folder, "deep", "own.log"),
    },
  };
  const loggers = { root: "WARN", chatty: "debug" };
  await writeFile(path.join(folder, "logging.json"), JSON.stringify({ appenders, loggers }));
  const logging = await testLogging(folder, { console });

  logging.loggers.of("chatty").debug({ n: 1, password: "secret" }, "a");
  logging.loggers.of("other").info({}, "b");
  logging.loggers.of("other").warn({}, "c");
  logging.close();

  assert.deepEqual(console, ["DEBUG chatty a n=1 password=***\n", "WARN other c\n"]);
  assert.deepEqual(await lines(folder, "deep", "own.log"), ["a n=1 password=***", "c"]);
  const json = await lines(folder, "logs", "all%2Fof%20it.log");
  assert.deepEqual(
    json.map((line) => JSON.parse(line).msg),
    ["a", "c"],
  );
});

test("a level that was given at start wins over the root logger of the file", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "logging.json");
  await writeFile(file, '{"loggers":{"root":"ERROR"}}');
  const setup = { file, folder, agent: "a", format: "auto" as const, report: () => {}, console: { write: () => {} } };

  const given = await openLogging({ ...setup, level: "debug", levelGiven: true });
  const byFile = await openLogging({ ...setup, level: "info", levelGiven: false });

  assert.deepEqual(await given.running.loggers.list(), [{ name: "root", level: "DEBUG" }]);
  assert.deepEqual(await byFile.running.loggers.list(), [{ name: "root", level: "ERROR" }]);
});

const faulty = [
  { text: "{", problem: /logging\.json: .*not JSON/ },
  { text: "[]", problem: /must be an object/ },
  { text: '{"appenders":[]}', problem: /must be an object/ },
  { text: '{"appenders":{"a":{"class":"org.example.Unknown"}}}', problem: /appender "a"/ },
  { text: '{"appenders":{"a":{}}}', problem: /appender "a"/ },
  { text: String.raw`{"appenders":{"\ud800":{"class":"file"}}}`, problem: /appender "\ud800"/ },
  { text: '{"loggers":{"a":"LOUD"}}', problem: /logger "a"/ },
] as const;
for (const { text, problem } of faulty)
  test(`a logging file ${text} is reported, and the agent logs to the console`, async (context) => {
    const folder = await tempFolder(context);
    await writeFile(path.join(folder, "logging.json"), text);
    const console: string[] = [];
    const problems: string[] = [];

    const { loggers } = await testLogging(folder, { console, problems });
    loggers.of("x").info({}, "there");

    assert.equal(problems.length, 1);
    assert.match(problems.join(), problem);
    assert.equal(console.length, 1);
  });

test("a full file is put aside, and no more files are kept than asked for", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "small.log");
  const appenders = {
    small: { class: "file", layout: "pattern", ConversionPattern: "%m%n", file, maxFileSize: 10, maxFiles: 3 },
  };
  await writeFile(path.join(folder, "logging.json"), JSON.stringify({ appenders }));
  const logging = await testLogging(folder);

  for (const text of ["one", "two", "three", "four", "five", "six", "a line longer than a file"])
    logging.loggers.of("x").info({}, text);
  logging.close();

  const names = (await readdir(folder)).filter((name) => name.startsWith("small")).sort();
  assert.deepEqual(names, ["small.log", "small.log.1", "small.log.2"]);
  assert.deepEqual(await lines(file), ["a line longer than a file"]);
  assert.deepEqual(await lines(`${file}.1`), ["six"]);
  assert.deepEqual(await lines(`${file}.2`), ["four", "five"]);
});

test("a log file that cannot be written is reported once and does not stop the agent", async (context) => {
  const folder = await tempFolder(context);
  const appenders = { a: { class: "file", layout: "json", file: folder }, b: { class: "console", layout: "json" } };
  await writeFile(path.join(folder, "logging.json"), JSON.stringify({ appenders }));
  const console: string[] = [];
  const problems: string[] = [];
  const { loggers } = await testLogging(folder, { console, problems });

  loggers.of("x").info({}, "one");
  loggers.of("x").info({}, "two");

  assert.equal(console.length, 2);
  assert.equal(problems.length, 1);
  assert.match(problems.join(), /appender "a" cannot write/);
});

test("a log file that can be written again is reported once", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "a.log");
  await mkdir(file);
  const appenders = { a: { class: "file", layout: "json", file } };
  await writeFile(path.join(folder, "logging.json"), JSON.stringify({ appenders }));
  const problems: string[] = [];
  const { loggers } = await testLogging(folder, { problems });

  loggers.of("x").info({}, "one");
  await rmdir(file);
  loggers.of("x").info({}, "two");
  loggers.of("x").info({}, "three");

  assert.equal(problems.length, 2);
  assert.match(problems[1] ?? "", /^appender "a" writes again$/);
  assert.equal((await lines(file)).length, 2);
});

test("a JSON line holds no character that changes a terminal, and says the same", async (context) => {
  const console: string[] = [];
  const { loggers } = await testLogging(await tempFolder(context), { console });
  const reason = "Room\u009b2J\u202e\u2066\u2028";

  loggers.of("c").warn({ reason }, "not stored");

  const [line = ""] = console;
  assert.match(line, /Room\\u009b2J\\u202e\\u2066\\u2028/);
  assert.match(line, /^[\x20-\x7e]+\n$/);
  assert.equal(JSON.parse(line).reason, reason);
});
