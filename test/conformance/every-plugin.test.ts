import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { discover } from "../../core/registry/discover.js";
import { pluginConformance } from "../../core/testing/index.js";
import { repositoryRoot } from "../support/repository.js";
import { setups } from "./setups.js";

const { catalogue, problems } = await discover([join(repositoryRoot, "dist", "plugins")]);
const plugins = catalogue.list().map(({ definition }) => ({
  definition,
  name: `${definition.kind} ${definition.type}`,
}));

test("every plugin of the repository is there, and every setup belongs to one", () => {
  assert.deepEqual(problems, []);
  assert.ok(plugins.length > 0);
  const names = plugins.map(({ name }) => name);
  assert.deepEqual(
    [...setups.keys()].filter((name) => !names.includes(name)),
    [],
  );
});

for (const { definition, name } of plugins)
  for (const { name: part, setup, skip } of setups.get(name) ?? [{ name: "", setup: {} }]) {
    const cases = await pluginConformance(definition, setup);
    suite(`${name}${part}`, { skip: skip ?? false }, () => {
      for (const { name: says, run } of cases) test(says, run);
    });
  }
