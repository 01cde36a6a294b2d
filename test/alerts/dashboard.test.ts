import assert from "node:assert/strict";
import { test } from "node:test";
import { ownPrometheus } from "../support/prometheus-programs.js";
import { until } from "../support/until.js";
import { agentWithEverything, notify, scraped } from "./agent-with-everything.js";
import { rulesFile } from "./alert-rules.js";
import { dashboard, expressionsOf } from "./dashboard.js";

const board = await dashboard();
const COLUMNS = 24;
const CORE_PANELS = ["row", "stat", "table", "timeseries"];

/** Empty while all is well. */
const SHOWN_ONLY_WHEN = ["annotation Reloads", "Time until full A"];

test("the dashboard is of a schema that Grafana 10 and newer read", () => {
  assert.equal(board.title, "Deneb");
  assert.ok(board.schemaVersion >= 36 && board.schemaVersion <= 39, `${board.schemaVersion}`);
  assert.match(board.uid, /^[\w-]{1,40}$/);
});

test("the dashboard needs no plugin, and every query goes to the Prometheus that is chosen", () => {
  for (const { title, type, targets = [], datasource } of board.panels) {
    assert.ok(CORE_PANELS.includes(type), `${title}: ${type}`);
    if (type === "row") continue;
    const chosen = { type: "prometheus", uid: "${datasource}" };
    assert.deepEqual(
      [datasource, ...targets.map((target) => target.datasource)],
      [chosen, ...targets.map(() => chosen)],
    );
  }
  assert.equal(board.templating.list[0]?.type, "datasource");
});

test("every panel of the dashboard has an id, a title, a description and a place of its own", () => {
  const ids = board.panels.map(({ id }) => id);
  const titles = board.panels.map(({ title }) => title);
  const taken = new Set<string>();

  for (const { title, type, description = "", gridPos, targets = [] } of board.panels) {
    if (type !== "row") assert.ok(description.length > 5 && targets.length > 0, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.ok(x < COLUMNS && !taken.has(`${x} ${y}`), `${title} at ${x}, ${y}`);
        taken.add(`${x} ${y}`);
      }
    }
  }
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(new Set(titles).size, titles.length);
});

test("every variable in an expression of the dashboard is one of its own", () => {
  const own = new Set(board.templating.list.map(({ name }) => name));
  const text = JSON.stringify(board);

  for (const [, name = ""] of text.matchAll(/\$\{?(\w+)/g)) assert.ok(own.has(name) || name.startsWith("__"), name);
});

test("every panel of the dashboard shows something of an agent that works and fails", async (context) => {
  const agent = await agentWithEverything(context);
  const jobs = { any: { target: new URL(agent.managementUrl).host } };
  const prometheus = await ownPrometheus(context, { rules: rulesFile, jobs });
  if (prometheus === undefined) return;
  await until(
    () => prometheus.query("count(deneb_info)"),
    (samples) => samples.length === 1,
  );
  await fetch(agent.notifyUrl, { method: "POST", body: "no notification" });
  await until(
    () => scraped(agent),
    (text) => text.includes('cause="store-failing"} 2'),
  );
  await notify(agent);

  const empty = await until(
    async () => {
      const found: string[] = [];
      for (const [name, expression] of expressionsOf(board)) {
        if ((await prometheus.query(expression)).length === 0) found.push(name);
      }
      return found.filter((name) => !SHOWN_ONLY_WHEN.includes(name));
    },
    ({ length }) => length === 0,
  );

  assert.deepEqual(empty, []);
});

const grafana = process.env["DENEB_TEST_GRAFANA_URL"];

test("Grafana takes the dashboard and gives it back with all its panels", {
  skip: grafana === undefined ? "no grafana: DENEB_TEST_GRAFANA_URL is not set" : false,
}, async () => {
  const { username, password, origin } = new URL(grafana ?? "");
  const headers = {
    "Content-Type": "application/json",
    Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
  };
  const body = JSON.stringify({ dashboard: { ...board, id: null }, overwrite: true });

  const saved = await fetch(`${origin}/api/dashboards/db`, { method: "POST", headers, body });
  const read = await fetch(`${origin}/api/dashboards/uid/${board.uid}`, { headers });

  const { dashboard: kept } = JSON.parse(await read.text());
  assert.equal(saved.status, 200, await saved.text());
  assert.deepEqual(
    kept.panels.map(({ title }: { title: string }) => title),
    board.panels.map(({ title }) => title),
  );
});
