import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { COMPILED_FOLDER, codeToKeep, type LoadedScript, loadBundle } from "../../core/entry/load-bundle.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const ran: unknown[] = [];
// Where the scripts of these tests say what they are.
Object.assign(globalThis, { denebTestRan: ran });

const script = (text: string) => `(function (exports, require, module, __bundle) {${text}\n})`;

/** A bundle whose program says this letter, beside what V8 compiled of it. */
async function keptBundle(context: TestContext, letter: string): Promise<{ folder: string; kept: string }> {
  const folder = path.join(await tempFolder(context), "a b#c%20");
  await writeFiles(folder, { "process.js": script(`denebTestRan.push(${JSON.stringify(letter)});`) });
  const kept = path.join(folder, COMPILED_FOLDER, "process.js");
  await mkdir(path.dirname(kept));
  await writeFile(kept, codeToKeep(loadedBy(folder)));
  return { folder, kept };
}

function loadedBy(folder: string): LoadedScript {
  const loaded: LoadedScript[] = [];
  loadBundle(folder, (_name, script) => loaded.push(script));
  const [script] = loaded;
  assert.ok(script !== undefined);
  return script;
}

test("a bundle runs what was compiled of it before", async (context) => {
  const { folder } = await keptBundle(context, "a");
  ran.length = 0;

  const { script: again } = loadedBy(folder);

  assert.deepEqual([again.cachedDataRejected, ran], [false, ["a"]]);
});

test("a file of the same length with another text is compiled anew, and its own text runs", async (context) => {
  const { folder } = await keptBundle(context, "a");
  await writeFile(
    path.join(folder, "process.js"),
    (await readFile(path.join(folder, "process.js"), "utf8")).replace('"a"', '"b"'),
  );
  ran.length = 0;

  const { script: again } = loadedBy(folder);

  assert.deepEqual([again.cachedDataRejected, ran], [undefined, ["b"]]);
});

for (const { says, damage } of [
  { says: "cut off", damage: (code: Buffer) => code.subarray(0, code.length - 40) },
  { says: "empty", damage: (code: Buffer) => code.subarray(0, 0) },
  {
    says: "with a wrong bit",
    damage: (code: Buffer) => {
      const wrong = Buffer.from(code);
      wrong[wrong.length >> 1] = (wrong[wrong.length >> 1] ?? 0) ^ 1;
      return wrong;
    },
  },
  { says: "of zeros", damage: (code: Buffer) => Buffer.alloc(code.length) },
])
  test(`compiled code that is ${says} is not used, and the text runs`, async (context) => {
    const { folder, kept } = await keptBundle(context, "a");
    await writeFile(kept, damage(await readFile(kept)));
    ran.length = 0;

    const { script: again } = loadedBy(folder);

    assert.deepEqual([again.cachedDataRejected, ran], [undefined, ["a"]]);
  });

test("a file of a bundle that throws does so each time that it is loaded", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, {
    "process.js": script(`
      for (const time of [1, 2])
        try {
          denebTestRan.push(require("./failing.js"));
        } catch (error) {
          denebTestRan.push(error.message + time);
        }`),
    "failing.js": script('exports.part = 1; throw new Error("no luck ");'),
  });
  ran.length = 0;

  loadBundle(folder);

  assert.deepEqual(ran, ["no luck 1", "no luck 2"]);
});

test("a file of a bundle knows its URL, imports and resolves as a module, requires others once, and finds packages", async (context) => {
  const folder = path.join(await tempFolder(context), "a b#c%20");
  await writeFiles(folder, {
    "process.js": script(`
      const one = require("./one.js");
      denebTestRan.push(one === require("./one.js"), one.name, __bundle.url, __bundle.resolve("./x.js"));
      denebTestRan.push(require("node:path").sep, __bundle.import("../beside.mjs"));`),
    "one.js": script('exports.name = "one"; denebTestRan.push("one runs");'),
    "../beside.mjs": "export default 7;\n",
  });
  ran.length = 0;

  const files: string[] = [];
  loadBundle(folder, (name) => files.push(name));

  const url = (name: string) => pathToFileURL(path.join(folder, name)).href;
  const [beside] = ran.splice(-1);
  assert.deepEqual(ran, ["one runs", true, "one", url("process.js"), url("x.js"), path.sep]);
  assert.equal((await (beside as Promise<{ default: number }>)).default, 7);
  assert.deepEqual(files, ["process.js", "one.js"]);
});
