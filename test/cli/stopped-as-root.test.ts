import assert from "node:assert/strict";
import { chown, readdir } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { repositoryRoot } from "../support/repository.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const skip = process.geteuid?.() === 0 ? false : "only root can give a folder to another user";
const config = path.join(repositoryRoot, "config", "quickstart.properties");
const anotherUser = 12_345;

const cases = [["verify"], ["erase", "--entity", "urn:room:1"], ["erase", "--entity", "urn:room:1", "--yes"]] as const;

for (const words of cases)
  test(`root writes nothing of ${words.join(" ")} into the data directory of another user, whose agent could not read it`, {
    skip,
  }, async (t) => {
    const dataDir = await tempFolder(t);
    await chown(dataDir, anotherUser, anotherUser);

    const { code, stderr } = await runCli([
      ...words,
      ...["--config", config, "--data-dir", dataDir, "--management-port", "1"],
    ]);

    assert.notEqual(code, 0);
    assert.match(stderr, /belongs to user 12345, .*; run the command as that user, for example by runuser/);
    assert.deepEqual(await readdir(dataDir), []);
  });
