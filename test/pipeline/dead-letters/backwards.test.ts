import assert from "node:assert/strict";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { linesBackwards } from "../../../core/pipeline/dead-letters/backwards.js";
import { tempFolder } from "../../support/temp-folder.js";

const long = "x".repeat(300_000);

const cases = [
  { what: "no bytes", text: "", lines: [] },
  { what: "no line feed", text: "torn", lines: [] },
  { what: "one line", text: "a\n", lines: ["a"] },
  { what: "several lines", text: "a\nbc\n\nd\n", lines: ["d", "", "bc", "a"] },
  { what: "a torn last line", text: "a\nb\nto", lines: ["b", "a"] },
  { what: "lines longer than one read", text: `a\n${long}\nb\n${long}${long}\n`, lines: [long + long, "b", long, "a"] },
  { what: "a line that is too long", text: `a\n${long}${long}${long}\nb\n`, lines: ["b", undefined, "a"] },
];

for (const { what, text, lines } of cases)
  test(`lines of a file with ${what} come from the last to the first, with their places`, async (context) => {
    const file = join(await tempFolder(context), "lines");
    await writeFile(file, text);
    const handle = await open(file);
    context.after(() => handle.close());

    const read: { readonly start: number; readonly text: Buffer | undefined }[] = [];
    for await (const some of linesBackwards(handle, Buffer.byteLength(text), 700_000)) read.push(...some);

    assert.deepEqual(
      read.map((line) => line.text?.toString()),
      lines,
    );
    for (const line of read) if (line.text !== undefined) assert.ok(text.startsWith(`${line.text}\n`, line.start));
  });
