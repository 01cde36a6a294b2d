import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import type { LogFormat } from "../../core/logging/logging.js";
import { httpAgent } from "../support/http-agent.js";
import { installedProgram } from "../support/installed-program.js";
import { testLogging } from "../support/logging.js";
import { main, runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const ESC = "\u001b";
const text = /^\[\d{4}-\d\d-\d\dT[\d:.]{12}Z\] INFO \(test-agent\/c\): said n=1\n$/;
const json = /^\{"level":"info",.*"msg":"said"\}\n$/;
const pattern = /^INFO said n=1\n$/;
const files = {
  none: undefined,
  json: { out: { class: "console", layout: "json" } },
  pattern: { out: { class: "org.apache.log4j.ConsoleAppender", layout: "pattern", ConversionPattern: "%p %m%n" } },
  pretty: { out: { class: "console", layout: "pretty" } },
};
const cases: readonly {
  readonly file: keyof typeof files;
  readonly format: LogFormat;
  readonly screen: boolean;
  readonly shows: RegExp;
}[] = [
  { file: "none", format: "auto", screen: false, shows: json },
  { file: "none", format: "auto", screen: true, shows: text },
  { file: "none", format: "json", screen: true, shows: json },
  { file: "none", format: "pretty", screen: false, shows: text },
  { file: "json", format: "auto", screen: false, shows: json },
  { file: "json", format: "auto", screen: true, shows: text },
  { file: "pattern", format: "auto", screen: true, shows: pattern },
  { file: "pattern", format: "auto", screen: false, shows: pattern },
  { file: "pattern", format: "pretty", screen: false, shows: text },
  { file: "pattern", format: "json", screen: true, shows: json },
  { file: "pretty", format: "auto", screen: false, shows: text },
  { file: "pretty", format: "json", screen: false, shows: json },
];

for (const { file, format, screen, shows } of cases)
  test(`with --log-format ${format}, ${screen ? "on a terminal" : "in a pipe"} and a logging file with ${file}, lines look like ${shows.source.slice(0, 12)}`, async (context) => {
    const console: string[] = [];
    const folder = await folderWith(context, files[file]);
    const { loggers } = await testLogging(folder, {
      console,
      format,
      ...(screen ? { screen: { colors: false } } : {}),
    });

    loggers.of("c").info({ n: 1 }, "said");

    assert.equal(console.length, 1);
    assert.match(console.join(), shows);
  });

test("appenders that write files keep their layout whatever the format of the console is", async (context) => {
  const folder = await folderWith(context, { kept: { class: "file", layout: "json" } });
  const { loggers, close } = await testLogging(folder, { format: "pretty", screen: { colors: true } });

  loggers.of("c").info({}, "said");
  close();

  assert.equal(JSON.parse(await readFile(path.join(folder, "logs", "kept.log"), "utf8")).msg, "said");
});

for (const colors of [true, false])
  test(`text for people is one line, and no value can ${colors ? "add to its colors" : "color it"}`, async (context) => {
    const console: string[] = [];
    const { loggers } = await testLogging(await folderWith(context), { console, format: "pretty", screen: { colors } });
    const hostile = "\u001b[2J\u001b]0;t\u0007\r\n[2026-01-01T00:00:00.000Z] INFO (a/b): ready\u009b31m\u202e\u2028";

    loggers
      .of(hostile)
      .error({ [hostile]: 1, deep: { [hostile]: [hostile] }, stack: hostile, reason: hostile }, hostile);
    loggers.of("c").error({ type: "Error", stack: hostile, err: new Error(hostile) }, "failed");

    assert.equal(console.length, 2);
    for (const line of console) {
      const shown = line.replaceAll(new RegExp(`${ESC}\\[\\d\\d?m`, "g"), "");
      assert.equal(line === shown, !colors);
      assert.match(shown, /^[\x20-\x7e]+\n$/);
      assert.match(shown, /\\u001b\[2J/);
    }
  });

test("secrets are masked in text for people", async (context) => {
  const console: string[] = [];
  const { loggers } = await testLogging(await folderWith(context), { console, format: "pretty" });

  loggers.of("c").info({ rdb_password: "hush", inner: { token: "hush" } }, "said");

  assert.match(console.join(), /rdb_password=\*\*\* inner=\{"token":"\*\*\*"\}/);
});

test("the layout of a running appender changes to pretty and back, and is shown", async (context) => {
  const console: string[] = [];
  const { loggers, running } = await testLogging(await folderWith(context), { console });
  const layouts: unknown[] = [];

  for (const layout of ["pretty", "json", "pattern"]) {
    await running.appenders.put({ name: "console", layout, conversionPattern: "%p %m%n" });
    layouts.push(await running.appenders.list());
    loggers.of("c").info({ n: 1 }, "said");
  }

  assert.deepEqual(
    layouts,
    ["pretty", "json", "%p %m%n"].map((layout) => [{ name: "console", layout }]),
  );
  for (const [index, shows] of [text, json, pattern].entries()) assert.match(console[index] ?? "", shows);
});

const script = await installedProgram("script");
test("an agent writes for people on a terminal, in colors that NO_COLOR turns off, and JSON where its output goes to a program", {
  skip: (process.platform !== "linux" || script === undefined) && "script of util-linux makes the terminal",
}, async (context) => {
  const folder = await folderWith(context);
  const file = path.join(folder, "agent.properties");
  await writeFile(file, broken);
  const flags = `run --config ${file} --data-dir ${path.join(folder, "data")} --management-port 0 --management-tls-key none --management-tls-certificate none`;
  const command = `"${process.execPath}" "${main}" ${flags}`;

  const inColors = await onTerminal(command, { TERM: "xterm-256color" });
  const plain = await onTerminal(command, { TERM: "xterm-256color", NO_COLOR: "1" });
  const piped = await runCli(flags.split(" "));

  assert.ok(
    inColors.includes(`${ESC}[31mERROR${ESC}[39m (a/deneb): ${ESC}[36mthe agent cannot run reason=reading "none"`),
  );
  assert.match(plain, /^\[[^\]]+\] ERROR \(a\/deneb\): the agent cannot run reason=reading "none"/m);
  assert.equal(JSON.parse(piped.stdout).agent, "a");
});

/** A file whose agent ends at once when its management interface has no key. */
const broken = httpAgent({ channel: "memory", sink: "logger" });

function onTerminal(command: string, env: Readonly<Record<string, string>>): Promise<string> {
  // Node takes a terminal of continuous integration for one without colors.
  const { NO_COLOR: _no, FORCE_COLOR: _force, CI: _ci, ...others } = process.env;
  return new Promise((resolve) => {
    execFile(script ?? "", ["-qec", command, "/dev/null"], { env: { ...others, ...env } }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}

async function folderWith(context: TestContext, appenders?: object): Promise<string> {
  const folder = await tempFolder(context);
  if (appenders !== undefined) await writeFile(path.join(folder, "logging.json"), JSON.stringify({ appenders }));
  return folder;
}
