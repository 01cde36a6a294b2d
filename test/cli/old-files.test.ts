import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { check } from "../../core/cli/check.js";
import { exitCodes } from "../../core/cli/command.js";
import { migrate } from "../../core/cli/migrate.js";
import { recordingTerminal } from "../support/recording-terminal.js";
import { tempFolder } from "../support/temp-folder.js";

const cygnus = "com.telefonica.iot.cygnus";
const source = `
a.sources = http-source
a.sources.http-source.type = org.apache.flume.source.http.HTTPSource
a.sources.http-source.port = 5050
a.sources.http-source.handler = ${cygnus}.handlers.NGSIRestHandler
a.sources.http-source.interceptors = ts
a.sources.http-source.interceptors.ts.type = timestamp`;
const sink = `
a.sinks.postgresql-sink.channel = test-channel
a.sinks.postgresql-sink.enable_grouping = false
a.sinks.postgresql-sink.attr_persistence = column`;

/** What the image of the NGSI-LD agent writes when a host is set. */
const ofImage = `${source}
a.sinks = postgresql-sink  postgresql-sink
a.channels = test-channel postgresql-channel
a.sources.http-source.channels = test-channel postgresql-channel
a.channels.test-channel.type = memory
a.sinks.postgresql-sink.type = ${cygnus}.sinks.NGSIPostgreSQLSink${sink}
a.sinks.postgresql-sink.postgresql_port =
a.sinks.postgresql-sink.postgresql_database = MyDB
a.sinks.postgresql-sink.postgresql_options = sslmode=require
a.sinks.postgresql.backend.enable_cache = false`;

const cases = [
  {
    what: "a file as the image of the NGSI-LD agent writes it",
    text: ofImage,
    warnings: [8, 9, 10, 16, 18, 19],
    becomes: [/^a\.sinks = postgresql-sink$/m, /rdb_database = mydb$/m, /^# a\.sinks\.postgresql\.backend/m],
  },
  {
    what: "the same file with Windows line ends",
    text: ofImage.replaceAll("\n", "\r\n"),
    warnings: [8, 9, 10, 16, 18, 19],
    becomes: [/^a\.channels = test-channel$/m],
  },
  {
    what: "a file whose lists go on in the next line, with a comment between other lines",
    text: ofImage
      .replace("sinks = postgresql-sink  postgresql-sink", "sinks = \\\n  postgresql-sink \\\n  mysql-sink")
      .replace("\na.channels.", "\n# channels\na.channels."),
    warnings: [8, 11, 12, 19, 21, 22],
    becomes: [/^a\.sinks = postgresql-sink\na\.channels = test-channel$/m],
  },
  {
    what: "a file with the name of the sink that the guide of the NGSI-LD agent has",
    text: ofImage.replace("NGSIPostgreSQLSink", "NGSILDPostgreSQLSink").replace(/\n.*attr_persistence.*/, ""),
    warnings: [8, 9, 10, 15, 17, 18],
    becomes: [/^a\.sinks\.postgresql-sink\.type = rdb$/m],
  },
  {
    what: "one file of several, with all channels listed",
    text: ofImage.replaceAll(/test-channel postgresql-channel/g, "mongo-channel test-channel ckan-channel"),
    warnings: [8, 9, 9, 10, 10, 16, 18, 19],
    becomes: [/^a\.sources\.http-source\.channels = test-channel$/m],
  },
] as const;
for (const { what, text, warnings, becomes } of cases)
  test(`${what} passes the check with warnings, and migrates to one that has none`, async (context) => {
    const before = await checked(context, text);
    const { code, out } = await migrated(context, text);
    const after = await checked(context, out);

    assert.equal(before.code, exitCodes.success);
    assert.deepEqual(linesOf(before.err, "warning"), warnings);
    assert.match(before.out, new RegExp(`is valid: .*; ${warnings.length} warnings$`));
    assert.equal(code, exitCodes.success);
    for (const line of becomes) assert.match(out, line);
    assert.deepEqual([after.code, after.err], [exitCodes.success, []]);
  });

test("a setting for TLS that the NGSI-LD agent ignored is said with its line, and a lower case database too", async (context) => {
  const { err } = await checked(context, ofImage);

  const text = err.join("\n");
  assert.match(
    text,
    /^warning: line 18: \S+_options = "sslmode=require": asks for TLS, and counts here; .* sslmode=prefer$/m,
  );
  assert.match(text, /^notice: line 17: \S+_database = "MyDB": is read as "mydb", as the original read it$/m);
  const without = await checked(context, ofImage.replace("sslmode=require", "sslmode=prefer").replace("MyDB", "mydb"));
  assert.ok(!/TLS|is read as/.test(without.err.join("\n")));
});

test("a migration that leaves something out has its own exit code, and says so with the line of the old file", async (context) => {
  const text = `${ofImage.replace("enable_grouping = false", "enable_grouping = true")}
a.sinks.mongo-sink.type = ${cygnus}.sinks.NGSIMongoSink
a.sinks.mongo-sink.channel = test-channel`.replace("postgresql-sink  postgresql-sink", "mongo-sink postgresql-sink");

  const { code, out, err } = await migrated(context, text);
  const { code: checkCode, err: faults } = await checked(context, out);

  assert.equal(code, exitCodes.leftOut);
  assert.deepEqual(linesOf(err, "left out"), [14, 20]);
  assert.match(err.join("\n"), /NGSIMongoSink of the original is not part of Deneb; there is no sink for MongoDB/);
  assert.doesNotMatch([...err, out].join("\n"), /mongo.*did you mean/i);
  assert.deepEqual([checkCode, faults], [exitCodes.success, []]);
  assert.equal((await checked(context, text)).code, exitCodes.badInput);
});

test("of the TLS of Flume the check says what the source needs instead", async (context) => {
  const tls = ["ssl = true", "keystorePassword = hush"].map((line) => `a.sources.http-source.${line}`);

  const { code, err } = await checked(context, [ofImage, ...tls].join("\n"));

  assert.equal(code, exitCodes.success);
  assert.match(
    err.join("\n"),
    /ssl = "true": .* has no effect; the source speaks HTTP without tls_key and tls_certificate/,
  );
  assert.match(err.join("\n"), /keystorePassword = "\*\*\*": .* without tls_key/);
});

test("a migration of a file that has errors has that exit code too", async (context) => {
  const { code, err } = await migrated(context, `${ofImage}\na.sinks.postgresql-sink.batch_size = many`);

  assert.equal(code, exitCodes.leftOut);
  assert.deepEqual(linesOf(err, "error"), [20]);
});

test("a migrated password is a variable: the check warns while it is not set", async (context) => {
  const { out } = await migrated(context, `${ofImage}\na.sinks.postgresql-sink.postgresql_password = hush`);
  const { code, err } = await checked(context, out);

  assert.equal(code, exitCodes.success);
  assert.match(
    err.join("\n"),
    /^warning: line \d+: \S+_password = "\*\*\*": the environment variable "\w+" is not set/m,
  );
});

async function checked(context: TestContext, text: string) {
  const { terminal, out, err } = recordingTerminal();
  const code = await check({ config: await fileOf(context, text) }, terminal);
  return { code, out: out.join("\n"), err };
}

async function migrated(context: TestContext, text: string) {
  const { terminal, out, err } = recordingTerminal();
  const code = await migrate({ config: await fileOf(context, text) }, terminal);
  return { code, out: out.join("\n"), err };
}

async function fileOf(context: TestContext, text: string): Promise<string> {
  const file = path.join(await tempFolder(context), "agent.properties");
  await writeFile(file, text);
  return file;
}

function linesOf(messages: readonly string[], severity: string): readonly number[] {
  return messages.flatMap((message) => {
    const [, line] = new RegExp(`^${severity}: line (\\d+): `).exec(message) ?? [];
    return line === undefined ? [] : [Number(line)];
  });
}
