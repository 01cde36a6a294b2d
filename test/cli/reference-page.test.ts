import assert from "node:assert/strict";
import test from "node:test";
import { propertyTable, referenceIndex, referencePage } from "../../core/cli/reference-page.js";
import type { AnyPlugin, Property } from "../../core/sdk/index.js";

const doc = "What it means.";

const rows: readonly { readonly title: string; readonly property: Property; readonly row: string }[] = [
  {
    title: "a property without default is required",
    property: { doc, format: "port" },
    row: "| `x` | port | **required** |  | What it means. |",
  },
  {
    title: "limits stand beside the format",
    property: { doc, format: "count", default: 1, min: 1, max: 9 },
    row: "| `x` | whole number, at least 1, at most 9 | `1` |  | What it means. |",
  },
  {
    title: "the allowed texts are listed",
    property: { doc, format: ["row", "column"], default: "column" },
    row: "| `x` | `row`, `column` | `column` |  | What it means. |",
  },
  {
    title: "an empty default is said to be empty",
    property: { doc, format: "words", default: [] },
    row: "| `x` | list, separated by blanks or commas | (empty) |  | What it means. |",
  },
  {
    title: "a secret is said to be masked and its variables are named",
    property: { doc, format: "text", default: "", env: "E", envFile: "E_FILE", sensitive: true },
    row: "| `x` | text | (empty) | `E`, `E_FILE` (names a file that holds the value) | What it means. A secret: masked wherever the configuration is shown. |",
  },
  {
    title: "a deprecated property says what instead",
    property: { doc, format: "flag", default: false, deprecated: "use y." },
    row: "| `x` | `true` or `false` | `false` |  | What it means. Deprecated: use y. |",
  },
  {
    title: "bars and line ends do not break the table",
    property: { doc: "a|b\n  c", format: "text", default: "" },
    row: "| `x` | text | (empty) |  | a\\|b c |",
  },
];

for (const { title, property, row } of rows)
  test(`in the table of properties ${title}`, () => {
    const lines = propertyTable({ x: property }).split("\n");

    assert.deepEqual(lines.slice(2), [row]);
  });

const plugin: AnyPlugin = {
  kind: "source",
  type: "http",
  aliases: ["some.old.ClassName"],
  summary: "Receives notifications.",
  stability: "beta",
  config: { port: { doc, format: "port" } },
  slots: { handler: "handler" },
  create: () => undefined,
};

test("the page of a plugin has its names, its properties with their full key, and its slots", () => {
  const page = referencePage(plugin);

  assert.match(page, /^# source `http`$/m);
  assert.match(page, /^Receives notifications\.$/m);
  assert.match(page, /^Stability: beta\. Also accepted as its type: `some\.old\.ClassName`\.$/m);
  assert.match(page, /`<agent>\.sources\.<source>\.<property> = <value>`/);
  assert.match(page, /^\| `port` \|/m);
  assert.match(page, /^- `handler`: a handler;/m);
});

test("the page of a plugin without properties says so", () => {
  const page = referencePage({ ...plugin, config: {} });

  assert.match(page, /^It has no properties of its own\.$/m);
});

test("the index links the page of each plugin", () => {
  const index = referenceIndex([plugin, { ...plugin, kind: "sink", type: "rdb" }]);

  assert.match(index, /\| source \| \[http\]\(source-http\.md\) \| beta \| Receives notifications\. \|/);
  assert.match(index, /\| sink \| \[rdb\]\(sink-rdb\.md\) \|/);
});
