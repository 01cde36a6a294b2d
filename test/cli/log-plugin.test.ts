import assert from "node:assert/strict";
import { after, test } from "node:test";
import { builtExample } from "../support/example-package.js";
import { runHere } from "../support/run-cli.js";

const built = await builtExample("directory-log");
after(built.remove);

test("a log engine of a stranger is one folder, and its channel passes the conformance suites", async () => {
  const { code, stdout } = await runHere(["plugin", "test", built.folder]);

  assert.equal(code, 0, stdout);
  assert.match(stdout, /^channel directory-log: \d{2,} passed, 0 failed$/m);
  for (const part of [
    "after a crash",
    "what two agents put they take together",
    "another number of partitions",
    "trimmed to its end",
  ])
    assert.match(stdout, new RegExp(`^ok .*(${part})`, "m"));
});
