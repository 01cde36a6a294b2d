import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Ran, ran } from "./example-package.js";

/**
 * Does what the test script of each package says, with its own compiler settings, but runs the tests of all of them in one process:
 * most of the time of a script goes into loading Deneb. The file that starts the tests is written into the folder.
 */
export async function testedTogether(folder: string, packages: readonly string[]): Promise<Ran> {
  const files: string[] = [];
  for (const one of packages) files.push(...(await builtTests(one)));
  const program = path.join(folder, "all.test.mjs");
  await writeFile(program, files.map((file) => `await import("${pathToFileURL(file).href}");\n`).join(""));
  return await ran(process.execPath, [program], { cwd: folder });
}

/** Builds a package; returns the files of its tests. */
async function builtTests(folder: string): Promise<readonly string[]> {
  const { scripts } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const [, compiler, files = ""] = /^(?:(tsc) && )?node --test (.+)$/.exec(scripts.test) ?? [];
  assert.notEqual(files, "", scripts.test);
  if (compiler !== undefined) {
    const { code, output } = await ran(path.join(folder, "node_modules", ".bin", compiler), [], { cwd: folder });
    assert.equal(code, 0, `${folder}: ${output}`);
  }
  return files.split(" ").map((file) => path.join(folder, file));
}
