import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promtool } from "../support/prometheus-programs.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { type AlertCase, alertCases } from "./alert-cases.js";
import { alertRules, rulesFile } from "./alert-rules.js";

const rules = await alertRules();
const runbook = await readFile(join(repositoryRoot, "docs", "runbook.md"), "utf8");

test("promtool finds no fault in the alert rules", async (context) => {
  const run = await promtool(context);
  if (run === undefined) return;

  const { code, output } = await run("check", "rules", "--lint=all", "--lint-fatal", rulesFile);

  assert.equal(code, 0, output);
});

test("each alert has a case here, in the same order", () => {
  assert.deepEqual(
    alertCases.map(({ alert }) => alert),
    rules.map(({ name }) => name),
  );
});

test("each alert has one section of the runbook, in the same order, and the other way round", () => {
  const sections = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);

  assert.deepEqual(
    sections,
    rules.map(({ name }) => name),
  );
});

for (const { name, runbook: link, severity, summary, description } of rules)
  test(`${name} says what it is, how bad, and where to read on`, () => {
    const section = runbook.split(`### ${name}\n`)[1]?.split("\n### ")[0] ?? "";

    assert.equal(link, `docs/runbook.md#${name.toLowerCase()}`);
    assert.match(severity, /^(warning|critical)$/);
    assert.ok(summary.length > 20 && description.length > summary.length, `${summary} ${description}`);
    for (const part of ["**Means.**", "**Look.**", "**Do.**"]) assert.ok(section.includes(part), `${name}: ${part}`);
  });

test("each alert fires within a minute of its cause, with its labels, and not before", async (context) => {
  const run = await promtool(context);
  if (run === undefined) return;
  const folder = await tempFolder(context);
  const files: string[] = [];
  for (const one of alertCases) {
    const file = join(folder, `${one.alert}.json`);
    await writeFile(file, JSON.stringify(unitTest(one)));
    files.push(file);
  }

  // It names the file of each.
  const { output } = await run("test", "rules", ...files);

  assert.deepEqual(
    files.filter((file) => !output.includes(`Unit Testing:  ${file}\n  SUCCESS\n`)),
    [],
    output,
  );
});

/** The cause comes with the sixth value, at 75 seconds. */
function unitTest({ alert, series, labels, severity }: AlertCase): object {
  const all = { __name__: "ALERTS", ...labels, alertname: alert, alertstate: "firing", severity };
  const { __name__: name, ...others } = all;
  const text = Object.entries(others).map(([label, value]) => `${label}="${value}"`);
  const expr = `ALERTS{alertname="${alert}",alertstate="firing"}`;
  return {
    rule_files: [rulesFile],
    evaluation_interval: "15s",
    tests: [
      {
        interval: "15s",
        input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
        promql_expr_test: [
          { expr, eval_time: "45s", exp_samples: [] },
          { expr, eval_time: "135s", exp_samples: [{ labels: `${name}{${text.join(",")}}`, value: 1 }] },
        ],
      },
    ],
  };
}
