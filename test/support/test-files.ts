import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { repositoryRoot } from "./repository.js";

/**
 * The compiled test files whose path holds one of the filters, or all of them. An output whose source is gone is
 * stale and left out: the compiler never removes it.
 */
export async function testFiles(filters: readonly string[]): Promise<readonly string[]> {
  const folder = join(repositoryRoot, "dist", "test");
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => name.endsWith(".test.js") && existsSync(sourceOf(name)))
    .map((name) => join(folder, name))
    .filter((file) => filters.length === 0 || filters.some((filter) => relative(folder, file).includes(filter)))
    .sort();
}

function sourceOf(name: string): string {
  return join(repositoryRoot, "test", name.replace(/\.js$/, ".ts"));
}
