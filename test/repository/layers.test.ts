import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";
import { drivers, importCircles, layerFaults, rooms } from "./layers.js";

test("every file of core and plugins imports only from the rows below its own and the packages at home there", async () => {
  const sources = await sourceTexts();

  assert.ok(sources.size > 0);
  assert.deepEqual(
    [...sources].flatMap(([path, text]) => layerFaults(path, text)),
    [],
  );
});

test("no files of core and plugins import each other in a circle", async () => {
  assert.deepEqual(importCircles(await sourceTexts()), []);
});

test("a circle of imports is found, also of types and through a third file", () => {
  const texts = new Map([
    ["core/sdk/index.ts", 'export { A } from "./a.js";'],
    ["core/sdk/a.ts", 'import type { B } from "./folder/b.js";'],
    ["core/sdk/folder/b.ts", 'import {\n  C,\n} from "../c.js";'],
    ["core/sdk/c.ts", 'import { A } from "./a.js";'],
  ]);

  assert.deepEqual(importCircles(texts), [["core/sdk/a.ts", "core/sdk/folder/b.ts", "core/sdk/c.ts"]]);
});

test("every package the agent depends on has a home", async () => {
  const text = await readFile(join(repositoryRoot, "package.json"), "utf8");
  const homes = new Set([...rooms.flatMap(({ packages }) => packages), ...Object.values(drivers).flat()]);

  assert.deepEqual(
    dependencyNames(JSON.parse(text)).filter((name) => !homes.has(name)),
    [],
  );
});

const wrong = [
  { path: "core/sdk/event.ts", text: 'import type { A } from "../tokens.js";', fault: /core\/tokens\.ts/ },
  { path: "core/sdk/event.ts", text: 'import { readFile } from "node:fs/promises";', fault: /must be pure/ },
  { path: "core/ngsi/model.ts", text: 'export { A } from "../pipeline/retry.js";', fault: /core\/pipeline\/retry\.ts/ },
  {
    path: "core/pipeline/retry.ts",
    text: 'import {\n  A,\n  B,\n} from "../registry/discover.js";',
    fault: /row below/,
  },
  { path: "core/agent/agent.ts", text: 'const x = await import("../management/app.js");', fault: /row below/ },
  { path: "core/agent/agent.ts", text: 'import express from "express";', fault: /package "express"/ },
  {
    path: "plugins/http-source/listener.ts",
    text: 'import { plainHead } from "./head-reader/plain-head.js";',
    fault: /not ".*head-reader\.js"/,
  },
  { path: "core/agent/agent.ts", text: 'import "../../plugins/rdb-sink/index.js";', fault: /row below/ },
  { path: "core/agent/agent.ts", text: 'import { A } from "./state/readiness.js";', fault: /stands over it/ },
  { path: "core/sql/explain.ts", text: 'import { A } from "../files/folder-lock.js";', fault: /row below/ },
  { path: "core/sql/rows/table-placement.ts", text: 'import { A } from "../tables/register.js";', fault: /row below/ },
  { path: "core/sql/features/views.ts", text: 'import { A } from "../sql-sink.js";', fault: /row below/ },
  { path: "core/sql/sql-sink.ts", text: 'import pg from "pg";', fault: /package "pg"/ },
  { path: "core/stray.ts", text: 'import "node:fs";', fault: /no room/ },
  { path: "plugins/a/index.ts", text: 'import { B } from "../b/b.js";', fault: /outside of its folder/ },
  { path: "plugins/a/index.ts", text: 'import { B } from "../../core/sdk/index.js";', fault: /outside of its folder/ },
  { path: "plugins/a/index.ts", text: 'import { B } from "deneb/agent";', fault: /package "deneb"/ },
  { path: "plugins/a/index.ts", text: 'import pg from "pg";', fault: /package "pg"/ },
] as const;

for (const { path, text, fault } of wrong)
  test(`the layer check refuses ${JSON.stringify(text)} in ${path}`, () => {
    const faults = layerFaults(path, text);

    assert.equal(faults.length, 1);
    assert.match(faults.join(), fault);
  });

const right = [
  {
    path: "core/agent/agent.ts",
    text: 'import { A } from "../pipeline/retry.js";\nimport { B } from "./assemble.js";',
  },
  { path: "core/agent/container.ts", text: 'import { A } from "./state/readiness.js";' },
  { path: "core/agent/state/readiness.ts", text: 'import { A } from "../agent.js";' },
  { path: "core/sql/rows/table-placement.ts", text: 'import { A } from "../../ngsi/index.js";' },
  { path: "core/process.ts", text: 'import "reflect-metadata";\nimport { A } from "./cli/run.js";' },
  { path: "plugins/rdb-sink/postgresql/driver.ts", text: 'import pg from "pg";\nimport { A } from "../rows.js";' },
  { path: "plugins/a/a.ts", text: 'import { QueueTake } from "deneb/sdk/channel";' },
  { path: "plugins/a/a.ts", text: 'import type { A } from "deneb/sdk";\nimport { B } from "node:fs";' },
] as const;

for (const { path, text } of right)
  test(`the layer check allows ${JSON.stringify(text)} in ${path}`, () =>
    assert.deepEqual(layerFaults(path, text), []));

function dependencyNames(manifest: unknown): readonly string[] {
  if (typeof manifest !== "object" || manifest === null || !("dependencies" in manifest)) return [];
  const { dependencies } = manifest;
  return typeof dependencies === "object" && dependencies !== null ? Object.keys(dependencies) : [];
}

async function sourceTexts(): Promise<ReadonlyMap<string, string>> {
  const sources = (await repositoryFiles()).filter((path) => /^(core|plugins)\/.*\.tsx?$/.test(path));
  return new Map(
    await Promise.all(sources.map(async (path) => [path, await readFile(join(repositoryRoot, path), "utf8")] as const)),
  );
}
