import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmod, copyFile, mkdir, open, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { testLogging } from "../support/logging.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

/** An appender that writes a file, and what others may do to that file between two lines. */
async function scene(context: TestContext, more: object = {}) {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.log");
  const appenders = { own: { class: "file", layout: "pattern", ConversionPattern: "%m%n", file, ...more } };
  await writeFile(path.join(folder, "logging.json"), JSON.stringify({ appenders }));
  const problems: string[] = [];
  const logging = await testLogging(folder, { problems });
  context.after(() => logging.close());
  const log = (text: string) => logging.loggers.of("x").info({}, text);
  return { folder, file, log, problems };
}

test("after logrotate has renamed the file, the next line is in a new one", async (context) => {
  const { file, log } = await scene(context);

  log("before");
  await rename(file, `${file}.1`);
  log("after");

  assert.equal(await readFile(`${file}.1`, "utf8"), "before\n");
  assert.equal(await readFile(file, "utf8"), "after\n");
});

test("a file that logrotate has created in its place is used, with the permissions that it gave", async (context) => {
  const { file, log } = await scene(context);

  log("before");
  await rename(file, `${file}.1`);
  await writeFile(file, "", { mode: 0o600 });
  await chmod(file, 0o604);
  log("after");

  assert.equal(await readFile(file, "utf8"), "after\n");
  assert.equal((await stat(file)).mode & 0o777, 0o604);
});

test("a full file that cannot be renamed takes the lines that follow, until it can be", async (context) => {
  const { file, log, problems } = await scene(context, { maxFileSize: 10, maxFiles: 2 });
  await mkdir(`${file}.1`);

  for (const text of ["first line", "second line", "third line"]) log(text);
  const full = await readFile(file, "utf8");
  await rm(`${file}.1`, { recursive: true });
  for (const text of ["fourth line", "fifth line"]) log(text);

  assert.equal(full, "first line\nsecond line\nthird line\n");
  assert.equal(await readFile(file, "utf8"), "fifth line\n");
  assert.equal(problems.length, 2);
  assert.match(String(problems[0]), /cannot write: .*rename/);
  assert.match(String(problems[1]), /writes again/);
});

test("a removed file, and a removed folder, are created again", async (context) => {
  const { folder, log, problems } = await scene(context, {});
  const file = path.join(folder, "agent.log");

  log("before");
  await rm(file);
  log("file");
  assert.equal(await readFile(file, "utf8"), "file\n");
  await mkdir(path.join(folder, "away"));
  await rename(file, path.join(folder, "away", "agent.log"));
  log("moved");

  assert.equal(await readFile(file, "utf8"), "moved\n");
  assert.deepEqual(problems, []);
});

test("with copytruncate the lines go on at the beginning of the file, and its own limit counts from there", async (context) => {
  const { file, log } = await scene(context, { maxFileSize: 20 });

  log("0123456789abcd");
  await copyFile(file, `${file}.copy`);
  await truncate(file, 0);
  log("0123456789abcd");

  assert.equal(await readFile(`${file}.copy`, "utf8"), "0123456789abcd\n");
  assert.equal(await readFile(file, "utf8"), "0123456789abcd\n");
  await assert.rejects(stat(`${file}.1`), "it was not full, so the appender did not rotate it");
});

test("a pipe in place of the file, which nobody reads, does not hold up who logs, and is a problem", async (context) => {
  const { file, log, problems } = await scene(context);
  execFileSync("mkfifo", [file]);

  log("lost");
  await rm(file);
  log("written");

  assert.equal(await readFile(file, "utf8"), "written\n");
  assert.match(problems[0] ?? "", /ENXIO/);
});

test("a pipe in place of the file that another process reads gets every line, also more than it holds at once", async (context) => {
  const { file, log, problems } = await scene(context);
  execFileSync("mkfifo", [file]);
  // Both ends: to open one waits for the other.
  const ends = await open(file, "r+");
  const copy = `${file}.copy`;
  const reader = spawn("sh", ["-c", 'exec cat > "$0"', copy], { stdio: [ends.fd, "inherit", "inherit"] });
  context.after(() => reader.kill());
  await until(
    () => stat(copy).catch(() => undefined),
    (found) => found !== undefined,
  );
  const written = Array.from({ length: 300 }, (_, at) => `${at} ${"x".repeat(1000)}`);

  for (const text of written) log(text);
  const whole = written.map((text) => `${text}\n`).join("");
  await until(
    () => readFile(copy, "utf8"),
    (text) => text.length >= whole.length,
  );
  await ends.close();

  assert.equal(await readFile(copy, "utf8"), whole);
  assert.deepEqual(problems, []);
});
