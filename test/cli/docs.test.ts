import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { writeReference } from "../../core/cli/docs.js";
import { GENERATED } from "../../core/cli/reference-page.js";
import type { CataloguedPlugin } from "../../core/tokens.js";
import { tempFolder } from "../support/temp-folder.js";

const plugin: CataloguedPlugin = {
  definition: {
    kind: "sink",
    type: "logger",
    summary: "Writes a line.",
    stability: "stable",
    config: {},
    create: () => undefined,
  },
  origin: "plugins/logger-sink/index.js",
};

test("the reference has an index, the kernel and one page for each plugin", async (t) => {
  const folder = join(await tempFolder(t), "reference");

  const written = await writeReference(folder, [plugin]);

  assert.deepEqual([...written].sort(), ["README.md", "kernel.md", "sink-logger.md"]);
  assert.deepEqual((await readdir(folder)).sort(), [...written].sort());
  for (const name of written) assert.ok((await readFile(join(folder, name), "utf8")).startsWith(GENERATED), name);
});

test("writing the reference removes the page of a plugin that no longer exists and keeps pages that are not generated", async (t) => {
  const folder = await tempFolder(t);
  await writeFile(join(folder, "sink-gone.md"), `${GENERATED}\n\n# gone\n`);
  await writeFile(join(folder, "notes.md"), "# notes\n");

  await writeReference(folder, [plugin]);

  assert.deepEqual((await readdir(folder)).sort(), ["README.md", "kernel.md", "notes.md", "sink-logger.md"]);
});
