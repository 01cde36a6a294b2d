import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { repositoryRoot } from "../support/repository.js";

const text = (file: string) => readFile(path.join(repositoryRoot, file), "utf8");

test("each list of the public interface is named on the page before them", async () => {
  const lists = (await readdir(path.join(repositoryRoot, "docs", "api"))).filter((name) => name.endsWith(".txt"));
  const page = await text("docs/api/README.md");

  assert.deepEqual(
    lists.filter((name) => !page.includes(`](${name})`)),
    [],
  );
});

test("the guide for authors names each entry that the agent lends to plugins", async () => {
  const { exports } = JSON.parse(await text("package.json"));
  const entries = Object.keys(exports).flatMap((name) => (name.endsWith(".json") ? [] : [name.replace(".", "deneb")]));
  const [, lent = ""] = /the agent lends its own ([^.]*)\./.exec(await text("docs/writing-a-plugin.md")) ?? [];

  assert.deepEqual(
    entries.filter((name) => !lent.includes(`\`${name}\``)),
    [],
  );
});

test("the page about engines of a log shows the files of its example", async () => {
  const page = await text("docs/plugins/log-engine.md");
  const shown = ["config.ts", "index.ts", "conformance.ts"];

  const others: string[] = [];
  for (const name of shown) {
    const file = await text(`test/examples/directory-log/${name}`);
    // The page says in its own words what a comment says.
    if (!page.includes(file.replaceAll(/^\/\*\*.*\n/gm, ""))) others.push(name);
  }

  assert.deepEqual(others, []);
});
