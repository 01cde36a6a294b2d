import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { tempFolder } from "../support/temp-folder.js";

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

test("folders of processes that were ended by a signal are removed an hour later, and no others", async (context) => {
  const temporary = await tempFolder(context);
  const ended = 2 ** 30;
  const names = [
    `deneb-conformance-${ended}-old`,
    `deneb-conformance-${ended}-new`,
    `deneb-conformance-${process.pid}-old`,
    `other-${ended}-old`,
  ];
  const hoursAgo = new Date(Date.now() - 7_200_000);
  for (const name of names) {
    await mkdir(join(temporary, name, "case"), { recursive: true });
    if (name.endsWith("old")) await utimes(join(temporary, name), hoursAgo, hoursAgo);
  }
  const text = `import { inRoom } from "${fixture}"; await inRoom(async () => {});`;

  await run(process.execPath, ["--input-type=module", "-e", text], { env: { ...process.env, TMPDIR: temporary } });

  assert.deepEqual((await readdir(temporary)).sort(), names.slice(1).sort());
});
