import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";

const papers = [
  {
    title: "the changelog has a section for what is not released yet",
    path: "CHANGELOG.md",
    holds: /^## Unreleased$/m,
  },
  {
    title: "the licence is the Apache License 2.0",
    path: "LICENSE",
    holds: /Apache License\s+Version 2\.0, January 2004/,
  },
] as const;

for (const { title, path, holds } of papers)
  test(title, async () => assert.match(await readFile(join(repositoryRoot, path), "utf8"), holds));

test("every decision stands once in the list of decisions, and no other does", async () => {
  const pages = (await repositoryFiles("docs/decisions")).map((path) => path.replace("docs/decisions/", ""));
  const index = await readFile(join(repositoryRoot, "docs/decisions/README.md"), "utf8");

  const listed = [...index.matchAll(/\]\((\d{4}-[a-z0-9-]+\.md)\)/g)].map(([, page = ""]) => page);

  assert.deepEqual(
    [...listed].sort(),
    pages.filter((page) => page !== "README.md"),
  );
});

test("the changelog says each thing once, in sections of different names", async () => {
  const text = await readFile(join(repositoryRoot, "CHANGELOG.md"), "utf8");
  const items = text.split(/\n(?=- |#|\n)/).map((item) => item.trim().replaceAll(/\s+/g, " "));

  assert.deepEqual(repeated(items.filter((item) => /^(?:-|#)/.test(item))), []);
});

function repeated(items: readonly string[]): readonly string[] {
  return items.filter((item, index) => items.indexOf(item) < index);
}
