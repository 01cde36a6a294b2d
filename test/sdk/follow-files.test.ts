import assert from "node:assert/strict";
import { test } from "node:test";
import { followFiles } from "../../core/sdk/index.js";
import { until } from "../support/until.js";

test("what was replaced is used once, and again at the next look where it could not be used", async (context) => {
  const used: string[] = [];
  const looks: (string | undefined)[] = [];
  let content = "first";
  const end = followFiles(
    {
      read: async () => content,
      first: "first",
      use: (text) => {
        used.push(text);
        if (used.length === 1) throw new Error("does not fit");
      },
      looked: (error) => looks.push(error instanceof Error ? error.message : undefined),
    },
    1,
  );
  context.after(end);
  const looked = async (times: number) => {
    const before = looks.length;
    await until(
      async () => looks.length,
      (count) => count >= before + times,
    );
  };

  await looked(3);
  assert.deepEqual(used, [], "nothing was replaced");
  content = "second";
  await looked(5);

  assert.deepEqual(used, ["second", "second"]);
  assert.deepEqual(new Set(looks), new Set([undefined, "does not fit"]));
  assert.equal(looks.filter((reason) => reason !== undefined).length, 1);
});

test("files that cannot be read change nothing, and nobody hears of a look behind the end", async () => {
  const looks: unknown[] = [];
  const used: string[] = [];
  let fail: ((error: Error) => void) | undefined;
  const end = followFiles(
    {
      read: () =>
        new Promise<string>((_resolve, reject) => {
          fail = reject;
        }),
      first: "first",
      use: (text) => void used.push(text),
      looked: (error) => void looks.push(error),
    },
    1,
  );
  const failing = await until(async () => fail, Boolean);

  end();
  failing?.(new Error("gone"));
  await new Promise((resolve) => setImmediate(resolve));

  assert.deepEqual([used, looks], [[], []]);
});
