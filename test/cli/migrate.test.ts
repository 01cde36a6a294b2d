import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { exitCodes } from "../../core/cli/command.js";
import { migrate } from "../../core/cli/migrate.js";
import { recordingTerminal } from "../support/recording-terminal.js";
import { tempFolder } from "../support/temp-folder.js";

const oldFile = `
old.sources = s
old.channels = c
old.sinks = pg
old.sources.s.type = http
old.sources.s.port = 5050
old.sources.s.channels = c
old.sources.s.handler = com.telefonica.iot.cygnus.handlers.NGSIRestHandler
old.channels.c.type = com.telefonica.iot.cygnus.channels.CygnusMemoryChannel
old.sinks.pg.type = com.telefonica.iot.cygnus.sinks.NGSIPostgreSQLSink
old.sinks.pg.channel = c
old.sinks.pg.postgresql_host = db
old.sinks.pg.attr_persistence = column
old.sinks.pg.max_latest_errors = 10
`.trim();

test("a file of Cygnus is printed in new spelling, with a report of the changes", async (context) => {
  const file = path.join(await tempFolder(context), "old.properties");
  await writeFile(file, oldFile);
  const { terminal, out, err } = recordingTerminal();

  const code = await migrate({ config: file }, terminal);

  assert.equal(code, exitCodes.success);
  const text = out.join("\n");
  for (const line of [
    "old.sources.s.handler = ngsi",
    "old.sources.s.handler.ngsi_version = auto",
    "old.channels.c.type = memory",
    "old.sinks.pg.type = rdb",
    "old.sinks.pg.rdb_host = db",
    "old.sinks.pg.max_latest_errors = 10",
  ]) {
    assert.ok(text.split("\n").includes(line), `${line} is printed`);
  }
  for (const word of ["better", "different"]) {
    assert.ok(
      err.some((line) => line.startsWith(`${word}: sink rdb: `)),
      `something is reported as ${word}`,
    );
  }
});

test("a file that does not exist is bad input", async () => {
  const { terminal, err } = recordingTerminal();

  assert.equal(await migrate({ config: "/no/such.properties" }, terminal), exitCodes.badInput);
  assert.match(err.join(), /migrating "\/no\/such\.properties": it cannot be read .*give an existing properties file/);
});

test("secrets are printed on request only", async (context) => {
  const file = path.join(await tempFolder(context), "old.properties");
  await writeFile(file, `${oldFile}\nold.sinks.pg.postgresql_password = hush`);
  const [masked, shown] = [recordingTerminal(), recordingTerminal()];

  await migrate({ config: file }, masked.terminal);
  await migrate({ config: file, withSecrets: true }, shown.terminal);

  const all = [...masked.out, ...masked.err].join("\n");
  assert.ok(!all.includes("hush"));
  assert.match(all, /^old\.sinks\.pg\.rdb_password = \$\{env:OLD_SINKS_PG_RDB_PASSWORD\}$/m);
  assert.match(all, /^secret: set OLD_SINKS_PG_RDB_PASSWORD to the value of line 14/m);
  assert.match(shown.out.join("\n"), /^old\.sinks\.pg\.rdb_password = hush$/m);
});

const management = [
  { port: 5080, env: {}, where: "the default port of the management interface" },
  { port: 8081, env: { DENEB_MANAGEMENT_PORT: "8081" }, where: "the management port of the environment" },
] as const;

for (const { port, env, where } of management)
  test(`a source on ${where} is reported: the printed file would not start`, async (context) => {
    const file = path.join(await tempFolder(context), "old.properties");
    await writeFile(file, oldFile.replace("port = 5050", `port = ${port}`));
    const { terminal, err } = recordingTerminal();

    const code = await migrate({ config: file }, { ...terminal, env });

    assert.equal(code, exitCodes.leftOut);
    assert.ok(
      err.some((line) => /^error: .*old\.sources\.s\.port.* is the port of the management interface too/.test(line)),
      err.join("\n"),
    );
  });
