import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { exampleFolder, install, ran } from "../support/example-package.js";
import { writeFiles } from "../support/written-files.js";

// Not in package.json: two packages with a program tsc would share one name in node_modules/.bin.
const typescript = process.env["DENEB_TEST_TYPESCRIPT"];
const skip = typescript === undefined ? "needs DENEB_TEST_TYPESCRIPT, the folder of a package typescript" : false;

const strict = {
  target: "es2023",
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  noEmit: true,
};

for (const resolution of [
  { module: "node16", moduleResolution: "node16" },
  { module: "esnext", moduleResolution: "bundler" },
])
  test(`plugins over deneb/sql and deneb/log compile with an older TypeScript, ${resolution.moduleResolution}`, {
    skip,
  }, async (context) => {
    const folder = await mkdtemp(path.join(tmpdir(), "deneb-older-typescript-"));
    context.after(() => rm(folder, { recursive: true, force: true }));
    for (const name of ["one-file", "directory-log", "event-lines", "folder-channel"])
      await cp(exampleFolder(name), path.join(folder, name), { recursive: true });
    await writeFiles(folder, {
      "package.json": '{ "type": "module" }',
      "tsconfig.json": JSON.stringify({ compilerOptions: { ...strict, ...resolution }, include: ["*/*.ts"] }),
    });
    await install(folder, "libsql");

    const tsc = path.join(typescript ?? "", "bin/tsc");
    const { code, output } = await ran(process.execPath, [tsc, "--pretty", "false"], { cwd: folder });

    assert.deepEqual([code, output], [0, ""]);
  });
