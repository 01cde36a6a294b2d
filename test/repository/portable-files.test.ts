import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";

// Written in two parts so that this file does not find itself.
const MACHINE_PATHS = new RegExp(["(?<![\\w.}])/(?:ho", "me|Us", "ers|ro", "ot|wo", "rk)/[a-z]"].join(""), "g");
const REGISTRIES = new RegExp(["registry", "\\.npmjs|", '"resol', 'ved": "http|', "regi", "stry ?="].join(""), "g");

const rules = [
  { title: "no file names a folder of somebody's machine", pattern: MACHINE_PATHS },
  { title: "no file names a package registry", pattern: REGISTRIES },
] as const;

for (const { title, pattern } of rules)
  test(title, async () => {
    const files = await repositoryFiles();

    const hits = await Promise.all(
      files.map(async (path) => {
        const text = await readFile(join(repositoryRoot, path), "utf8");
        return [...text.matchAll(pattern)].map(([hit]) => `${path}: ${hit}`);
      }),
    );

    assert.deepEqual(hits.flat(), []);
  });
