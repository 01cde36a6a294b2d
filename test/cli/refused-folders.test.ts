import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { RotatingFile } from "../../core/logging/rotating-file.js";
import { SqliteDriver } from "../../plugins/rdb-sink/sqlite/driver.js";
import { entity, eventOf, never, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { durable } from "../support/logging-workers.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const skip = process.platform === "linux" ? false : "no /proc";
/** No folder can be made there, and the system says that something is missing. */
const refused = "/proc/deneb-test/below";

const commands = [
  { name: "docs", args: ["docs", "--out", refused] },
  { name: "init", args: ["init", `${refused}/a.properties`] },
  { name: "plugin new", args: ["plugin", "new", "sink", "my-sink", "--into", refused] },
];

for (const { name, args } of commands)
  test(`deneb ${name} with a folder that cannot be made ends with an error that names it`, { skip }, async () => {
    const { code, stdout, stderr } = await runCli(args);

    assert.ok(code > 0, `exit code ${code}`);
    assert.ok(`${stdout}${stderr}`.includes("/proc/deneb-test"), `${stdout}${stderr}`);
  });

test("deneb export to a folder that cannot be made ends with an error that names it", { skip }, async (context) => {
  const folder = await tempFolder(context);
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  await sink.persist({ events: [eventOf(entity("e", { a: "1" }), "s")] }, never);
  await sink.stop(never);

  const { code, stderr } = await runCli(["export", "--data-dir", folder, "--table", "s.e", "--output", `${refused}/`]);

  assert.equal(code, 1);
  assert.ok(stderr.includes("/proc/deneb-test"), stderr);
});

test("an rdb_folder that cannot be made is an error of each write, and not a write that never ends", {
  skip,
}, async (context) => {
  const driver = new SqliteDriver(refused);
  context.after(() => driver.close());

  await assert.rejects(driver.probe(never), { code: "ENOENT" });
});

test("a log file in a folder that cannot be made is an error", { skip }, () => {
  const file = new RotatingFile({ file: path.join(refused, "a.log"), maxFileSize: 1000, maxFiles: 2 });

  assert.throws(() => file.write("line\n"), { code: "ENOENT" });
});

for (const { temporary, reason } of [
  {
    temporary: "/nowhere/at/all",
    reason: /cannot make a folder for the sockets of the workers: .*ENOENT.*; name another/,
  },
  {
    temporary: `/${"t".repeat(100)}`,
    reason: /"\/t+" is too long by 14 bytes .*; name another .* in the variable TMPDIR/,
  },
])
  test(`workers whose TMPDIR is ${temporary.slice(0, 20)} are refused with what to do`, async (context) => {
    const config = path.join(await tempFolder(context), "a.properties");
    await writeFile(config, durable);

    const { code, stderr } = await runCli(["run", "--config", config, "--workers", "2"], { TMPDIR: temporary });

    assert.equal(code, 2);
    assert.match(stderr, /^error: .*workers = 2: /m);
    assert.match(stderr, reason);
  });
