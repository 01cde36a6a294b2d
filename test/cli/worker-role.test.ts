import assert from "node:assert/strict";
import { test } from "node:test";
import { roleVariable, takeRole } from "../../core/cli/workers/role.js";

const role = { number: 2, of: 3, receives: true, dataDir: "data/workers/2", socket: "/tmp/deneb/2" };

test("a process that its supervisor started takes its role out of its environment", () => {
  const env: NodeJS.ProcessEnv = { ...roleVariable(role), OTHER: "stays" };

  assert.deepEqual(takeRole(env, true), role);
  assert.deepEqual(env, { OTHER: "stays" });
});

for (const text of ["no JSON", "[]", "null", JSON.stringify({ ...role, number: "2" })]) {
  test(`${text} is no role`, () => {
    assert.equal(takeRole({ DENEB_WORKER: text }, true), undefined);
  });
}

test("without a way to a supervisor there is no role", () => {
  assert.equal(takeRole({ ...roleVariable(role) }, false), undefined);
});
