import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { httpAgent } from "../support/http-agent.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const properties = httpAgent({ channel: "file", sink: "logger" });

for (const name of ["in-hand", "erasures.json", "dead-letters/k.ndjson", "channels/c/checkpoint/checkpoint"])
  test(`a start that cannot read ${name} names it`, async (context) => {
    const folder = await tempFolder(context);
    const config = path.join(folder, "agent.properties");
    await writeFile(config, properties);
    // A folder is read like a file whose disk fails: the system names neither.
    const unreadable = path.join(folder, "data", name);
    await mkdir(unreadable, { recursive: true });

    const { code, stdout, stderr } = await runCli([
      "run",
      ...["--config", config, "--data-dir", path.join(folder, "data"), "--management-port", "0"],
    ]);

    assert.equal(code, 1, `${stdout}${stderr}`);
    assert.ok(stdout.includes(unreadable), `${stdout}${stderr}`);
  });
