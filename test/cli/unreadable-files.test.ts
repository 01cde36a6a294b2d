import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { main, runProgram } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const properties = httpAgent({ channel: "file", sink: "logger" });

/** A data folder, and the arguments of a start in it. */
async function scene(context: TestContext) {
  const folder = await tempFolder(context);
  const config = path.join(folder, "agent.properties");
  await writeFile(config, properties);
  const data = path.join(folder, "data");
  return { data, args: [main, "run", "--config", config, "--data-dir", data, "--management-port", "0"] };
}

const kinds = { folder: (file: string) => mkdir(file), pipe: async (file: string) => makePipe(file) };

function makePipe(file: string): void {
  execFileSync("mkfifo", [file]);
}

for (const name of [
  "in-hand",
  "erasures.json",
  "dead-letters/k.ndjson",
  "channels/c/checkpoint/checkpoint",
  "deneb.lock",
])
  for (const [kind, make] of Object.entries(kinds))
    test(`a start that finds a ${kind} in place of ${name} names it`, async (context) => {
      const { data, args } = await scene(context);
      const unreadable = path.join(data, name);
      await mkdir(path.dirname(unreadable), { recursive: true });
      await make(unreadable);

      const { code, stdout, stderr } = await runProgram(process.execPath, args);

      assert.equal(code, 1, `${stdout}${stderr}`);
      assert.ok(`${stdout}${stderr}`.includes(unreadable), `${stdout}${stderr}`);
    });

test("a pipe in place of the ledger, of its draft or of the note beside the lock does not hold up a start", async (context) => {
  const folder = await tempFolder(context);
  const data = path.join(folder, "data");
  await mkdir(data);
  for (const name of ["ledger.json", "ledger.json.new", "deneb.lock.txt"]) makePipe(path.join(data, name));

  const agent = await startAgent(context, { properties, folder });

  const said = agent.lines.filter(({ component }) => component === "ledger").map(({ msg }) => msg);
  assert.ok(said.includes("ledger cannot be read and starts again"), said.join());
});

test("a start that may make no file of the size of a checkpoint names it, and the limit", async (context) => {
  const { data, args } = await scene(context);

  const { code, stdout } = await runProgram("sh", ["-c", 'ulimit -f 16; exec "$@"', "sh", process.execPath, ...args]);

  assert.equal(code, 1, stdout);
  assert.ok(stdout.includes(path.join(data, "channels/c/checkpoint/checkpoint")), stdout);
  assert.match(stdout, /ulimit -f/);
});
