import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path/posix";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";

test("every link of a page to another file of the repository leads somewhere", async () => {
  const files = await repositoryFiles();
  const known = new Set(files.flatMap((path) => [path, ...foldersOf(path)]));

  const broken = await Promise.all(
    files
      .filter((path) => path.endsWith(".md"))
      .map(async (path) => {
        const targets = linksOf(await readFile(join(repositoryRoot, path), "utf8"));
        return targets.filter((target) => !known.has(resolved(path, target))).map((target) => `${path}: ${target}`);
      }),
  );

  assert.deepEqual(broken.flat(), []);
});

function linksOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target));
}

function resolved(page: string, target: string): string {
  return normalize(join(dirname(page), target)).replace(/\/$/, "");
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
