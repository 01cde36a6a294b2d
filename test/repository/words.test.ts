import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";
import { bannedWordsOf } from "./words.js";

/** Their texts come from core and plugins. */
const generated = ["docs/reference/", "docs/api/"];
/** Written together with the interface that it describes. */
const withTheCode = [...generated, "docs/writing-a-plugin.md"];

test("the pages use the words of the glossary and plain technical English", async () => {
  const found = await bannedIn((path) => isPage(path) && !withTheCode.some((start) => path.startsWith(start)));

  assert.deepEqual(found, []);
});

test("code, comments, messages and generated pages use the words of the glossary and plain technical English", {}, async () => {
  const isCode = (path: string) => /^(?:core|plugins)\/.*\.(?:tsx?|md)$/.test(path);
  const found = await bannedIn((path) => isCode(path) || withTheCode.some((start) => path.startsWith(start)));

  assert.deepEqual(found, []);
});

const cases = [
  { text: "The error is told once.", found: ['p.md:1: "is told": write reported'] },
  { text: "It waits\nfor\never.", found: ['p.md:2: "for ever": write without limit'] },
  { text: "/** A write that is given\n * up. */", found: ['p.md:1: "given * up": write abandoned'] },
  { text: "const letterDesk = new LetterDesk();", count: 2 },
  { text: "class HttpIntake {}", count: 1 },
  { text: "It stays as it is. As soon as it is read, the row is as it is known.", count: 1 },
  { text: "screwdriver, retold, background, default", count: 0 },
] as const;

for (const one of cases) {
  const count = "found" in one ? one.found.length : one.count;
  test(`${JSON.stringify(one.text)} holds ${count} banned words`, () => {
    const found = bannedWordsOf("p.md", one.text);

    assert.equal(found.length, count);
    if ("found" in one) assert.deepEqual(found, one.found);
  });
}

test("a word of one room is banned in others only", () => {
  const text = "rows by destination";

  assert.equal(bannedWordsOf("core/sql/contract/driver.ts", text).length, 1);
  assert.deepEqual(bannedWordsOf("core/logging/appenders.ts", text), []);
});

test("the glossary may name the words that it bans", () => {
  const text = "# Architecture\n\n## Glossary\n\n| crew |\n\n## Choices\n\nThe crew.\n";

  assert.deepEqual(bannedWordsOf("docs/architecture.md", text), [
    'docs/architecture.md:9: "crew": write ComponentRunner',
  ]);
});

async function bannedIn(isChosen: (path: string) => boolean): Promise<readonly string[]> {
  const paths = (await repositoryFiles()).filter(isChosen);
  const texts = await Promise.all(paths.map((path) => readFile(join(repositoryRoot, path), "utf8")));
  return texts.flatMap((text, index) => bannedWordsOf(paths[index] ?? "", text));
}

function isPage(path: string): boolean {
  return path.endsWith(".md") && (path.startsWith("docs/") || !path.includes("/"));
}
