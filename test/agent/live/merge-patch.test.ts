import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonObject, mergePatch } from "../../../core/agent/live/merge-patch.js";

const cases: readonly {
  readonly what: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly patch: JsonObject | undefined;
}[] = [
  { what: "nothing differs", before: { a: 1, b: { c: [1] } }, after: { a: 1, b: { c: [1] } }, patch: undefined },
  { what: "a member differs", before: { a: 1, b: 2 }, after: { a: 1, b: 3 }, patch: { b: 3 } },
  { what: "a member came", before: {}, after: { a: { b: 1 } }, patch: { a: { b: 1 } } },
  { what: "a member is gone", before: { a: 1, b: 2 }, after: { a: 1 }, patch: { b: null } },
  { what: "a member is undefined", before: { a: 1 }, after: { a: undefined }, patch: { a: null } },
  { what: "it was and is undefined", before: { a: undefined }, after: { a: undefined }, patch: undefined },
  { what: "one below differs", before: { a: { b: 1, c: 2 } }, after: { a: { b: 1, c: 3 } }, patch: { a: { c: 3 } } },
  { what: "a list differs", before: { a: [1, 2] }, after: { a: [1, 3] }, patch: { a: [1, 3] } },
  { what: "an object became a text", before: { a: { b: 1 } }, after: { a: "x" }, patch: { a: "x" } },
  { what: "a text became an object", before: { a: "x" }, after: { a: { b: 1 } }, patch: { a: { b: 1 } } },
];

for (const { what, before, after, patch } of cases)
  test(`a patch when ${what}`, () => {
    assert.deepEqual(mergePatch(before, after), patch);
  });
