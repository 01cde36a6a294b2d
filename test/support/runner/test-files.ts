import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { repositoryRoot } from "../repository.js";
import { type Lane, lanes, startOrder } from "./start-order.js";

/**
 * The compiled test files whose path holds one of the filters, or all of them, in the order in which they start, in
 * lanes that run beside each other. An output whose source is gone is stale and left out: the compiler never removes it.
 */
export async function testFiles(filters: readonly string[]): Promise<readonly Lane[]> {
  const folder = join(repositoryRoot, "dist", "test");
  const names = await readdir(folder, { recursive: true });
  const paths = names
    .filter((name) => name.endsWith(".test.js") && existsSync(sourceOf(name)))
    .filter((name) => filters.length === 0 || filters.some((filter) => name.includes(filter)))
    .map((name) => name.split(sep).join("/"));
  return lanes(startOrder(paths)).map(({ files, atOnce }) => ({
    files: files.map((path) => join(folder, path)),
    atOnce,
  }));
}

function sourceOf(name: string): string {
  return join(repositoryRoot, "test", name.replace(/\.js$/, ".ts"));
}
