import assert from "node:assert/strict";
import { test } from "node:test";
import { abortable } from "../../core/sql/index.js";

for (const { when, before, during, calls } of [
  { when: "before the work", before: true, during: false, calls: 1 },
  { when: "during the work", before: false, during: true, calls: 1 },
  { when: "after the work", before: false, during: false, calls: 0 },
])
  test(`a signal that is aborted ${when} calls abort ${calls} times`, async () => {
    const controller = new AbortController();
    let called = 0;
    if (before) controller.abort();

    const result = await abortable(
      controller.signal,
      () => {
        called += 1;
      },
      async () => {
        if (during) controller.abort();
        return "done";
      },
    );
    controller.abort();

    assert.deepEqual([result, called], ["done", calls]);
  });

test("work that fails leaves no listener", async () => {
  const controller = new AbortController();
  const aborted: string[] = [];
  const work = abortable(
    controller.signal,
    () => aborted.push("late"),
    async () => {
      throw new Error("no");
    },
  );

  await assert.rejects(work, /no/);
  controller.abort();

  assert.deepEqual(aborted, []);
});
