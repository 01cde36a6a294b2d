import assert from "node:assert/strict";
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { newKinds } from "../../core/cli/scaffold/plugin-names.js";
import { command } from "../support/command.js";
import { install } from "../support/example-package.js";
import { testedTogether } from "../support/new-packages.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

test("the complete example of the page about each kind is built, passes its own test and the conformance suites", async (context) => {
  const parent = await tempFolder(context);
  const folders: string[] = [];
  for (const kind of newKinds) {
    const { words, files } = await exampleOf(kind);
    const { exitCode, err } = await command([...words, "--into", parent]);
    assert.equal(exitCode, 0, err);
    const folder = path.join(parent, words[3] ?? "");
    await replaceCode(folder, files);
    await install(folder, "libsql");
    folders.push(folder);
  }

  const { code, output } = await testedTogether(parent, folders);

  assert.equal(code, 0, output);
  assert.match(output, /fail 0/);
});

interface PageExample {
  /** The words after `deneb`, as the page gives them. */
  readonly words: readonly string[];
  /** Each block of code behind its name. */
  readonly files: Readonly<Record<string, string>>;
}

async function exampleOf(kind: string): Promise<PageExample> {
  const page = await readFile(path.join(repositoryRoot, "docs", "plugins", `${kind}.md`), "utf8");
  const chapter = page.split(/^## /m).find((part) => part.startsWith("A complete example")) ?? "";
  const blocks = chapter.matchAll(/^`([a-z.-]+\.[jt]s)`[^\n]*:\n\n```[jt]s\n(.*?)^```$/gms);
  const [, given = ""] = /`deneb\s+(plugin\s+new\s[^`]+)`/.exec(chapter) ?? [];
  return {
    words: given.split(/\s+/),
    files: Object.fromEntries([...blocks].map(([, name = "", text = ""]) => [name, text])),
  };
}

/** The suites and the agent are started as in every new package; all other code is that of the page. */
async function replaceCode(folder: string, files: PageExample["files"]): Promise<void> {
  const names = Object.keys(files);
  assert.ok(names.some((name) => name.startsWith("index.")) && names.some((name) => name.startsWith("agent.test.")));
  const code = (await readdir(folder)).filter((name) => /\.[jt]s$/.test(name) && !name.startsWith("conformance.test."));
  for (const name of code) if (!name.endsWith(".d.ts")) await rm(path.join(folder, name));
  await writeFiles(folder, files);
}
