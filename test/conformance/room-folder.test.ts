import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const fixture = new URL("../../core/testing/component-fixture.js", import.meta.url).href;

const endings = {
  "of a case that never ends":
    "await inRoom(async ({ folder }) => { console.log(folder); setImmediate(() => process.exit()); await new Promise(() => {}); });",
  "into which a component writes after its case":
    "let kept; await inRoom(async ({ folder }) => { kept = folder; console.log(folder); }); mkdirSync(kept);",
};

for (const [which, script] of Object.entries(endings))
  test(`the folder ${which} is removed when the process ends`, async () => {
    const text = `import { mkdirSync } from "node:fs"; import { inRoom } from "${fixture}"; ${script}`;

    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", text]);

    assert.match(stdout, /deneb-conformance-/);
    assert.ok(!existsSync(stdout.trim()));
  });
