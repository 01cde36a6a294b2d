import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { decode } from "../../../core/ngsi/decode/decode.js";

/** Decodes the text in a thread with this number of mebibytes of old generation, which ends where that is not enough. */
async function decodedWithin(mebibytes: number, text: string): Promise<unknown> {
  const resourceLimits = { maxOldGenerationSizeMb: mebibytes };
  const worker = new Worker(new URL("./parse-worker.js", import.meta.url), { workerData: text, resourceLimits });
  const [entities] = await once(worker, "message");
  await worker.terminate();
  return entities;
}

const v2 = (value: string) => `{"data":[{"id":"e","type":"T","a":{"type":"N","value":${value}}}]}`;
const listOf = (count: number, element: string) => `[${`${element},`.repeat(count)}${element}]`;

for (const { what, value } of [
  { what: "numbers whose digits are kept", value: listOf(200_000, "1.0") },
  { what: "escapes, one of them half a pair", value: `"\\ud800${"\\n".repeat(1_000_000)}"` },
])
  test(`a notification with hundreds of thousands of ${what} is decoded in a heap of 48 MiB`, async () => {
    assert.equal(await decodedWithin(48, v2(value)), 1);
  });

const unlimited = {
  max_name_length: Number.POSITIVE_INFINITY,
  max_attributes: Number.POSITIVE_INFINITY,
  max_entities: Number.POSITIVE_INFINITY,
  max_depth: 512,
  max_number_length: Number.POSITIVE_INFINITY,
};
const MEBIBYTE = 1_048_576;
const expensive = [
  { what: "attributes", text: v2(`{${Array.from({ length: 30_000 }, (_, at) => `"a${at}":1`).join(",")}}`) },
  { what: "empty objects", text: v2(listOf(100_000, "{}")) },
  { what: "numbers whose digits are kept", text: v2(listOf(40_000, "1.0")) },
  { what: "broken brackets", text: listOf(100_000, "{}").slice(1) },
];
for (const { what, text } of expensive)
  test(`a notification of many ${what} is refused as too large where the heap has no room for them`, () => {
    const refused = {
      code: "CONTENT_TOO_LARGE",
      retryable: false,
      message: /it may take \d+ MiB of heap, of which there are 4 /,
    };

    assert.throws(() => decode("auto", text, {}, { ...unlimited, heap: 4 * MEBIBYTE }), refused);
  });

test("what strings hold does not count as values", () => {
  const text = v2(`"${'{\\",:['.repeat(50_000)}"`);

  assert.equal(decode("auto", text, {}, { ...unlimited, heap: 4 * MEBIBYTE }).entities.length, 1);
});

test("a short notification is read whatever the heap has room for", () => {
  assert.equal(decode("auto", v2(listOf(10_000, "1.0")), {}, { ...unlimited, heap: 1 }).entities.length, 1);
});
