import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const limit = new URL("../../core/cli/young-generation.js", import.meta.url).href;

/** Mebibytes of both halves of the young generation of a process, after the limit and after much that survived. */
async function sizes(mebibytes: number, ...options: readonly string[]): Promise<readonly number[]> {
  const script = `
    import v8 from "node:v8";
    import { limitYoungGeneration } from "${limit}";
    const size = () => v8.getHeapSpaceStatistics().find((one) => one.space_name === "new_space").space_size / 2 ** 20;
    limitYoungGeneration(${mebibytes});
    const limited = size();
    const kept = [];
    for (let made = 0; made < 3_000_000; made += 1) kept[made % 60_000] = { made, list: [made] };
    console.log(JSON.stringify([limited, size()]));`;
  const { stdout } = await run(process.execPath, [...options, "--input-type=module", "-e", script]);
  return JSON.parse(stdout);
}

test("the young generation has the size of its limit at once, and keeps it whatever survives", async () => {
  assert.deepEqual(await sizes(8), [16, 16]);
  assert.deepEqual(await sizes(4), [8, 8]);
});

test("an option of Node for a smaller young generation counts", async () => {
  assert.deepEqual(await sizes(8, "--max-semi-space-size=2"), [4, 4]);
});

test("an option of Node for a larger young generation counts", async () => {
  const [, after = 0] = await sizes(8, "--min-semi-space-size=16");
  assert.equal(after, 32);
});
