import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { until } from "./until.js";

const module = new URL("./ends-with-process.js", import.meta.url).href;

/** Starts a process that would run for a minute, writes its id, and goes on with these lines of code. */
async function idStartedBefore(more: string): Promise<number> {
  const code = `
    import { spawn } from "node:child_process";
    import { test } from "node:test";
    import { endingWithProcess } from ${JSON.stringify(module)};
    const child = endingWithProcess(spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "ignore" }));
    console.log(child.pid);
    test("has a server", () => {});
    ${more}`;
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, ["--input-type=module", "-e", code], { timeout: 120_000 }, (_, stdout) =>
      resolve(stdout),
    );
  });
  return Number(output.match(/^\d+$/m)?.[0]);
}

function isGone(id: number): boolean {
  try {
    process.kill(id, 0);
    return false;
  } catch {
    return true;
  }
}

for (const [what, code] of [
  ["fails while it loads", 'throw new Error("no module");'],
  ["ends by itself", "process.exit(3);"],
  ["is ended by its run", 'process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 60_000);'],
] as const)
  test(`a server of a test ends when its test file ${what}`, async () => {
    const id = await idStartedBefore(code);
    assert.ok(id > 0);
    await until(
      async () => isGone(id),
      (gone) => gone,
    );
  });
