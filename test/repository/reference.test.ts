import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { referencePages } from "../../core/cli/docs.js";
import { discover } from "../../core/registry/discover.js";
import { repositoryRoot } from "../support/repository.js";

test("docs/reference is what npm run docs writes", async () => {
  const folder = join(repositoryRoot, "docs", "reference");
  const { catalogue, problems } = await discover([join(repositoryRoot, "dist", "plugins")]);

  const pages = referencePages(catalogue.list());

  assert.deepEqual(problems, []);
  assert.deepEqual((await readdir(folder)).sort(), [...pages.keys()].sort());
  for (const [name, text] of pages) assert.equal(await readFile(join(folder, name), "utf8"), text, name);
});
