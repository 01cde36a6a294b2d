import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const limit = new URL("../../core/entry/young-generation.js", import.meta.url).href;

/** Mebibytes that a half of the young generation has room for; V8 gives pages of it back and takes them again. */
const size = `const size = () => {
  const young = v8.getHeapSpaceStatistics().find((one) => one.space_name === "new_space");
  return Math.ceil((young.space_used_size + young.space_available_size) / 2 ** 20);
};`;

/** Mebibytes of half of the young generation of a process, after the limit and after much that survived. */
async function sizes(mebibytes: number, ...options: readonly string[]): Promise<readonly number[]> {
  const script = `
    import v8 from "node:v8";
    import { limitYoungGeneration } from "${limit}";
    ${size}
    limitYoungGeneration(${mebibytes});
    const limited = size();
    const kept = [];
    for (let made = 0; made < 3_000_000; made += 1) kept[made % 60_000] = { made, list: [made] };
    console.log(JSON.stringify([limited, size()]));`;
  const { stdout } = await run(process.execPath, [...options, "--input-type=module", "-e", script]);
  return JSON.parse(stdout);
}

test("the young generation has the size of its limit at once, and keeps it whatever survives", async () => {
  assert.deepEqual(await sizes(12), [12, 12]);
  assert.deepEqual(await sizes(4), [4, 4]);
});

test("a young generation that has grown before does not grow beyond its limit", async () => {
  assert.deepEqual(await sizes(8, "--min-semi-space-size=2"), [8, 8]);
  assert.deepEqual(await sizes(8, "--min-semi-space-size=4"), [8, 8]);
});

test("an option of Node for a smaller young generation counts", async () => {
  assert.deepEqual(await sizes(8, "--max-semi-space-size=2"), [2, 2]);
});

test("an option of Node for a larger young generation counts", async () => {
  const [, after = 0] = await sizes(8, "--min-semi-space-size=16");
  assert.equal(after, 16);
});

/** Mebibytes after much that survived in one turn, and after turns in which collections follow each other closely. */
async function sizesUnder(load: "one turn" | "many turns", beginning = ""): Promise<number> {
  const script = `
    import { once } from "node:events";
    import v8 from "node:v8";
    import { Worker } from "node:worker_threads";
    import { growYoungGenerationWhenBusy } from "${limit}";
    ${size}
    const kept = [];
    const allocate = (objects) => {
      for (let made = 0; made < objects; made += 1) kept[made % 60_000] = { made, list: [made] };
    };
    growYoungGenerationWhenBusy(8);
    ${beginning}
    if (${load === "one turn"}) allocate(3_000_000);
    const end = performance.now() + 30_000;
    while (${load === "many turns"} && size() < 8 && performance.now() < end) {
      allocate(10_000);
      await new Promise(setImmediate);
    }
    console.log(size());
    process.exit();`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script]);
  return Number(stdout);
}

test("the young generation stays at its first size while a process starts, and has that of its limit when it is busy", async () => {
  assert.equal(await sizesUnder("one turn"), 1);
  assert.equal(await sizesUnder("many turns"), 8);
});

test("the young generation stays at its first size although a thread has begun", async () => {
  const beginning = 'await once(new Worker("setInterval(() => {}, 1000)", { eval: true }), "online");';

  assert.equal(await sizesUnder("one turn", beginning), 1);
});
