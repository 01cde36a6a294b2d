import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";

const OF_NODE = /\bmkdir(?:Sync)?\([^;]*\brecursive\b[^;]*;/g;

test("no folder is made with `recursive` of Node, which never ends below /proc; core/files/make-folder.ts does", async () => {
  const files = (await repositoryFiles()).filter((file) => /^(?:core|plugins)\/.*\.ts$/.test(file));

  const found = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(repositoryRoot, file), "utf8");
      return [...text.matchAll(OF_NODE)].map(([call]) => `${file}: ${call}`);
    }),
  );

  assert.deepEqual(found.flat(), []);
});
