import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";
import { codesIn, documentedCodes } from "./error-codes.js";

test("docs/errors.md lists every code that is thrown, each once, and no other", async () => {
  const sources = (await repositoryFiles()).filter((path) => /^(core|plugins)\/.*\.ts$/.test(path));
  const thrown = await Promise.all(
    sources.map(async (path) => codesIn(await readFile(join(repositoryRoot, path), "utf8"))),
  );
  const documented = documentedCodes(await readFile(join(repositoryRoot, "docs/errors.md"), "utf8"));

  assert.ok(sources.length > 0);
  assert.deepEqual([...documented].sort(), [...new Set(thrown.flat())].sort());
});

const texts = [
  { text: 'throw new AgentError("A_CODE", `x`);', codes: ["A_CODE"] },
  { text: 'throw new AgentError(\n  "A_CODE",\n  "with UPPER_CASE text",\n);', codes: ["A_CODE"] },
  { text: 'throw new AgentError(isLarge ? "LARGE" : "SMALL", m);', codes: ["LARGE", "SMALL"] },
  { text: 'const GONE = "STORE_GONE";\nthrow new AgentError(GONE, m);', codes: ["STORE_GONE"] },
  { text: 'const all = [{ code: "ONE" }, { code: "TWO" }];\nnew AgentError(code, m)', codes: ["ONE", "TWO"] },
  { text: 'class Refused extends AgentError {\n  constructor() {\n    super("NO", m);\n  }\n}', codes: ["NO"] },
  { text: 'class Other extends Error {\n  constructor() {\n    super("NO", m);\n  }\n}', codes: [] },
  { text: 'if (codeOf(error) === "A_CODE") return;', codes: [] },
] as const;

for (const { text, codes } of texts)
  test(`of ${JSON.stringify(text)} the codes are ${codes.join(", ") || "none"}`, () =>
    assert.deepEqual(codesIn(text), codes));
