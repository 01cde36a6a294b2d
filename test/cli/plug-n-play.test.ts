import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { loggingAgent } from "../support/logging-agent.js";
import { main } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

test("an agent under Yarn Plug'n'Play ends with the remedy", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  await writeFile(file, loggingAgent);
  // As the loader of Yarn says that it is there.
  const loader = path.join(folder, "pnp.cjs");
  await writeFile(loader, `Object.defineProperty(process.versions, "pnp", { value: "3", enumerable: true });`);
  const flags = ["--config", file, "--data-dir", path.join(folder, "data"), "--management-port", "0"];

  const { code, stderr } = await promisify(execFile)(process.execPath, ["--require", loader, main, "run", ...flags], {
    timeout: 60_000,
  }).then(
    () => ({ code: 0, stderr: "" }),
    (error) => error,
  );

  assert.equal(code, 1);
  assert.match(stderr, /^error: Yarn Plug'n'Play .*nodeLinker: node-modules/m);
});
