import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { discover } from "../../core/registry/discover.js";
import { type ConformanceCase, pluginConformance } from "../../core/testing/index.js";
import { repositoryRoot } from "../support/repository.js";
import { setups } from "./setups.js";

const { catalogue, problems } = await discover([join(repositoryRoot, "dist", "plugins")]);
const plugins = catalogue.list().map(({ definition }) => ({
  definition,
  name: `${definition.kind} ${definition.type}`,
}));

// Before the first case runs: what a store opens meanwhile would look like something that a plugin left open.
const suites: { readonly name: string; readonly skip: string | false; readonly cases: readonly ConformanceCase[] }[] =
  [];
for (const { definition, name } of plugins)
  for (const { name: part, setup, skip } of setups.get(name) ?? [{ name: "", setup: {} }])
    suites.push({
      name: `${name}${part}`,
      skip: skip ?? false,
      // A store that is not there cannot be asked what it can do.
      cases: skip === undefined ? await pluginConformance(definition, setup) : [],
    });

test("every plugin of the repository is there, and every setup belongs to one", () => {
  assert.deepEqual(problems, []);
  assert.ok(plugins.length > 0);
  const names = plugins.map(({ name }) => name);
  assert.deepEqual(
    [...setups.keys()].filter((name) => !names.includes(name)),
    [],
  );
});

after(async () => {
  for (const { stop } of [...setups.values()].flat()) await stop?.();
});

for (const { name, skip, cases } of suites)
  suite(name, { skip }, () => {
    for (const { name: says, run } of cases) test(says, run);
  });
