import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { httpAgent } from "../support/http-agent.js";
import { runCli, runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const properties = httpAgent({ channel: "memory", sink: "rdb", lines: ["a.sinks.k.rdb_dialect = sqlite"] });

/** FILE is a properties file without a fault, NONE a path at which nothing is. */
const reading = [
  "dead-letters list --data-dir NONE",
  "dead-letters show x --data-dir NONE",
  "sql SELECT --data-dir NONE",
  "sql SELECT --config FILE --data-dir NONE",
  "tables list --data-dir NONE",
  "tables list --config FILE --data-dir NONE",
  "export --output - --data-dir NONE",
  "export --output - --config FILE --data-dir NONE",
  "verify --management-port 1 --data-dir NONE",
  "verify --management-port 1 --config FILE --data-dir NONE",
  "erase --management-port 1 --entity x --yes --data-dir NONE",
  "erase --management-port 1 --entity x --yes --config FILE --data-dir NONE",
] as const;

for (const line of reading)
  test(`deneb ${line} says that there is no such data directory, and how to give it`, async (context) => {
    const { code, stdout, stderr, none } = await ran(context, line);

    assert.ok(code === 1 || code === 2, String(code));
    assert.equal(stdout, "");
    assert.ok(stderr.includes(`there is no data directory "${none}"; give that of the agent with --data-dir`), stderr);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
  });

for (const line of ["tables list", "erase --table svc.room --yes"])
  test(`deneb ${line} with a file does not take a folder that is not there for an empty database`, async (context) => {
    const folder = await tempFolder(context);
    const file = path.join(folder, "agent.properties");
    const missing = path.join(folder, "data");
    await writeFile(file, properties);

    const { code, stdout, stderr } = await runCli([...line.split(" "), "--config", file], { DENEB_DATA_DIR: missing });

    assert.notEqual(code, 0, stdout);
    assert.ok(stderr.includes(`there is no folder "${missing}" of database files; give that of the agent`), stderr);
    assert.equal(existsSync(missing), false);
  });

const files = [
  "run --config NONE",
  "check --config NONE",
  "migrate --config NONE",
  "sql SELECT --config NONE",
  "tables list --config NONE",
  "export --output - --config NONE",
  "verify --management-port 1 --config NONE",
  "erase --management-port 1 --entity x --yes --config NONE",
  "explain --config NONE FILE",
  "explain --config FILE NONE",
  "run --config FILE --data-dir DATA --management-port 0 --management-tls-key NONE --management-tls-certificate NONE",
  "run --config FILE --data-dir DATA --management-port 0 --management-admin-tokens-file NONE",
  "dead-letters list --token-file NONE",
  "dead-letters list --ca-file NONE",
  "dead-letters list --client-cert NONE --client-key NONE",
  "check --config FILE --plugins NONE",
  "plugin test NONE",
  "plugin dev NONE",
] as const;

for (const line of files)
  test(`deneb ${line} names the file or folder that it does not find`, async (context) => {
    const { code, stdout, stderr, none } = await ran(context, line);

    const said = `${stdout}${stderr}`;
    // A plugin folder that is not there leaves the others.
    assert.equal(code === 0, line.includes("--plugins"));
    assert.ok(said.includes(none), said);
    assert.match(said, /could not be read|cannot be read|no such file|is not a folder|holds no plugin|ENOENT/);
  });

test("a configuration folder that does not exist is a warning of run", async (context) => {
  const { stdout, none } = await ran(
    context,
    "run --config FILE --data-dir DATA --management-configuration-folder NONE --management-admin-tokens-file NONE",
  );

  const { level, key, value, reason } = JSON.parse(stdout.split("\n", 1).join());
  assert.deepEqual([level, key, value], ["warn", "--management-configuration-folder", none]);
  assert.match(reason, /^there is no such folder; create it/);
});

test("a data directory that is a file is said to be one", async (context) => {
  const { stderr } = await ran(context, "dead-letters list --data-dir FILE");

  assert.match(stderr, /^deneb: "\S+" is no directory; give that of the agent with --data-dir/);
});

async function ran(context: TestContext, line: string) {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  const none = path.join(folder, "no", "such");
  await writeFile(file, properties);
  const words = new Map([
    ["FILE", file],
    ["NONE", none],
    ["DATA", path.join(folder, "data")],
    ["SELECT", "select 1"],
  ]);
  const args = line.split(" ").map((word) => words.get(word) ?? word);
  const isLong = ["run", "plugin"].includes(args[0] ?? "");
  return { ...(await (isLong ? runCli(args) : runHere(args))), none };
}
