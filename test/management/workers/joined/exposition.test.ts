import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { joinedMetrics } from "../../../../core/management/workers/joined/exposition.js";
import { lint } from "../../../support/prometheus-programs.js";
import { repositoryRoot } from "../../../support/repository.js";
import { runningTeam } from "../running-team.js";

const head = (name: string, type: string) => `# HELP ${name} What it is.\n# TYPE ${name} ${type}\n`;

const texts = [
  {
    name: "families come once, with the samples of all workers",
    given: [
      `${head("a", "gauge")}a 1\n\n${head("b_total", "counter")}b_total{x="1"} 2\n`,
      `${head("a", "gauge")}a 3\n`,
    ],
    joined: `${head("a", "gauge")}a{worker="1"} 1\na{worker="2"} 3\n${head("b_total", "counter")}b_total{worker="1",x="1"} 2\n`,
  },
  {
    name: "the parts of a histogram stay in its family",
    given: [`${head("h", "histogram")}h_bucket{le="+Inf"} 1\nh_sum 2\nh_count 1\n`],
    joined: `${head("h", "histogram")}h_bucket{worker="1",le="+Inf"} 1\nh_sum{worker="1"} 2\nh_count{worker="1"} 1\n`,
  },
  {
    name: "a label worker that a sample has already is renamed, and values are left alone",
    given: [`${head("p", "gauge")}p{channel="c \\"worker=\\"",worker="none"} 1\n`],
    joined: `${head("p", "gauge")}p{worker="1",channel="c \\"worker=\\"",exported_worker="none"} 1\n`,
  },
  {
    name: "a sample without a family is one of its own",
    given: ["stray 1\n", "stray 2\n"],
    joined: 'stray{worker="1"} 1\nstray{worker="2"} 2\n',
  },
] as const;

for (const { name, given, joined } of texts)
  test(name, () => {
    const text = joinedMetrics(given.map((one, index) => ({ worker: index + 1, text: one })));

    assert.equal(text, joined);
  });

test("metrics of all workers and of the supervisor are one text of the format", async (context) => {
  const { call, workers, change } = await runningTeam(context, { workers: [{}, {}, {}] });
  await workers[1]?.accept();
  change(3, { state: "restarting" });

  const { status, headers, text } = await call("GET", "/metrics");

  assert.deepEqual([status, headers.get("content-type")], [200, "text/plain; version=0.0.4; charset=utf-8"]);
  const described = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.equal(new Set(described).size, described.length);
  const series = [...text.matchAll(/^([^#\s]\S*(?: \S*"\})?) \S+$/gm)].map(([, name]) => name);
  assert.equal(new Set(series).size, series.length);
  assert.match(text, /^deneb_channel_puts_total\{worker="2",channel="c1",result="ok"\} 1$/m);
  assert.match(text, /^deneb_channel_puts_total\{worker="1",channel="c1",result="ok"\} 0$/m);
  assert.match(text, /^deneb_workers\{state="running"\} 2$/m);
  assert.match(text, /^deneb_workers\{state="restarting"\} 1$/m);
  await context.test("promtool finds no fault in them", async (context) => {
    const checked = await lint(context, text);

    if (checked !== undefined) assert.deepEqual(checked, { code: 0, output: "" });
  });
});

test("docs/metrics.md describes what the supervisor adds", async () => {
  const page = await readFile(join(repositoryRoot, "docs", "metrics.md"), "utf8");

  for (const word of ["`deneb_workers`", '`worker="1"`', "`exported_worker`"]) assert.ok(page.includes(word), word);
});
