import assert from "node:assert/strict";
import { resolve } from "node:path";
import test from "node:test";
import { SlowestFiles } from "./slowest-files.js";

const folder = resolve("dist", "test");
const file = (name: string) => resolve(folder, `${name}.test.js`);
const completion = (name: string, seconds: number, nesting = 0) => ({
  name,
  nesting,
  details: { duration_ms: seconds * 1000 },
});

test("the slowest files are listed first, by their place in the folder of the tests", () => {
  const slowest = new SlowestFiles(folder, [file("cli/quick"), file("crash/slow"), file("deploy/slower")]);

  slowest.completed(completion(file("cli/quick"), 0.5));
  slowest.completed(completion(file("deploy/slower"), 81.26));
  slowest.completed(completion(file("crash/slow"), 9));

  assert.deepEqual(slowest.lines(2), ["81.3 s deploy/slower", "9.0 s crash/slow"]);
});

test("a test in a file is not a file, whatever its name is", () => {
  const slowest = new SlowestFiles(folder, [file("cli/quick")]);

  slowest.completed(completion("a test", 5));
  slowest.completed(completion(file("cli/quick"), 5, 1));
  slowest.completed(completion(file("not/asked-for"), 5));

  assert.deepEqual(slowest.lines(10), []);
});
