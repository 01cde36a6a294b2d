import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";

const MOST_LINES = 400;

test(`no source file is longer than ${MOST_LINES} lines`, async (t) => {
  const sources = (await repositoryFiles()).filter((path) => /^(core|plugins|test)\/.*\.tsx?$/.test(path));

  const lengths = await Promise.all(
    sources.map(async (path) => ({ path, lines: lineCount(await readFile(join(repositoryRoot, path), "utf8")) })),
  );

  const inOrder = lengths.filter(({ path }) => !path.startsWith("test/")).sort((a, b) => a.lines - b.lines);
  t.diagnostic(
    `core and plugins: ${inOrder.length} files, lines ${share(inOrder, 0.5)} (median), ${share(inOrder, 0.9)} (90 %)`,
  );
  assert.deepEqual(
    lengths.filter(({ lines }) => lines > MOST_LINES),
    [],
  );
});

function lineCount(text: string): number {
  return text.split("\n").length - 1;
}

function share(inOrder: readonly { readonly lines: number }[], part: number): number {
  return inOrder[Math.floor(inOrder.length * part)]?.lines ?? 0;
}
