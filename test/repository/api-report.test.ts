import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryRoot } from "../support/repository.js";
import { apiReport, fingerprint, publicEntries } from "./api-report.js";

for (const entry of publicEntries) {
  test(`${entry.report} is the public interface of ${entry.name}; if it changed on purpose, run npm run docs`, async () => {
    assert.equal(await readFile(join(repositoryRoot, entry.report), "utf8"), await apiReport(entry));
  });

  test(`the changelog says under Unreleased what became of ${entry.name}, and names its present state`, async () => {
    const changelog = await readFile(join(repositoryRoot, "CHANGELOG.md"), "utf8");
    const unreleased = changelog.split(/^## /m).find((part) => part.startsWith("Unreleased")) ?? "";

    const named = `\`${entry.name}\` ${fingerprint(await apiReport(entry))}`;

    assert.ok(unreleased.includes(named), `add what changed to CHANGELOG.md, and write there: ${named}`);
  });

  test(`every export of ${entry.name} is told what it is for, in a comment`, async () => {
    const source = join(repositoryRoot, entry.entry.replace(/\.d\.ts$/, ".ts"));
    const names = exportedNames(await readFile(source, "utf8"));

    const bare = await Promise.all(names.map(async ({ name, file }) => ((await isTold(name, file)) ? [] : [name])));

    assert.ok(names.length > 0);
    assert.deepEqual(bare.flat(), []);
  });

  function exportedNames(text: string): readonly { readonly name: string; readonly file: string }[] {
    const folder = join(repositoryRoot, entry.entry, "..");
    return [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)\.js"/gm)].flatMap(
      ([, list = "", from = ""]) =>
        list
          .split(",")
          .map((one) => one.trim().replace(/^type /, ""))
          .filter((name) => name !== "")
          .map((name) => ({ name, file: join(folder, `${from}.ts`) })),
    );
  }
}

async function isTold(name: string, file: string): Promise<boolean> {
  const text = await readFile(file, "utf8");
  const declared = new RegExp(`\\*/\\nexport (?:async )?(?:type|interface|class|const|function) ${name}\\b`);
  return declared.test(text);
}
