import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { repositoryRoot } from "../support/repository.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

/** What Node does when npm left out the optional packages. */
const notInstalled = `
const Module = require("node:module");
const load = Module._load;
Module._load = (id, ...others) => {
  if (id.startsWith("@libsql/")) throw new Error("Cannot find module '" + id + "'");
  return load(id, ...others);
};
`;

test("an installation without the native part of libsql says what is missing and how to install it", async (t) => {
  const folder = await tempFolder(t);
  const preloaded = path.join(folder, "not-installed.cjs");
  await writeFile(preloaded, notInstalled);
  const config = path.join(repositoryRoot, "config", "quickstart.properties");
  const words = ["run", "--config", config, "--data-dir", path.join(folder, "data"), "--management-port", "0"];

  const { code, stderr } = await runCli(words, { NODE_OPTIONS: `--require "${preloaded}"` });

  assert.equal(code, 1);
  assert.match(
    stderr,
    /libsql cannot be loaded \(.*install on this system, without --omit=optional\): Cannot find module/,
  );
});
