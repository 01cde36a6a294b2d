import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryRoot } from "../support/repository.js";
import { apiPage, apiReport, commentOf, exportsOf, fingerprint, marksOf, publicEntries } from "./api-report.js";

for (const entry of publicEntries) {
  test(`${entry.report} is the public interface of ${entry.name}; if it changed on purpose, run npm run docs`, async () => {
    assert.equal(await readFile(join(repositoryRoot, entry.report), "utf8"), await apiPage(entry));
  });

  test(`the changelog says under Unreleased what became of ${entry.name}, and names its present state`, async () => {
    const changelog = await readFile(join(repositoryRoot, "CHANGELOG.md"), "utf8");
    const unreleased = changelog.split(/^## /m).find((part) => part.startsWith("Unreleased")) ?? "";

    const named = `\`${entry.name}\` ${fingerprint(await apiReport(entry))}`;

    assert.ok(unreleased.includes(named), `add what changed to CHANGELOG.md, and write there: ${named}`);
  });

  test(`every export of ${entry.name} says what it is for, in a comment, and has one mark of its stability`, async () => {
    const names = await exportsOf(entry.entry);

    const bare = await Promise.all(
      names.map(async (one) =>
        (await commentOf(one)) !== undefined && (await marksOf(one)).length === 1 ? [] : one.name,
      ),
    );

    assert.ok(names.length > 0);
    assert.deepEqual(bare.flat(), []);
  });
}
