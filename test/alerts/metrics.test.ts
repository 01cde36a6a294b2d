import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { lint, promtool } from "../support/prometheus-programs.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { agentWithEverything, scraped } from "./agent-with-everything.js";
import { alertRules } from "./alert-rules.js";
import { dashboard, expressionsOf } from "./dashboard.js";
import { askedFor, exposed } from "./promql.js";

/** Series of a histogram that an expression may name. */
const PARTS = /_(bucket|sum|count)$/;
/** Labels and metrics that Prometheus itself adds, and the label that tells the workers of one agent apart. */
const OF_PROMETHEUS = { metrics: ["up", "ALERTS"], labels: ["job", "instance", "alertname", "alertstate", "worker"] };
/** What the supervisor of several workers adds. */
const OF_SUPERVISOR = new Map([["deneb_workers", new Set(["state"])]]);

/** The metrics of an agent once each instrument has series. */
async function allMetrics(context: TestContext): Promise<string> {
  const agent = await agentWithEverything(context);
  return await until(
    () => scraped(agent),
    (text) =>
      text.includes('deneb_sink_store_error{sink="away"') &&
      text.includes('deneb_reload_timestamp_seconds{result="ok"}') &&
      text.includes('deneb_sink_last_write_timestamp_seconds{sink="stored"}') &&
      text.includes('deneb_certificate_expiry_timestamp_seconds{component="tls"') &&
      /^deneb_dead_letters_oldest_timestamp_seconds\{sink="refused"\}/m.test(text),
  );
}

test("a running agent in which each instrument has series", async (context) => {
  const text = await allMetrics(context);

  await context.test("promtool finds no fault in the metrics of a running agent", async (context) => {
    const checked = await lint(context, text);

    if (checked !== undefined) assert.deepEqual(checked, { code: 0, output: "" });
  });

  await context.test("every metric and label in the alerts and the dashboard is one of a running agent", async () => {
    const rules = await alertRules();
    const board = await dashboard();
    const expressions = new Map([...rules.map(({ name, expr }) => [name, expr] as const), ...expressionsOf(board)]);

    const known = new Map([...exposed(text), ...OF_SUPERVISOR]);

    for (const [where, expression] of expressions) {
      const { metrics, labels } = askedFor(expression);
      const own = metrics.filter((name) => !OF_PROMETHEUS.metrics.includes(name));
      for (const name of own) assert.ok(known.has(name), `${where} asks for ${name}`);
      const given = new Set([...OF_PROMETHEUS.labels, ...own.flatMap((name) => [...(known.get(name) ?? [])])]);
      for (const label of labels) assert.ok(given.has(label), `${where} asks for the label ${label}: ${expression}`);
    }
  });

  await context.test("the labels in the texts of an alert are those of its series", async () => {
    const rules = await alertRules();
    const known = exposed(text);

    for (const { name, expr, summary, description } of rules) {
      const { metrics } = askedFor(expr);
      const given = new Set([...OF_PROMETHEUS.labels, ...metrics.flatMap((metric) => [...(known.get(metric) ?? [])])]);
      const named = [...`${summary} ${description}`.matchAll(/\$labels\.(\w+)/g)].map(([, label = ""]) => label);
      for (const label of named) assert.ok(given.has(label), `${name} shows the label ${label}`);
    }
  });

  await context.test(
    "docs/metrics.md lists each instrument of a running agent with its type and labels, and no other",
    async () => {
      const page = await readFile(join(repositoryRoot, "docs", "metrics.md"), "utf8");
      const rows = [...page.matchAll(/^\| `(deneb_\w+)` \| (\w+) \|([\w, ]*)\|/gm)];
      const listed = new Map(
        rows.map(([, name = "", type, labels = ""]) => [name, `${type} ${inOrder(labels.split(","))}`]),
      );

      const known = exposed(text);
      const types = [...text.matchAll(/^# TYPE (deneb_(?!plugin_)\w+) (\w+)$/gm)];
      const shown = types.map(([, name = "", type = ""]) => {
        const labels = known.get(type === "histogram" ? `${name}_count` : name);
        // One that counts by what is not known before has no series yet.
        return [name, labels === undefined ? listed.get(name) : `${type} ${inOrder([...labels])}`] as const;
      });
      assert.deepEqual(listed, new Map(shown));
    },
  );
});

test("every expression of the dashboard is PromQL", async (context) => {
  const run = await promtool(context);
  if (run === undefined) return;
  const rules = [...expressionsOf(await dashboard())].map(([, expr], at) => ({ record: `of:${at}`, expr }));
  const file = join(await tempFolder(context), "rules.json");
  await writeFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));

  const { code, output } = await run("check", "rules", "--lint=none", file);

  assert.equal(code, 0, output);
});

test("no counter of a running agent goes down when the statistics are reset", async (context) => {
  const agent = await agentWithEverything(context);
  const stored = /^deneb_channel_puts_total\{channel="c1",result="ok"\} 1$/m;
  const before = await until(
    () => scraped(agent),
    (text) => stored.test(text),
  );
  await fetch(`${agent.managementUrl}/v1/stats`, { method: "PUT" });
  await fetch(`${agent.managementUrl}/v1/admin/metrics`, { method: "DELETE" });

  const after = countsOf(await scraped(agent));

  for (const [series, count] of countsOf(before)) assert.ok((after.get(series) ?? -1) >= count, series);
});

function inOrder(labels: readonly string[]): string {
  return labels
    .map((label) => label.trim())
    .toSorted()
    .join(" ");
}

/** The values of counters and histograms by series. */
function countsOf(text: string): ReadonlyMap<string, number> {
  const counters = new Set([...text.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name]) => name));
  const samples = [...text.matchAll(/^((\w+)(?:\{.*\})?) (\S+)$/gm)];
  return new Map(
    samples.flatMap(([, series = "", name = "", value]) =>
      counters.has(name) || counters.has(name.replace(PARTS, "")) ? [[series, Number(value)] as const] : [],
    ),
  );
}
