import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../until.js";
import { HangingFiles } from "./hanging-files.js";

test("a file that does not end in its time is asked about once, one that ends is not", async () => {
  const asked: string[] = [];
  const hanging = new HangingFiles(["/tests/ends.js", "/tests/hangs.js", "/tests/waits.js"], {
    afterMillis: 0,
    signs: async (file) => {
      asked.push(file);
      return ["a process"];
    },
  });

  hanging.started({ name: "/tests/ends.js", nesting: 0 });
  hanging.started({ name: "/tests/hangs.js", nesting: 0 });
  hanging.started({ name: "a test", nesting: 1 });
  hanging.completed({ name: "/tests/ends.js", nesting: 0 });
  const lines = await until(
    async () => hanging.lines(),
    (all) => all.length > 0,
  );
  hanging.completed({ name: "/tests/hangs.js", nesting: 0 });

  assert.deepEqual(lines, ["/tests/hangs.js", "    a process"]);
  assert.deepEqual(asked, ["/tests/hangs.js"]);
});
