import assert from "node:assert/strict";
import test from "node:test";
import { repositoryFiles } from "../support/repository.js";

test("every plugin folder has its declaration, its schema and its page", async () => {
  const files = new Set((await repositoryFiles("plugins")).map((path) => path.split("/").slice(1).join("/")));
  const folders = new Set([...files].map((path) => path.split("/", 1).join()));

  const missing = [...folders].flatMap((folder) =>
    ["index.ts", "config.ts", "README.md"].map((name) => `${folder}/${name}`).filter((path) => !files.has(path)),
  );

  assert.ok(folders.size > 0);
  assert.deepEqual(missing, []);
});
