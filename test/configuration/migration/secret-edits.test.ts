import assert from "node:assert/strict";
import { test } from "node:test";
import { migration } from "../../../core/configuration/migration/migration.js";
import { changed, read } from "../../support/configuration.js";
import { speltCatalogue as catalogue, old } from "../../support/spelt-plugin.js";

const before = changed("type = rdb", `type = ${old("SeaSink")}`);

function migrated(...lines: readonly string[]) {
  const result = migration([before, ...lines].join("\n"), catalogue, { secrets: "as-variables" });
  return { ...result, lines: result.text.split("\n").slice(12) };
}

test("a variable replaces a password, and the line of the old file is named", () => {
  const { lines, variables } = migrated("a1.sinks.s.sea_password = hush");

  assert.deepEqual(lines, [
    "# A1_SINKS_S_STORE_PASSWORD must hold the value of line 10 of the old file:",
    "a1.sinks.s.store_password = ${env:A1_SINKS_S_STORE_PASSWORD}",
  ]);
  assert.deepEqual(variables, [{ variable: "A1_SINKS_S_STORE_PASSWORD", line: 10 }]);
});

test("with the variables the new file means the same as the old one", () => {
  const { text, variables } = migrated("a1.sinks.s.sea_password = hush");
  const env = Object.fromEntries(variables.map(({ variable }) => [variable, "hush"]));

  const oldOne = read([before, "a1.sinks.s.sea_password = hush"].join("\n"), { catalogue });
  const newOne = read(text, { catalogue, env });

  assert.deepEqual(newOne.faults, []);
  assert.deepEqual(newOne.topology, oldOne.topology);
});

const cases = [
  { what: "a value over several lines", lines: ["a1.sinks.s.sea_password = hu\\", "  sh"] },
  {
    what: "the first of two lines for one password",
    lines: ["a1.sinks.s.sea_password = hush", "a1.sinks.s.sea_password = x"],
  },
  { what: "a comment", lines: ["#a1.sinks.s.sea_password = hush"] },
  { what: "a comment with words before it", lines: ["# it was: a1.sinks.s.password = hush, or not"] },
  { what: "a comment with an address", lines: ["# see mqtt://me:hush@broker"] },
  { what: "a comment over several lines", lines: ["! a1.sinks.s.sea_password = x\\", "  hush", ""] },
  { what: "a misspelt password", lines: ["a1.sinks.s.sea_pasword = hush", "a1.sinks.s.store_pasword = hush"] },
  { what: "a property that nobody knows", lines: ["a1.sinks.s.api_token = hush"] },
  {
    what: "a component whose plugin is not known",
    lines: ["a1.sinks.t.type = org.example.T", "a1.sinks.t.password = hush"],
  },
  { what: "an agent that is not one", lines: ["something.password: hush"] },
  { what: "an address with a password", lines: ["a1.sinks.s.odd_url = mqtt://me:hush@broker"] },
  { what: "a default of a variable", lines: ["a1.sinks.s.sea_password = ${env:P:-hush}"] },
] as const;
for (const { what, lines } of cases)
  test(`of ${what} no secret is shown`, () => {
    const { text } = migrated(...lines);

    assert.ok(!text.includes("hush") && !text.includes("sh\n"), text);
  });

test("references to variables and values that are no secrets are unchanged", () => {
  const kept = ["a1.sinks.s.store_password = ${env:P}", "a1.sinks.s.store_host = tokenhost", "# a note: nothing else"];

  assert.deepEqual(migrated(...kept).lines, kept);
});

test("a comment of millions of characters is searched for secrets without reading it again and again", () => {
  // A search from each of its characters on does not end.
  const word = "x".repeat(2_000_000);

  const { lines } = migrated(`# ${word}`);

  assert.ok(lines.includes(`# ${word}`));
});

test("a password among the options of a setting, or of a comment, is not printed", () => {
  const { text, lines } = migrated(
    "a1.sinks.s.options = ssl=true&password=hush",
    "# a1.sinks.s.options = password=hush",
    "a1.sinks.s.other = sslmode=require&sslkey=/etc/key.pem",
  );

  assert.doesNotMatch(text, /hush/);
  assert.match(lines.join("\n"), /sslmode=require&sslkey=\/etc\/key\.pem/);
});
