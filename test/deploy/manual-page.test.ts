import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { exitCodes } from "../../core/cli/command.js";
import { repositoryRoot } from "../support/repository.js";

test("the manual page of the Debian package lists every exit code", async () => {
  const text = await readFile(path.join(repositoryRoot, "deploy", "debian", "deneb.1"), "utf8");

  const listed = [...text.matchAll(/^\.TP\n(\d+)$/gm)].map(([, code]) => Number(code));

  assert.deepEqual(listed, Object.values(exitCodes));
});
