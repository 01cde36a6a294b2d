import assert from "node:assert/strict";
import { test } from "node:test";
import { getHeapSpaceStatistics } from "node:v8";
import { FewEntries } from "../../core/pipeline/few-entries.js";
import { collectGarbage } from "../support/heap-used.js";

const ROUNDS = 200;

test("entries come in the order in which they were set, and the last value of a key counts", () => {
  const entries = new FewEntries<string, number>();
  entries.set("a", 1);
  entries.set("b", 2);
  entries.set("a", 3);
  entries.set("c", 4);
  entries.delete("b");
  entries.delete("b");

  assert.deepEqual([entries.size, entries.keys, entries.values], [2, ["a", "c"], [3, 4]]);
});

test("entries that come and go leave no tables in the old generation, which would keep what they held", () => {
  // The first time code is compiled.
  comeAndGo(new FewEntries());
  collectGarbage();
  const before = oldBytes();

  comeAndGo(new FewEntries());

  const bytes = oldBytes() - before;
  assert.ok(bytes < ROUNDS * 20, `${bytes} bytes; a Map leaves 70 or more in each of ${ROUNDS} rounds`);
});

/** In each round one entry goes, another one comes, and the young generation is collected. */
function comeAndGo(entries: FewEntries<object, number>): void {
  let last: object | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    const key = { list: Array.from({ length: 200 }, (_, at) => ({ at, round })) };
    if (last !== undefined) entries.delete(last);
    entries.set(key, round);
    last = key;
    collectGarbage({ type: "minor" });
  }
}

/** Bytes that are used in the old generation. */
function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space")?.space_used_size ?? 0;
}
