import assert from "node:assert/strict";
import { test } from "node:test";
import { faultText } from "../../../core/configuration/configuration-fault.js";
import { migration } from "../../../core/configuration/migration/migration.js";
import { changed, read } from "../../support/configuration.js";
import { speltCatalogue as catalogue, old } from "../../support/spelt-plugin.js";

const file = changed("type = rdb", `type = ${old("SeaSink")}`);
const mongo = "com.telefonica.iot.cygnus.sinks.NGSIMongoSink";

const cases = [
  { what: "an unlisted component", lines: ["a1.sinks.t.type = store", "a1.sinks.t.channel = c"], isLossy: false },
  { what: "a key that is none", lines: ["odd = 1", "a1.odd = 1"], isLossy: false },
  { what: "a section that is none", lines: ["a1.sinkss.s.type = store", "a1.sinkss.s.channel = c"], isLossy: false },
  { what: "an empty value", lines: ["a1.sinks.s.sea_host ="], isLossy: false },
  {
    what: "the first of two lines for one key",
    lines: ["a1.sinks.s.sea_host = x", "a1.sinks.s.sea_host = y"],
    isLossy: false,
  },
  { what: "a property that is none", lines: ["a1.sinks.s.sea_monster = 1"], isLossy: true },
  { what: "a property that means nothing here", lines: ["a1.sinks.s.layout = ice"], isLossy: true },
] as const;
for (const { what, lines, isLossy } of cases)
  test(`${what} becomes a comment; ${isLossy ? "it" : "nothing"} is lost, and the new file has no faults`, () => {
    const result = migration([file, ...lines].join("\n"), catalogue);

    assert.deepEqual(read(result.text, { catalogue }).faults, []);
    assert.equal(result.isLossy, isLossy);
    for (const { line } of result.faults) assert.ok(line !== undefined && line > 9 && line <= 9 + lines.length);
  });

test("a sink that is not here leaves with its channel, and messages name the lines of the old file", () => {
  const text = [
    file.replace("a1.channels = c", "a1.channels = d c").replace("source.channels = c", "source.channels = d c"),
    "a1.channels.d.type = memory",
    `a1.sinks.t.type = ${mongo}`,
    "a1.sinks.t.channel = d",
    "a1.sinks.t.mongo_password = hush",
  ]
    .join("\n")
    .replace("a1.sinks = s", "a1.sinks = t \\\n  s");

  const { text: now, faults, isLossy } = migration(text, catalogue, { secrets: "as-variables" });

  assert.equal(isLossy, true);
  assert.ok(!now.includes("hush"), now);
  assert.deepEqual(read(now, { catalogue }).faults, []);
  assert.match(now, /^a1\.sinks = s$/m);
  assert.match(now, /^# a1\.sinks\.t: NGSIMongoSink of the original is not part of Deneb.*:\n# a1\.sinks\.t\.type/m);
  assert.deepEqual(
    faults.map((fault) => faultText(fault).split(":", 2).join(":")),
    [
      'line 6: a1.sources.http-source.channels = "d"',
      "line 11: a1.channels.d",
      `line 12: a1.sinks.t.type = "${mongo}"`,
    ],
  );
});

test("a value that counts differently is written as it counts; an expression stays", () => {
  const lines = ["a1.sinks.s.sea_host = NORTH", "a1.sinks.s.store_password = ${NORTH:-NORTH}"];

  const { text } = migration([file, ...lines].join("\n"), catalogue);

  assert.match(text, /^a1\.sinks\.s\.store_host = north$/m);
  assert.match(text, /^a1\.sinks\.s\.store_password = \$\{NORTH:-NORTH\}$/m);
});

test("variables need not be set where a file is migrated", () => {
  const { faults, text } = migration([file, "a1.sinks.s.sea_host = ${HOST}"].join("\n"), catalogue);

  assert.deepEqual(faults, []);
  assert.match(text, /^a1\.sinks\.s\.store_host = \$\{HOST\}$/m);
});
