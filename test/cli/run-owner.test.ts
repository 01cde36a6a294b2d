import assert from "node:assert/strict";
import { chown, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const skip = process.geteuid?.() === 0 ? false : "needs root";
const OTHER = 12_345;
const warning =
  /warning: data directory ".*" belongs to user 12345, whose agent could not read what root writes there; run/;

const owners = [
  { who: "another user", owner: OTHER, warned: true },
  { who: "root", owner: 0, warned: false },
];

for (const { who, owner, warned } of owners)
  test(`root that runs an agent in a data directory of ${who} is ${warned ? "" : "not "}warned`, {
    skip,
  }, async (context) => {
    const folder = await tempFolder(context);
    const file = path.join(folder, "agent.properties");
    // It does not start, because the file names no source.
    await writeFile(file, "");
    await chown(folder, owner, owner);

    const { stderr } = await runCli(["run", "--config", file, "--data-dir", folder]);

    assert.equal(warning.test(stderr), warned, stderr);
  });
