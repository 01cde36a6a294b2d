import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { readConfiguration } from "../../core/configuration/read-configuration.js";
import { discover } from "../../core/registry/discover.js";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";

const folders = await Promise.all(["config", "deploy"].map((folder) => repositoryFiles(folder)));
const files = folders.flat().filter((path) => path.endsWith(".properties"));

for (const path of files)
  test(`${path} has no fault`, async () => {
    const { catalogue } = await discover([join(repositoryRoot, "dist", "plugins")]);
    const text = await readFile(join(repositoryRoot, path), "utf8");
    const input = { text, env: {}, readFile: () => "", catalogue };
    const { agents } = readConfiguration(input);

    const configurations = agents.map((agent) => readConfiguration({ ...input, agent }));

    assert.ok(agents.length > 0);
    for (const { topology, faults } of configurations) {
      assert.deepEqual(faults, []);
      assert.notEqual(topology, undefined);
    }
  });
