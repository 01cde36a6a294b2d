import assert from "node:assert/strict";
import { test } from "node:test";
import { propertyTable } from "../../../core/cli/reference-page.js";
import { migration } from "../../../core/configuration/migration/migration.js";
import { shownProperties } from "../../../core/configuration/shown-settings.js";
import { catalogueOf } from "../../../core/registry/discover.js";
import { type AnyPlugin, definePlugin } from "../../../core/sdk/index.js";
import { pluginConformance } from "../../../core/testing/index.js";
import { changed, faultTexts, read } from "../../support/configuration.js";
import { fakePlugins } from "../../support/plugins.js";

const seen: unknown[] = [];

const nested = definePlugin({
  kind: "sink",
  type: "nested",
  summary: "Has fields.",
  stability: "beta",
  config: {
    on: { doc: "When to write.", format: { listOf: ["create", "update", "delete"] }, default: ["create"] },
    retry: {
      doc: "Retries.",
      format: {
        fields: {
          times: { doc: "How often.", format: "count", max: 9, default: 3, env: "NESTED_TIMES" },
          only: { doc: "Errors.", format: "map", default: {} },
          login: {
            doc: "Who.",
            sensitive: true,
            format: {
              fields: { user: { doc: "Name.", format: "text" }, pin: { doc: "Number.", format: "count", default: 0 } },
            },
          },
        },
      },
    },
  },
  check: (config) => {
    seen.push(config);
    return config.retry.times === 9 ? [{ property: "retry.times", reason: "is too often" }] : [];
  },
  create: () => {
    throw new Error("it is not created here");
  },
});

const definitions: readonly AnyPlugin[] = [...fakePlugins, nested];
const { catalogue } = catalogueOf(definitions.map((definition) => ({ definition, origin: "test" })));

function readSink(...lines: readonly string[]) {
  seen.length = 0;
  return read(text(...lines), { catalogue });
}

function text(...lines: readonly string[]): string {
  return [changed("type = rdb", "type = nested"), ...lines.map((line) => `a1.sinks.s.${line}`)].join("\n");
}

test("fields are lines below their property, and the plugin gets them as an object", () => {
  const lines = ["on = update, delete", "retry.login.user = me", "retry.times = 4", "retry.only.a = b"];

  const { faults } = readSink(...lines);

  assert.deepEqual(faults, []);
  assert.deepEqual(seen, [
    { on: ["update", "delete"], retry: { times: 4, only: { a: "b" }, login: { user: "me", pin: 0 } } },
  ]);
});

test("fields that are not given have their defaults, and a variable takes precedence over the file", () => {
  seen.length = 0;

  read(text("retry.login.user = me", "retry.times = 4"), { catalogue, env: { NESTED_TIMES: "5" } });

  assert.deepEqual(seen, [{ on: ["create"], retry: { times: 5, only: {}, login: { user: "me", pin: 0 } } }]);
});

const wrong = [
  {
    says: "a list with a text that is no choice",
    lines: ["retry.login.user = me", "on = create updat"],
    fault:
      'error line 11: a1.sinks.s.on = "create updat": must be a list of: create, update, delete; "updat" is none of them; did you mean "update"?',
  },
  {
    says: "a field out of its range",
    lines: ["retry.login.user = me", "retry.times = 10"],
    fault: 'error line 11: a1.sinks.s.retry.times = "10": must be a whole number from 0 to 9',
  },
  {
    says: "a field that must be given",
    lines: ["retry.times = 1"],
    fault: "error line 8: a1.sinks.s.retry.login.user: must be given: name",
  },
  {
    says: "a secret field, masked,",
    lines: ["retry.login.user = me", "retry.login.pin = 12x"],
    fault: 'error line 11: a1.sinks.s.retry.login.pin = "***": must be a whole number, 0 or more',
  },
  {
    says: "a field by its path, in the words of the plugin's check,",
    lines: ["retry.login.user = me", "retry.times = 9"],
    fault: 'error line 11: a1.sinks.s.retry.times = "9": is too often',
  },
  {
    says: "a name that is no field",
    lines: ["retry.login.user = me", "retry.time = 1"],
    fault:
      'warning line 11: a1.sinks.s.retry.time = "1": is not a property of the sink "nested" and has no effect; did you mean "retry.times"?',
  },
  {
    says: "a value for the object itself",
    lines: ["retry.login.user = me", "retry = 3"],
    fault:
      'warning line 11: a1.sinks.s.retry = "3": is not a property of the sink "nested" and has no effect; did you mean "retry.times"?',
  },
] as const;
for (const { says, lines, fault } of wrong)
  test(`a fault names ${says} with its line`, () => assert.deepEqual(faultTexts(readSink(...lines)), [fault]));

test("secret fields are masked where a file is shown, others are not", () => {
  const shown = shownProperties(text("retry.login.user = me", "retry.times = 4"), catalogue);

  assert.equal(shown.get("a1.sinks.s.retry.login.user"), "***");
  assert.equal(shown.get("a1.sinks.s.retry.times"), "4");
});

test("a migration keeps fields, replaces secret ones by variables, and makes a comment of what is none", () => {
  const { text: migrated, variables } = migration(
    text("retry.login.user = me", "retry.times = 4", "retry.tim = 4"),
    catalogue,
    { secrets: "as-variables" },
  );

  assert.match(migrated, /^a1\.sinks\.s\.retry\.times = 4$/m);
  assert.match(migrated, /^a1\.sinks\.s\.retry\.login\.user = \$\{env:A1_SINKS_S_RETRY_LOGIN_USER\}$/m);
  assert.match(migrated, /^# .*a1\.sinks\.s\.retry\.tim = 4$/m);
  assert.equal(variables.length, 1);
});

test("the reference lists each field, and the choices of a list", () => {
  const rows = propertyTable(catalogue.find("sink", "nested")?.config ?? {}).split("\n");

  assert.deepEqual(rows.slice(2), [
    "| `on` | list, separated by blanks or commas, of `create`, `update`, `delete` | `create` |  | When to write. |",
    "| `retry.times` | whole number, at most 9 | `3` | `NESTED_TIMES` | How often. |",
    "| `retry.only` | one key for each entry | (empty) |  | Errors. |",
    "| `retry.login.user` | text | **required** |  | Name. A secret: masked wherever the configuration is shown. |",
    "| `retry.login.pin` | whole number | `0` |  | Number. A secret: masked wherever the configuration is shown. |",
  ]);
});

test("the conformance suites give a plugin its fields as an object, and name those that a setup lacks", async () => {
  const complete = await pluginConformance(nested, { config: () => ({ retry: { login: { user: "me" } } }) });
  const lacking = await pluginConformance(nested, {});
  const checked = (cases: typeof complete) => cases.find(({ name }) => name.includes("accepts its defaults"))?.run();
  seen.length = 0;

  await checked(complete);

  assert.deepEqual(seen, [{ on: ["create"], retry: { times: 3, only: {}, login: { user: "me", pin: 0 } } }]);
  await assert.rejects(async () => checked(lacking), /give values for "retry.login.user" in the setup/);
  assert.ok(complete.some(({ name }) => name === "property retry.times is documented and its default is right"));
});
