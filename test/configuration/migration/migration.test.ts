import assert from "node:assert/strict";
import { test } from "node:test";
import { migration } from "../../../core/configuration/migration/migration.js";
import { changed, read } from "../../support/configuration.js";
import { speltCatalogue as catalogue, old } from "../../support/spelt-plugin.js";

const oldFile = `
# The old agent.
${changed("type = rdb", `type = ${old("SeaSink")}`)}

  a1.sinks.s.sea_host : db
a1.sinks.s.store_port = 3307
a1.sinks.s.sea_level \\
  = 12
a1.sinks.s.sea_password = hush
a1.sinks.s.batch_size = 5
`.replace("type = http", "type = org.example.source.HTTPSource");

test("a file is written in new spelling, with its comments, order and layout", () => {
  const { text } = migration(oldFile, catalogue);

  assert.equal(
    text,
    `
# The old agent.
a1.sources = http-source
a1.channels = c
a1.sinks = s
a1.sources.http-source.type = http
a1.sources.http-source.channels = c
a1.sources.http-source.handler = ngsi
a1.channels.c.type = memory
a1.sinks.s.type = store
a1.sinks.s.store_kind = sea
a1.sinks.s.layout = row
a1.sinks.s.channel = c

  a1.sinks.s.store_host : db
a1.sinks.s.store_port = 3307
# "sea_level" is not supported: the sea has none here:
# a1.sinks.s.sea_level \\
#   = 12
a1.sinks.s.store_password = hush
a1.sinks.s.batch_size = 5
`,
  );
});

test("the migrated file means the same as the old one and has no faults; those of the old one are reported", () => {
  const { text, faults } = migration(oldFile, catalogue);

  const [before, after] = [read(oldFile, { catalogue }), read(text, { catalogue })];
  assert.deepEqual(
    faults.map(({ key, line }) => [key, line]),
    [["a1.sinks.s.sea_level", 15]],
  );
  assert.deepEqual(after.faults, []);
  assert.deepEqual(after.topology, before.topology);
});

test("a file in new spelling is unchanged", () => {
  const file = changed("type = rdb", "type = store");

  assert.equal(migration(file, catalogue).text, file);
});

test("a type without a plugin is unchanged, with a fault that names it", () => {
  const { text, faults } = migration(changed("type = rdb", "type = org.example.NoSuchSink"), catalogue);

  assert.match(text, /type = org\.example\.NoSuchSink/);
  assert.deepEqual(
    faults.map(({ severity, key }) => [severity, key]),
    [["error", "a1.sinks.s.type"]],
  );
});

test("of a property in both spellings the old one becomes a comment", () => {
  const file = [
    changed("type = rdb", `type = ${old("SeaSink")}`),
    "a1.sinks.s.sea_host = a",
    "a1.sinks.s.store_host = b",
  ];

  const { text } = migration(file.join("\n"), catalogue);

  assert.match(text, /^# "sea_host" has no effect: "store_host" is given too:\n# a1\.sinks\.s\.sea_host = a\n/m);
});

test("parts of a source are migrated too", () => {
  const file = [
    changed("handler = ngsi", "interceptors = ts"),
    "a1.sources.http-source.interceptors.ts.type = timestamp",
    "a1.sources.http-source.interceptors.ts.odd = 1",
  ];

  const { text } = migration(file.join("\n"), catalogue);

  assert.match(text, /^# "odd" is not a property of the interceptor "timestamp" and has no effect:\n# a1/m);
});
