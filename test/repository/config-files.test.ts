import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { readConfiguration } from "../../core/configuration/read-configuration.js";
import { discover } from "../../core/registry/discover.js";
import { repositoryRoot } from "../support/repository.js";

const folder = join(repositoryRoot, "config");

for (const name of readdirSync(folder, { encoding: "utf8", recursive: true }).filter((file) =>
  file.endsWith(".properties"),
))
  test(`config/${name} has no fault`, async () => {
    const { catalogue } = await discover([join(repositoryRoot, "dist", "plugins")]);
    const text = await readFile(join(folder, name), "utf8");

    const { topology, faults } = readConfiguration({ text, env: {}, readFile: () => "", catalogue });

    assert.deepEqual(faults, []);
    assert.notEqual(topology, undefined);
  });
