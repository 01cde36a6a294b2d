import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigurationInput } from "../../../core/configuration/read-configuration.js";
import { changed, faultTexts, read } from "../../support/configuration.js";
import { speltCatalogue as catalogue, old } from "../../support/spelt-plugin.js";

function readSink(type: string, lines: readonly string[] = [], input: Partial<ConfigurationInput> = {}) {
  const text = [changed("type = rdb", `type = ${type}`), ...lines.map((line) => `a1.sinks.s.${line}`)].join("\n");
  const configuration = read(text, { catalogue, ...input });
  const [sink] = configuration.topology?.sinks ?? [];
  return { sink, faults: faultTexts(configuration) };
}

test("a class name is read as a type with its properties, and reported with the new spelling", () => {
  const { sink, faults } = readSink(old("SeaSink"));

  assert.equal(sink?.definition.type, "store");
  assert.deepEqual(sink.config, {
    store_kind: "sea",
    store_host: "localhost",
    store_port: 3306,
    store_password: "",
    layout: "row",
  });
  assert.deepEqual(faults, [
    'notice line 8: a1.sinks.s.type = "org.example.SeaSink": is an old spelling; the new one is "store", with ' +
      "store_kind = sea, store_port = 3306, layout = row unless the file says otherwise",
  ]);
});

test("properties of the file take precedence over those of a class name", () => {
  const { sink } = readSink(old("SeaSink"), ["layout = column", "sea_port = 3307"]);

  assert.equal(sink?.config["layout"], "column");
  assert.equal(sink.config["store_port"], 3307);
});

test("of a property of the predecessor that is none here the warning says what to do instead", () => {
  const { faults } = readSink("store", ["sea_level = 3"]);

  assert.deepEqual(faults, [
    'warning line 10: a1.sinks.s.sea_level = "3": is not a property of the sink "store" and has no effect; the sea has none here',
  ]);
});

test("a value that counts here and did not there is a warning that hides secrets", () => {
  const { sink, faults } = readSink(old("SeaSink"), ["sea_password = salt", "sea_host = NORTH"]);

  assert.equal(sink?.config["store_password"], "salt");
  assert.equal(sink.config["store_host"], "north");
  assert.deepEqual(
    faults.filter((fault) => !fault.includes("spelling")),
    [
      'warning line 10: a1.sinks.s.sea_password = "***": is known by all fish',
      'notice line 11: a1.sinks.s.sea_host = "NORTH": is read as "north"',
    ],
  );
});

test("a value is read as here with the new name of the type, or from the property's own variable", () => {
  const input = { env: { STORE_HOST: "NORTH" } };

  assert.equal(readSink("store", ["store_host = NORTH"]).sink?.config["store_host"], "NORTH");
  assert.equal(readSink(old("SeaSink"), [], input).sink?.config["store_host"], "NORTH");
  assert.equal(readSink(old("SeaSink"), [], { env: { SEA_HOST: "NORTH" } }).sink?.config["store_host"], "north");
});

test("a property in old spelling is reported with the new one, at its line", () => {
  const { sink, faults } = readSink(old("SeaSink"), ["sea_host = db", "sea_password = secret"]);

  assert.equal(sink?.config["store_host"], "db");
  assert.deepEqual(faults.slice(1), [
    'notice line 10: a1.sinks.s.sea_host: is an old spelling; the new one is "store_host"',
    'notice line 11: a1.sinks.s.sea_password: is an old spelling; the new one is "store_password"',
  ]);
});

test("of a property in both spellings the new one is used", () => {
  const { sink, faults } = readSink(old("SeaSink"), ["sea_host = a", "store_host = b"]);

  assert.equal(sink?.config["store_host"], "b");
  assert.ok(faults.includes('warning line 10: a1.sinks.s.sea_host: has no effect: "store_host" is given too'));
});

test("a fault of a property in old spelling names what the file holds", () => {
  const { faults } = readSink(old("SeaSink"), ["sea_port = abc"]);

  assert.ok(faults.some((text) => text.startsWith('error line 10: a1.sinks.s.sea_port = "abc": must be')));
});

test("a misspelt old name is a warning with the new name, and a secret is not shown", () => {
  const { faults } = readSink(old("SeaSink"), ["sea_Host = db", "sea_pasword = hush"]);

  const warnings = faults.filter((text) => text.startsWith("warning"));
  assert.deepEqual(warnings, [
    'warning line 10: a1.sinks.s.sea_Host = "db": is not a property of the sink "store" and has no effect; did you mean "store_host"?',
    'warning line 11: a1.sinks.s.sea_pasword = "***": is not a property of the sink "store" and has no effect; did you mean "store_password"?',
  ]);
});

test("a prefix of another spelling is an unknown property", () => {
  const { faults } = readSink(old("LandSink"), ["sea_host = db"]);

  assert.ok(faults.some((text) => text.startsWith("warning line 10: a1.sinks.s.sea_host")));
});

const variables = [
  { what: "overrides the file", env: { SEA_HOST: "old" }, lines: ["store_host = file"], host: "old" },
  { what: "gives way to the new one", env: { SEA_HOST: "old", STORE_HOST: "new" }, lines: [], host: "new" },
  { what: "is taken as it is", env: { SEA_HOST: "a$${b}${c}" }, lines: [], host: "a$${b}${c}" },
  { what: "counts as not set when empty", env: { SEA_HOST: "" }, lines: ["store_host = file"], host: "file" },
  { what: "of another spelling does not count", env: { LAND_HOST: "land" }, lines: [], host: "localhost" },
] as const;
for (const { what, env, lines, host } of variables) {
  test(`an old variable ${what}`, () => {
    assert.equal(readSink(old("SeaSink"), lines, { env }).sink?.config["store_host"], host);
  });
}

test("an old variable in quotes is taken with them, with a warning", () => {
  const { sink, faults } = readSink(old("SeaSink"), [], { env: { SEA_HOST: '"db"' } });

  assert.equal(sink?.config["store_host"], '"db"');
  assert.ok(
    faults.includes("warning SEA_HOST: is in quotes, which are part of the value; remove them unless they are meant"),
  );
});

test("an old variable is read under the new type when the properties mean the same", () => {
  const env = { SEA_HOST: "sea", LAND_HOST: "land" };

  assert.equal(readSink("store", [], { env }).sink?.config["store_host"], "land");
  assert.equal(readSink("store", ["store_kind = sea"], { env }).sink?.config["store_host"], "sea");
});

test("an old variable may give a property that the kernel reads of a sink", () => {
  const { sink, faults } = readSink("store", ["store_kind = sea"], { env: { SEA_BATCH: "50" } });

  assert.equal(sink?.batching.batchSize, 50);
  assert.deepEqual(faults, [
    'notice SEA_BATCH: is an old name of a variable; the new one is the property "batch_size" of the file',
  ]);
});

test("an old variable may name a file; with the direct one it is an error, and no secret is shown", () => {
  const file = readSink(old("SeaSink"), [], { env: { SEA_PASS_FILE: "/run/secret" } });
  const both = readSink(old("SeaSink"), [], { env: { SEA_PASS_FILE: "/run/secret", SEA_PASS: "hush" } });
  const missing = readSink(old("SeaSink"), [], { env: { SEA_PASS_FILE: "/none" } });

  assert.equal(file.sink?.config["store_password"], "from the file");
  assert.ok(both.faults.includes("error SEA_PASS_FILE: is set, and so is SEA_PASS; set only one of the two"));
  assert.ok(!both.faults.join().includes("hush"));
  assert.ok(missing.faults.some((text) => text.startsWith('error SEA_PASS_FILE = "/none": names a file that cannot')));
});
